"""p = 1 is convex: the joint solver against CVXPY, and its certificate against the truth."""

import numpy as np
import pytest

from dsofs.design import group_norms
from dsofs.solvers import solve
from tests.problems import random_problem, separable_problem
from tests.reference.oracles import convex_optimum

# m, n, c, bias, correlated columns, features per group
MARGIN = [
    (20, 50, 2, True, False, None), (20, 50, 3, False, False, None), (25, 100, 4, True, True, None),
    (30, 300, 5, True, False, None), (30, 60, 2, False, True, None), (40, 2000, 2, True, False, None),
    (40, 80, 10, True, False, None), (50, 150, 3, True, True, None), (50, 400, 6, False, False, None),
    (60, 200, 4, True, False, 4), (60, 120, 3, False, True, 5), (70, 1000, 3, True, False, None),
    (80, 160, 5, True, True, None), (80, 600, 2, True, False, 3), (100, 200, 3, True, False, None),
    (100, 500, 8, True, False, None), (120, 400, 4, False, True, None), (150, 300, 3, True, False, None),
    (150, 1500, 2, True, False, None), (200, 400, 4, True, False, None),
]  # fmt: skip
# Without a bias, standardised columns cannot meet labels that do not sum to zero.
EQUALITY = [shape for shape in MARGIN if shape[3]][:10]


def check(shape, constraint, seed):
    m, n, c, bias, correlated, size = shape
    groups = None if size is None else np.append(np.arange(n) // size, n // size + 1)[: n + bias]
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    problem = random_problem(
        seed, m, n, c, bias=bias, correlated=correlated, constraint=constraint, groups=groups
    )  # fmt: skip
    solution = solve(problem, tol=1e-5)
    X, Y, W = problem.X.Z, problem.Y, solution.W
    optimum = convex_optimum(X, Y, constraint, groups)
    assert solution.objective == pytest.approx(optimum, rel=1e-4)
    assert solution.status.converged
    if constraint == "margin":
        assert (Y * (X @ W)).min() >= 1 - 1e-9
    else:
        np.testing.assert_allclose(X @ W, Y, atol=1e-6)
    # Recomputed from W and B alone: the objective, and a bound below it.
    norms = group_norms(W, groups, problem.n_groups)
    dual = group_norms(X.T @ solution.B, groups, problem.n_groups)
    bound = np.sum(Y * solution.B) / dual.max()
    assert solution.objective == pytest.approx(norms.sum())
    assert bound <= optimum * (1 + 1e-6)
    assert solution.certificate <= 1e-5
    if constraint == "margin":
        assert (Y * solution.B).min() >= 0


@pytest.mark.parametrize("shape", MARGIN, ids=str)
def test_margins_reach_the_global_optimum(shape):
    check(shape, "margin", seed=sum(shape[:3]))


@pytest.mark.parametrize("shape", EQUALITY, ids=str)
def test_equalities_reach_the_global_optimum(shape):
    check(shape, "equality", seed=sum(shape[:3]))


SOFT_SHAPES = [(30, 60, 3), (60, 120, 2), (25, 200, 5), (120, 20, 3), (150, 40, 2), (200, 30, 4)]


@pytest.mark.parametrize("cost", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("shape", SOFT_SHAPES, ids=str)
def test_soft_margins_reach_the_global_optimum(shape, loss, cost):
    """More samples than features and fewer, both kinds of slack, costs that differ from sample to sample."""
    problem = random_problem(1 + sum(shape), *shape, loss=loss)
    C = cost * np.random.default_rng(0).uniform(0.5, 2.0, (len(problem.Y), 1)) * np.ones_like(problem.Y)
    solution = solve(problem.with_C(C), tol=1e-5)
    optimum = convex_optimum(problem.X.Z, problem.Y, slack=1 / C, hinge=loss == "hinge")
    assert solution.objective == pytest.approx(optimum, rel=1e-4)
    assert solution.certificate <= 1e-5


@pytest.mark.parametrize("shape", [(30, 60, 3), (120, 20, 3)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_equalities_with_slack_reach_the_global_optimum(shape, seed):
    problem = random_problem(seed, *shape, constraint="equality")
    slack = np.random.default_rng(seed).uniform(0.05, 5.0, problem.Y.shape)
    solution = solve(problem.with_C(1 / slack), tol=1e-5)
    assert solution.objective == pytest.approx(
        convex_optimum(problem.X.Z, problem.Y, "equality", slack=slack), rel=1e-4
    )
    assert solution.certificate <= 1e-5


@pytest.mark.parametrize("shape", [(120, 60, 2), (150, 100, 3), (300, 40, 2)], ids=str)
def test_hard_margins_of_more_samples_than_features(shape):
    """Separable by construction: the labels are those of a random linear classifier."""
    problem = separable_problem(sum(shape), *shape)
    solution = solve(problem, tol=1e-5)
    assert solution.status.short == "converged"
    assert (problem.Y * problem.X.dot(solution.W)).min() >= 1 - 1e-9
    assert solution.objective == pytest.approx(convex_optimum(problem.X.Z, problem.Y), rel=1e-4)
    assert solution.certificate <= 1e-5
