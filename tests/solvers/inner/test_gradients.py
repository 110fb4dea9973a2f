"""All classes at once: conjugate gradients come near the optimum that another solver finds, in each of three spaces."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from dsofs import DSOSelector
from dsofs.design import Block
from dsofs.problem import SquaredHinge
from dsofs.solvers.inner import gradients
from dsofs.solvers.inner.gradients import NearOptimum, suits_products


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "by_products"), [(40, True), (40, False), (90, False)])
@pytest.mark.parametrize(("warm", "tol", "near"), [(False, None, 5e-3), (True, None, 5e-3), (True, 1e-8, 1e-7)])
def test_near_the_inner_optimum(seed, m, by_products, warm, tol, near, monkeypatch):
    if tol is not None:
        monkeypatch.setattr(gradients, "CG_TOL", tol)
        monkeypatch.setattr(gradients, "SETTLED", 0.0)
    monkeypatch.setattr(gradients, "suits_products", lambda X: by_products)
    monkeypatch.setattr(gradients, "FIRST_NEWTON", (20,))
    monkeypatch.setattr(gradients, "MAX_NEWTON", 20)
    rng = np.random.default_rng(seed)
    X, Y, d = rng.normal(size=(m, 60)), rng.choice([-1.0, 1.0], size=(m, 2)), rng.uniform(0.01, 1, size=60)
    C = rng.uniform(0.1, 3, size=Y.shape)
    B = Y * rng.uniform(0, 1, size=Y.shape) if warm else None
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


def test_it_suits_samples_of_few_stored_numbers():
    assert not suits_products(Block(np.ones((1000, 2000))))
    assert suits_products(Block(np.ones((1000, 20))))


@pytest.mark.parametrize("p", [0.85, 1.0])
def test_a_fit_ends_as_with_factorisations(p, monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random(300, 2000, density=0.02, format="csr", rng=rng)
    y = (X[:, :50].toarray().sum(axis=1) > 0.5).astype(int)
    fits = []
    for suits in (True, False):
        monkeypatch.setattr(gradients, "suits_products", lambda X, suits=suits: suits)
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
        assert last is None or objective <= last * (1 + 1e-12)
        last, B, d = objective, inner.B, norms
