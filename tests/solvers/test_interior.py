"""Two classes at p = 1 are a linear program: the interior-point method against HiGHS, and against the loop."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from dsofs.arrays import Block
from dsofs.problem import Problem, Status
from dsofs.solvers import joint, solve
from dsofs.solvers.interior import MIN_WORKING_SET, is_linear, solve_interior
from tests.problems import random_problem

KINDS = ("normal", "counts", "zeros and ones", "doubled columns", "columns of all sizes", "repeated samples")
TOL = 1e-6


def problem_of(kind, seed, *, hinge):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(4, 60), rng.integers(2, 90)
    X, y = rng.normal(size=(m, n)), np.where(rng.random(m) < 0.4, 1.0, -1.0)
    if kind == "counts":
        X = np.round(X)
    elif kind == "zeros and ones":
        X = (X > 0.5).astype(float)
    elif kind == "doubled columns":
        X = np.repeat(X, 2, axis=1)
    elif kind == "columns of all sizes":
        X *= 10.0 ** rng.integers(-4, 4, size=n)
    elif kind == "repeated samples":
        X, y = np.vstack([X, X[: m // 2]]), np.append(y, y[: m // 2])
    C = 10 ** rng.uniform(-2, 2) * rng.uniform(0.5, 2, size=(len(X), 1)) if hinge else None
    return Problem(Block(np.column_stack([X, np.ones(len(X))])), y[:, None], 1.0, C=C, loss="hinge")


def by_highs(problem):
    """The optimum and w; None if there is no solution."""
    Z, m = problem.Y * problem.X.Z, len(problem.Y)
    cost, rows = np.ones(2 * Z.shape[1]), np.hstack([-Z, Z])
    if problem.C is not None:
        cost, rows = np.append(cost, problem.C), np.hstack([rows, -np.eye(m)])
    found = linprog(cost, A_ub=rows, b_ub=-np.ones(m))
    positive, negative = found.x[: 2 * Z.shape[1]].reshape(2, -1) if found.success else (None, None)
    return (found.fun, positive - negative) if found.success else None


def check_solution(problem, solution, optimum):
    """The objective, the margins and the certificate, from W and B alone."""
    margins = problem.Y * (problem.X.Z @ solution.W)
    price = 0.0 if problem.C is None else float(np.sum(problem.C * np.maximum(1 - margins, 0)))
    assert np.abs(solution.W).sum() + price == pytest.approx(solution.objective)
    assert solution.objective == pytest.approx(optimum, rel=2 * TOL)
    if problem.C is None:
        assert margins.min() >= 1 - 1e-9
    A = problem.Y * solution.B
    assert A.min() >= 0
    assert problem.C is None or (A <= problem.C).all()
    bound = A.sum() / max(1, np.abs(problem.X.Z.T @ solution.B).max())
    assert (solution.objective - bound) / solution.objective == pytest.approx(solution.certificate, abs=TOL)
    assert solution.certificate <= TOL


@pytest.mark.parametrize("hinge", [False, True], ids=["hard", "hinge"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_reaches_the_optimum(kind, hinge):
    solved = 0
    for seed in range(10):
        problem = problem_of(kind, seed, hinge=hinge)
        known = by_highs(problem)
        if known is None:  # the classes overlap
            assert solve_interior(problem, tol=TOL, max_iter=1000) is None
        else:
            check_solution(problem, solve(problem, tol=TOL), known[0])
            solved += solve_interior(problem, tol=TOL, max_iter=1000) is not None
    assert solved >= 3


@pytest.mark.parametrize("shape", [(30, 3000), (60, 1200), (150, 4000)], ids=str)
@pytest.mark.parametrize("C", [None, 1.0])
def test_features_join_the_working_set_and_the_support_is_exact(shape, C):
    m, n = shape
    problem = random_problem(7, m, n, 2, C=None if C is None else np.full((m, 1), C), loss="hinge")
    optimum, w = by_highs(problem)
    solution = solve_interior(problem, tol=TOL, max_iter=1000)
    check_solution(problem, solution, optimum)
    assert max(solution.history.active) > max(MIN_WORKING_SET, 3 * m)
    np.testing.assert_array_equal(solution.W[:, 0] != 0, np.abs(w) > 1e-9)


@pytest.mark.parametrize("shape", [(150, 30), (400, 60), (400, 250)], ids=str)
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_more_samples_than_features(shape, C):
    m, n = shape
    problem = random_problem(5, m, n, 2, C=np.full((m, 1), C), loss="hinge")
    check_solution(problem, solve_interior(problem, tol=TOL, max_iter=1000), by_highs(problem)[0])


def test_the_loop_finds_the_same(monkeypatch):
    problem = random_problem(3, 50, 400, 2)
    fast = solve(problem, tol=TOL)
    monkeypatch.setattr(joint, "is_linear", lambda problem: False)
    slow = solve(problem, tol=TOL)
    assert fast.objective == pytest.approx(slow.objective, rel=2 * TOL)
    assert fast.n_iter < slow.n_iter
    np.testing.assert_allclose(fast.W, slow.W, atol=1e-3 * np.abs(slow.W).max())


def test_no_feature_pays_where_slack_is_cheap():
    problem = random_problem(0, 40, 120, 2, C=np.full((40, 1), 1e-4), loss="hinge")
    solution = solve(problem, tol=1e-3)
    assert solution.status is Status.ZERO
    assert not solution.W.any()
    assert solution.objective == pytest.approx(40 * 1e-4)


def test_the_certificate_falls_and_the_last_one_is_of_all_features():
    solution = solve(random_problem(1, 40, 3000, 2), tol=1e-3)
    gaps = np.array(solution.history.gap)
    assert gaps[0] > 1e-3 >= gaps[-1]
    assert solution.certificate <= 1e-3


def test_what_it_is_not_for():
    problem = random_problem(0, 40, 120, 2)
    assert is_linear(problem)
    squared, hinge = np.full((40, 1), 1.0), replace(problem, C=np.full((40, 1), 1.0), loss="hinge")
    assert is_linear(hinge)
    others = [
        random_problem(0, 40, 120, 3),
        random_problem(0, 200, 20, 2),  # more samples than features
        replace(problem, p=0.9),
        replace(problem, p=1.1),
        replace(problem, constraint="equality"),
        replace(problem, C=squared),
        replace(hinge, C=np.where(np.arange(40)[:, None] < 3, np.inf, 1.0)),  # some margins are hard
        replace(hinge, C=np.where(np.arange(40)[:, None] < 3, 0.0, 1.0)),  # some samples do not count
        replace(problem, groups=np.arange(121) // 2),
    ]
    assert not any(is_linear(other) for other in others)
