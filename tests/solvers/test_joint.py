"""What slack costs where the user did not say."""

from types import SimpleNamespace

import numpy as np
import pytest

from dsofs.solvers import solve
from dsofs.solvers.joint import RAISED, auto_C, costs, default_C, entry_C, solve_with_features
from tests.problems import random_problem


def recording(features_from):
    """A solver that finds a feature from this C on, and the C and start of its calls."""
    calls = []

    def solver(problem, **start):
        calls.append((problem.C[0, 0], start))
        W = np.zeros((problem.X.n_columns, problem.Y.shape[1]))
        W[0] = problem.C[0, 0] >= features_from
        return SimpleNamespace(W=W)

    return solver, calls


@pytest.mark.parametrize(("features_from", "found", "n_calls"), [(0.0, 1.0, 1), (50.0, 100.0, 3), (1e9, 1.0, 5)])
def test_the_cost_is_raised_until_there_are_features(features_from, found, n_calls):
    problem = random_problem(0)
    solver, calls = recording(features_from)
    soft, _ = solve_with_features(problem, np.ones_like(problem.Y), solver, weights="given")
    assert soft.C[0, 0] == found
    assert [C for C, _ in calls] == list(RAISED[:n_calls])
    assert [start for _, start in calls] == [{"weights": "given"}] + [{}] * (n_calls - 1)


def test_without_a_solution_it_ends():
    problem = random_problem(0)
    assert solve_with_features(problem, np.ones_like(problem.Y), lambda soft: None)[1] is None


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(3))
def test_weights_leave_zero_at_the_cost_of_entry(seed):
    problem = random_problem(seed, 30, 60, 2, loss="hinge")
    below, above = (solve(problem.with_C(costs(problem, part * entry_C(problem)))) for part in (0.9, 1.1))
    assert not below.W.any()
    assert above.W.any()


def test_costs_are_by_importance_and_infinite_where_margins_are_hard():
    problem = random_problem(0, 30, 60, 3, importance=np.arange(1.0, 31))
    C = default_C(problem, np.array([True, False, True]))
    assert np.isinf(C[:, 1]).all()
    np.testing.assert_allclose(C[:, 0] / C[0, 0], problem.importance)
    assert auto_C(problem, entry_C(problem))[0, 0] == pytest.approx(3 * 3**0.5 * C[0, 0])
