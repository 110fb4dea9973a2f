"""Whether classes can be separated, against linear programming."""

import numpy as np
import pytest

from dsofs.arrays import Block
from dsofs.problem import Problem, Status
from dsofs.solvers import solve
from dsofs.solvers.separability import find_conflicts
from tests.problems import random_problem, standardised
from tests.reference.oracles import separable


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_linear_programming(seed):
    """m/n near 2, where half of all random labellings are separable."""
    rng = np.random.default_rng(seed)
    m, n = 40, 20
    X, y = standardised(rng.normal(size=(m, n))), rng.choice([-1.0, 1.0], size=m)
    conflict = find_conflicts(Problem(Block(X), y[:, None], 1.0))[0]
    assert (len(conflict) == 0) == separable(X, y)
    if len(conflict):
        assert not separable(X[conflict], y[conflict])


def test_two_equal_rows_with_opposite_labels_are_the_conflict():
    problem = random_problem(0, 30, 60, 2)
    X, Y = problem.X.Z.copy(), problem.Y
    first, second = np.flatnonzero(Y[:, 0] > 0)[0], np.flatnonzero(Y[:, 0] < 0)[0]
    X[second] = X[first]
    with_conflict = Problem(Block(X), Y, 1.0)
    solution = solve(with_conflict)
    assert sorted(solution.conflicts) == sorted([first, second])
    assert solution.status is Status.CONVERGED_WITH_SLACK
    assert solution.W.any()


@pytest.mark.parametrize("p", [0.3, 1.0, 1.5])
def test_classes_that_cannot_be_separated_still_give_a_ranking(p):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 10))
    y = np.where(X[:, 3] + 0.8 * rng.normal(size=80) > 0, 1.0, -1.0)
    solution = solve(Problem(Block(standardised(X)), y[:, None], p))
    assert solution.status is Status.CONVERGED_WITH_SLACK
    assert len(solution.conflicts) >= 2
    assert np.abs(solution.W).argmax() == 3
