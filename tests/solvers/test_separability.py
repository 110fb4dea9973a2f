"""Whether classes can be separated, against linear programming, and the proof that they cannot."""

import numpy as np
import pytest

from dsofs.design import Block
from dsofs.problem import Problem, Status
from dsofs.solvers import solve
from dsofs.solvers.separability import conflict_proof, find_conflicts
from tests.problems import random_problem, standardised
from tests.reference.oracles import separable


def random_labels(seed):
    """m/n near 2, where half of all random labellings can be separated."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(30, 50))
    X = standardised(rng.normal(size=(m, m // 2)))
    return X, rng.choice([-1.0, 1.0], size=m)


@pytest.mark.parametrize("batch", range(11))  # 107 can be separated, 113 cannot
def test_agrees_with_linear_programming_and_proves_it(batch):
    for seed in range(20 * batch, 20 * batch + 20):
        X, y = random_labels(seed)
        problem = Problem(Block(X), y[:, None], 1.0)
        conflict = find_conflicts(problem)[0]
        assert (len(conflict) == 0) == separable(X, y), seed
        if len(conflict):
            a = conflict_proof(problem, y, conflict)
            assert a.min() > 0
            assert a.sum() == pytest.approx(1.0)
            assert np.abs(X[conflict].T @ (y[conflict] * a)).max() <= 1e-8 * np.abs(X).max()


@pytest.mark.parametrize("seed", range(200, 220))
def test_the_proof_is_minimal(seed):
    X, y = random_labels(seed)
    conflict = find_conflicts(Problem(Block(X), y[:, None], 1.0))[0]
    assert len(conflict) <= np.linalg.matrix_rank(X) + 1
    for i in range(0, len(conflict), 5):
        rest = np.delete(conflict, i)
        assert separable(X[rest], y[rest])


def test_about_half_of_these_can_be_separated():
    count = sum(
        len(find_conflicts(Problem(Block(X), y[:, None], 1.0))[0]) == 0 for X, y in map(random_labels, range(40))
    )
    assert 10 <= count <= 30


@pytest.mark.parametrize("seed", range(10))
def test_two_equal_rows_with_opposite_labels_are_the_conflict(seed):
    problem = random_problem(seed, 30, 60, 2)
    X, Y = problem.X.Z.copy(), problem.Y
    first, second = np.flatnonzero(Y[:, 0] > 0)[0], np.flatnonzero(Y[:, 0] < 0)[0]
    X[second] = X[first]
    solution = solve(Problem(Block(X), Y, 1.0))
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
    assert 2 <= len(solution.conflicts) <= 11
    assert np.abs(solution.W).argmax() == 3


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-7, 1e-8, 1e-10])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(20, 60), (30, 10)])
def test_samples_that_are_almost_equal_are_no_proof(shape, seed, distance):
    """Classes far apart, but for one sample next to one of the other class: a narrow margin separates them."""
    rng = np.random.default_rng(seed)
    Z, w = rng.normal(size=shape), rng.normal(size=shape[1])
    y = np.where(Z @ w > 0, 1.0, -1.0)
    Z += np.outer(y, w) / np.linalg.norm(w)
    other = int(np.flatnonzero(y < 0)[0])
    Z[0], y[0] = Z[other] + distance * w / np.linalg.norm(w), 1.0
    problem = Problem(Block(np.column_stack([standardised(Z), np.ones(len(Z))])), y[:, None], 0.5)
    (conflict,) = find_conflicts(problem)
    assert not len(conflict)
    if distance >= 1e-4:
        assert solve(problem).status in (Status.CONVERGED, Status.STALLED)
