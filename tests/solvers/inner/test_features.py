"""Matrices that are carried from solve to solve give what those made anew give, whatever rows and samples changed."""

import numpy as np
import pytest

from dsofs.design import Block
from dsofs.problem import SquaredHinge
from dsofs.solvers.inner.features import FeatureSpace

M, N, C = 60, 14, 3


def data(seed, n_free):
    rng = np.random.default_rng(seed)
    Y, slack = rng.choice([-1.0, 1.0], (M, C)), rng.uniform(0.1, 3, (M, 1)) * np.ones(C)
    return rng, rng.normal(size=(M, N)), Y, slack, rng.normal(size=(M, n_free))


def space(X, Y, slack, F, **options):
    return FeatureSpace(Block(X), Y, [SquaredHinge(column) for column in slack.T], F, **options)


@pytest.mark.parametrize("every_row", [False, True])
@pytest.mark.parametrize("n_free", [0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_rows_leave_and_return(seed, n_free, every_row):
    rng, X, Y, slack, F = data(seed, n_free)
    carried, B = space(X, Y, slack, F, every_row=every_row), None
    for size in (14, 12, 7, 6, 13, 3):
        rows, d = np.sort(rng.permutation(N)[:size]), rng.uniform(0.1, 3, size)
        here, anew = (s.solve(rows, Block(X[:, rows]), d, B) for s in (carried, space(X, Y, slack, F)))
        for name in ("W", "B", "G", "free"):
            np.testing.assert_allclose(getattr(here, name), getattr(anew, name), atol=1e-9)
        assert here.exact
        B = here.B * rng.choice([0.0, 1.0], here.B.shape)  # from other samples too


@pytest.mark.parametrize("rows", [[1, 4, 5], [0, 2, 5, 9]])
def test_curvature_of_active_and_of_other_rows(rows):
    rng, X, Y, slack, F = data(0, 0)
    active, rows, d = np.array([1, 3, 4, 5, 8]), np.array(rows), rng.uniform(0.1, 3, 5)
    inner = space(X, Y, slack, F).solve(active, Block(X[:, active]), d, None)
    G = rng.normal(size=(len(rows), C))
    expected = 0
    for g, b, s in zip(G.T, inner.B.T, slack.T, strict=True):
        on = b != 0
        K = (X[on][:, active] * d) @ X[on][:, active].T + np.diag(s[on])
        expected = expected + np.outer(g, g) * (X[on][:, rows].T @ np.linalg.solve(K, X[on][:, rows]))
    np.testing.assert_allclose(inner.curvature.matrix(Block(X[:, rows]), rows, G, None), expected, atol=1e-9)


def test_first_solves_may_stop_early_and_say_so():
    rng, X, Y, slack, F = data(1, 0)
    features, d, B = space(X, Y, slack, F, limits=(1, 1)), rng.uniform(0.1, 3, N), None
    exact = []
    for _ in range(3):
        inner = features.solve(np.arange(N), Block(X), d, B)
        missing = np.maximum(1 - Y * (X @ inner.W), 0)
        assert inner.cost == pytest.approx(0.5 * np.sum(missing**2 / slack))
        np.testing.assert_allclose(inner.B, Y * missing / slack, atol=1e-9)
        np.testing.assert_allclose(inner.G, X.T @ inner.B, atol=1e-9)
        exact.append(inner.exact)
        B = inner.B
    assert not exact[0]
    assert exact[2]
