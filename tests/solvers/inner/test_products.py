"""Many classes by products with X alone: against other solvers, in memory that does not grow with classes x n x n."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize

from dsofs import DSOSelector
from dsofs.design import Block
from dsofs.problem import Status
from dsofs.solvers import solve
from dsofs.solvers.inner import margin, products
from dsofs.solvers.inner.products import ManyClasses
from tests.problems import random_problem


def inner_solver(seed, m=80, n=6, c=150):
    """With everything that its ``solve`` takes."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(m, n)), rng.choice([-1.0, 1.0], size=(m, c))
    C = rng.uniform(0.3, 3, size=(m, c))
    return ManyClasses(Block(X), Y, C), np.arange(n), Block(X), rng.uniform(0.1, 3, size=n)


@pytest.mark.parametrize("seed", range(3))
def test_the_inner_step_finds_the_minimum(seed):
    solver, rows, X, d = inner_solver(seed)
    for _ in range(8):  # each reduces the gradient by a factor
        inner = solver.solve(rows, X, d, None)
    for j in range(0, 150, 30):
        y, C = solver.Y[:, j], solver.C[:, j]

        def objective(w, y=y, C=C):
            return 0.5 * np.sum(w**2 / d) + 0.5 * np.sum(C * np.maximum(1 - y * (X.Z @ w), 0) ** 2)

        best = minimize(objective, np.zeros(len(d)), method="BFGS", options={"gtol": 1e-9})
        assert objective(inner.W[:, j]) <= best.fun * (1 + 1e-9)
    slack = np.maximum(1 - solver.Y * (X.Z @ inner.W), 0)
    assert inner.cost == pytest.approx(0.5 * np.sum(solver.C * slack**2))
    np.testing.assert_allclose(inner.G, X.Z.T @ inner.B, atol=1e-9)
    np.testing.assert_allclose(inner.W, d[:, None] * inner.G, atol=1e-6)


def test_the_minimum_without_some_rows_is_found_from_the_one_with_all():
    solver, rows, X, d = inner_solver(0, n=70)
    for _ in range(6):
        inner = solver.solve(rows, X, d, None)
    assert any(free is not None for free in inner.curvature.free)
    left = rows[::2]
    for _ in range(12):
        inner = solver.solve(left, X.take(left), d[left], None)
    T = solver.Y * (X.Z[:, left] @ inner.W)
    np.testing.assert_allclose(inner.B, solver.Y * solver.C * np.maximum(1 - T, 0), atol=1e-9)
    np.testing.assert_allclose(inner.G, X.Z[:, left].T @ inner.B, atol=1e-9)
    np.testing.assert_allclose(inner.W, d[left, None] * inner.G, atol=1e-6)


def test_the_curvature_is_that_of_the_mean_over_classes():
    solver, rows, X, d = inner_solver(0)
    for _ in range(2):  # the first takes all samples to be inside the margin
        inside, inner = solver.inside, solver.solve(rows, X, d, None)
    H = X.Z.T @ (inside[:, None] * X.Z)
    P = H - H @ np.linalg.solve(np.diag(1 / d) + H, H)
    expected = sum(np.diag(g) @ P @ np.diag(g) for g in inner.G.T)
    np.testing.assert_allclose(inner.curvature.matrix(X, rows, inner.G, None), expected, atol=1e-9)
    z = np.arange(1.0, 7.0)
    np.testing.assert_allclose(inner.curvature.product(inner.G)(z), expected @ z, atol=1e-9)


@pytest.mark.parametrize("p", [0.85, 1.0, 1.5])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_fit_reaches_the_optimum_of_a_matrix_per_class(p, grouped, monkeypatch):
    problem = random_problem(0, 200, 16, 100, p=p, groups=np.arange(17) // 2 if grouped else None)
    problem = problem.with_C(np.full(problem.Y.shape, 0.1))
    by_products = solve(problem, tol=1e-4)
    monkeypatch.setattr(margin, "MANY_CLASSES", np.inf)
    by_matrices = solve(problem, tol=1e-4)
    assert by_products.status is by_matrices.status is Status.CONVERGED
    assert by_products.objective == pytest.approx(by_matrices.objective, rel=1e-3 if p < 1 else 2e-4)
    objective = np.array(by_products.history.objective)
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()


def test_a_fit_is_the_same_whichever_thread_ends_first():
    rng, y = np.random.default_rng(0), np.repeat(np.arange(200), 3)
    X = rng.normal(size=(200, 60))[y] + rng.normal(size=(600, 60))
    first, again = (DSOSelector().fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    np.testing.assert_array_equal(first.ranking_, again.ranking_)


def test_no_matrix_per_class():
    rng, n_classes, n = np.random.default_rng(0), 200, 150
    y = np.repeat(np.arange(n_classes), 3)
    X = rng.normal(size=(n_classes, n))[y] + rng.normal(size=(len(y), n))
    tracemalloc.start()
    DSOSelector(p=1.0, C=0.1, tol=0.1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n_classes * n**2


@pytest.mark.parametrize("few", [0.0, np.inf])
def test_a_system_of_few_samples_and_gradients_agree(few, monkeypatch):
    """Both survive next to no slack, where systems are singular but for rounding."""
    monkeypatch.setattr(products, "FEW", few)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 20)), np.where(np.arange(300)[:, None] % 100 == np.arange(100), 1.0, -1.0)
    X[:, 0], X[:, 1] = 1.0, X[:, 2]
    for C in (1e-2, 1.0, 1e9):
        solver = ManyClasses(Block(X), Y, np.full(Y.shape, C))
        for _ in range(12):
            inner = solver.solve(np.arange(20), Block(X), np.ones(20), None)
        assert inner is not None
        if C <= 1:
            np.testing.assert_allclose(inner.W, inner.G, atol=1e-6)
        assert np.isfinite(inner.W).all()
        assert np.isfinite(inner.curvature.matrix(Block(X), np.arange(20), inner.G, None)).all()


def test_the_curvature_of_classes_with_few_samples_is_their_own():
    solver, rows, X, d = inner_solver(0, n=70)
    inner = solver.solve(rows, X, d, None)
    for _ in range(5):
        inner = solver.solve(rows, X, d, None)
    few = np.array([free is not None for free in inner.curvature.free])
    assert few.any()
    G, expected = inner.G * few, np.zeros((70, 70))
    for j in np.flatnonzero(few):
        free, g = inner.curvature.free[j], G[:, j]
        Z = X.Z[free]
        expected += np.diag(g) @ Z.T @ np.linalg.solve((Z * d) @ Z.T + np.diag(1 / solver.C[free, j]), Z) @ np.diag(g)
    # In float32, which is enough for a model of the next step.
    np.testing.assert_allclose(inner.curvature.matrix(X, rows, G, None), expected, atol=1e-5 * np.abs(expected).max())
