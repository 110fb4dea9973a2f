"""The paper's Algorithm 1."""

import numpy as np
import pytest

from dsofs.design import Block
from dsofs.problem import Problem, Status
from dsofs.solvers import solve
from dsofs.solvers.alternating import AlternatingStep
from dsofs.solvers.inner.equality import EqualityStep
from tests.problems import label_columns, random_problem, standardised


@pytest.mark.parametrize("n", [25, 39, 80])
def test_elimination_spans_the_solutions(n):
    """W1 = N + L E - M U solves X W = Y + E for every U and E."""
    problem = random_problem(0, 20, n, 3)
    step = AlternatingStep(problem)
    rng = np.random.default_rng(0)
    U, E = rng.normal(size=(len(step.last), 3)), rng.normal(size=problem.Y.shape)
    W = step._assemble(step.N + step.L @ E - step.M @ U, U)
    np.testing.assert_allclose(problem.X.Z @ W, problem.Y + E, atol=1e-9)


@pytest.mark.parametrize("n", [25, 80], ids=["Eqn. 12", "Eqns. 13 and 14"])
def test_both_forms_of_the_update_of_U_solve_the_same_problem(n):
    """With E = 0 it is the reweighted equality problem, whose solution is known in closed form."""
    problem = random_problem(1, 20, n, 3)
    step = AlternatingStep(problem)
    d = np.random.default_rng(1).uniform(0.5, 2, n + 1)
    U = step._update_U(d)
    W = step._assemble(step.N - step.M @ U, U)
    np.testing.assert_allclose(W, EqualityStep(problem)(d, None).W, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_update_of_E_against_projected_descent(seed):
    problem = random_problem(seed, 12, 40, 2)
    step = AlternatingStep(problem)
    rng = np.random.default_rng(seed)
    d, U = rng.uniform(0.5, 2, 41), rng.normal(size=(len(step.last), 1))
    H = step.N - step.M @ U
    E = step._update_E(problem, d, H)
    assert (problem.Y * E >= 0).all()

    def gradient(E):
        return step.L.T @ ((step.L @ E + H) / d[step.first, None])

    # At the minimum a small step against the gradient, cut off at the sign constraint, leads back to E.
    moved = E - 1e-4 * gradient(E)
    moved = problem.Y * np.maximum(problem.Y * moved, 0)
    np.testing.assert_allclose(moved, E, atol=1e-9 * (1 + np.abs(E).max()))


def test_every_iterate_keeps_the_margins():
    problem = random_problem(2, 30, 80, 4, p=0.5)
    for max_iter in (1, 2, 5):
        W = solve(problem, "alternating", max_iter=max_iter).W
        assert (problem.Y * (problem.X.Z @ W)).min() >= 1 - 1e-8


def test_it_rests_above_the_optimum_and_says_how_far():
    problem = random_problem(3, 40, 120, 3)
    alternating, joint = solve(problem, "alternating"), solve(problem, tol=1e-6)
    assert alternating.status is Status.STALLED
    excess = 1 - joint.objective / alternating.objective
    assert 0.005 < excess <= alternating.certificate


def test_equality_variant():
    problem = random_problem(4, 20, 50, 3, constraint="equality")
    W = solve(problem, "alternating").W
    np.testing.assert_allclose(problem.X.Z @ W, problem.Y, atol=1e-6)


def test_more_samples_than_features_are_relaxed_and_it_says_so():
    rng = np.random.default_rng(0)
    X = standardised(rng.normal(size=(60, 10)))
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
    solution = solve(Problem(Block(X), label_columns(y), 1.0), "alternating")
    assert solution.status is Status.RELAXED
    assert np.isfinite(solution.W).all()
