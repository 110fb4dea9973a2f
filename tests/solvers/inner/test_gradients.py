"""All classes at once: conjugate gradients come near the optimum that another solver finds, in each space."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from dsofs import DSOSelector
from dsofs.design import Block, as_design, moments
from dsofs.problem import SquaredHinge
from dsofs.solvers.inner import gradients
from dsofs.solvers.inner.gradients import NearOptimum

SPACES = {  # m samples of 60 features, and what makes the solver choose each space
    "features": (40, {"PRODUCTS": 0, "SAVED": 0}),
    "features, preconditioned": (40, {"PRODUCTS": 0, "SAVED": np.inf}),
    "samples": (40, {"PRODUCTS": np.inf}),
    "more samples than features": (90, {}),
}


def data_for(space, seed, monkeypatch, **constants):
    m, of_space = SPACES[space]
    for name, value in (of_space | constants).items():
        monkeypatch.setattr(gradients, name, value)
    rng = np.random.default_rng(seed)
    X, Y, d = rng.normal(size=(m, 60)), rng.choice([-1.0, 1.0], size=(m, 2)), rng.uniform(0.01, 1, size=60)
    return X, Y, d, rng.uniform(0.1, 3, size=Y.shape), Y * rng.uniform(0, 1, size=Y.shape)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(("tol", "near"), [(0.1, 5e-3), (1e-4, 1e-7)])
def test_near_the_inner_optimum(seed, space, tol, near, monkeypatch):
    X, Y, d, C, B = data_for(space, seed, monkeypatch, TOL=tol, FIRST_NEWTON=(20,), MAX_NEWTON=20, SETTLED=0.0)
    inner = NearOptimum(Block(X), Y, SquaredHinge(1 / C)).solve(np.arange(60), Block(X), d, B)
    for j in range(2):

        def objective(w, j=j):
            return 0.5 * np.sum(w**2 / d) + 0.5 * np.sum(C[:, j] * np.maximum(1 - Y[:, j] * (X @ w), 0) ** 2)

        best = minimize(objective, np.zeros(60), method="BFGS", options={"gtol": 1e-8})
        assert objective(inner.W[:, j]) <= best.fun * (1 + near)
    slack = np.maximum(1 - Y * (X @ inner.W), 0)
    assert inner.cost == pytest.approx(0.5 * np.sum(C * slack**2))
    np.testing.assert_allclose(inner.B, Y * C * slack, atol=1e-9)
    np.testing.assert_allclose(inner.G, X.T @ inner.B, atol=1e-9)
    assert not inner.exact


@pytest.mark.parametrize("space", SPACES)
def test_the_first_solve_is_least_squares_on_all_samples(space, monkeypatch):
    X, Y, d, C, _ = data_for(space, 0, monkeypatch, FIRST_TOL=1e-5)
    inner = NearOptimum(Block(X), Y, SquaredHinge(1 / C)).solve(np.arange(60), Block(X), d, None)
    for j in range(2):
        expected = np.linalg.solve(np.diag(1 / d) + (X.T * C[:, j]) @ X, X.T @ (C[:, j] * Y[:, j]))
        np.testing.assert_allclose(inner.W[:, j], expected, rtol=0, atol=1e-3 * np.abs(expected).max())


def test_where_all_classes_share_a_hessian_the_first_solve_takes_one_conjugate_gradient(monkeypatch):
    X, Y, d, _, _ = data_for("more samples than features", 0, monkeypatch, MAX_CG=1)
    inner = NearOptimum(Block(X), Y, SquaredHinge(np.full_like(Y, 0.5))).solve(np.arange(60), Block(X), d, None)
    expected = np.linalg.solve(np.diag(1 / d) + 2 * X.T @ X, 2 * X.T @ Y)
    np.testing.assert_allclose(inner.W, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_it_suits_where_products_take_less_time_than_factors():
    rng = np.random.default_rng(0)
    X = sparse.random(1000, 2000, density=0.01, format="csr", rng=rng)
    sparse_X = as_design(X, moments(X), standardize=True, bias=False)
    wide, tall = Block(np.ones((1000, 2000))), Block(np.ones((1000, 50)))

    def suits(X, n_classes, B_given=True, inside=1000):
        Y = np.ones((1000, n_classes))
        B = Y * (np.arange(1000) < inside)[:, None] if B_given else None
        return NearOptimum(X, Y, SquaredHinge(np.ones_like(Y))).suits(X, B)

    assert suits(wide, 1)
    assert suits(wide, 30)
    assert suits(sparse_X, 30)
    assert suits(tall, 30, inside=50)
    assert not suits(wide, 30, inside=50)  # whose factors are small
    assert suits(wide, 1, B_given=False)
    assert suits(sparse_X, 30, B_given=False)
    assert not suits(wide, 30, B_given=False)  # when all classes share one factor


def test_what_float32_does_not_hold_is_refused():
    X, Y = np.full((30, 20), 1e300), np.ones((30, 1))
    with pytest.raises(np.linalg.LinAlgError, match="float32"), np.errstate(all="ignore"):
        NearOptimum(Block(X), Y, SquaredHinge(Y)).solve(np.arange(20), Block(X), np.ones(20), None)


@pytest.mark.parametrize("p", [0.85, 1.0])
def test_a_fit_ends_as_with_factorisations(p, monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random(300, 2000, density=0.02, format="csr", rng=rng)
    y = (X[:, :50].toarray().sum(axis=1) > 0.5).astype(int)
    fits = []
    for suits in (True, False):
        monkeypatch.setattr(NearOptimum, "suits", lambda self, X, B, suits=suits: suits)
        fits.append(DSOSelector(p=p).fit(X, y))
    by_gradients, by_factors = fits
    assert by_gradients.status_ == by_factors.status_ == "converged"
    assert by_gradients.objective_ == pytest.approx(by_factors.objective_, rel=1e-2 if p < 1 else 1e-3)


def test_a_step_from_the_weights_of_before_does_not_raise_the_objective():
    """In the space of the features, where it starts from W: whatever the weights, W of before is a point to go from."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(80, 20)), rng.choice([-1.0, 1.0], size=(80, 3))
    C, rows = rng.uniform(0.1, 3, size=Y.shape), np.arange(20)
    solver, d, last = NearOptimum(Block(X), Y, SquaredHinge(1 / C)), np.ones(20), None
    B = None
    for _ in range(8):
        inner = solver.solve(rows, Block(X), d, B)
        norms = np.linalg.norm(inner.W, axis=1)
        objective = np.sum(norms) + inner.cost
        assert last is None or objective <= last * (1 + 1e-6)  # W is kept in float32
        last, B, d = objective, inner.B, norms
