"""QPs whose multipliers have a ceiling, against bounded least squares."""

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear

from dsofs.solvers.qp.boxqp import solve_boxqp
from dsofs.solvers.qp.nnqp import Matrix


def random_qp(seed, m=30, rank=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, rank))
    return X @ X.T / rank, np.where(rng.random(m) < 0.5, 1.0, -1.0), rng.uniform(0.5, 2.0, m)


def oracle(K, y, ceiling):
    R = cholesky(K * np.outer(y, y))
    return y * lsq_linear(R, solve_triangular(R, np.ones(len(y)), trans=1), (0, ceiling), tol=1e-14).x


def optimality(K, y, ceiling, b):
    """The largest violation of: margins of 1 between the bounds, no smaller ones at 0, no larger ones at C."""
    a, excess = y * b, y * (K @ b) - 1
    assert (a >= 0).all()
    assert (a <= ceiling).all()
    return max(
        np.abs(excess[(a > 0) & (a < ceiling)]).max(initial=0.0),
        (-excess[a == 0]).max(initial=0.0),
        excess[a == ceiling].max(initial=0.0),
    )


@pytest.mark.parametrize("price", [0.05, 0.3, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(5))
def test_from_nothing(seed, price):
    K, y, ceiling = random_qp(seed)
    b, factor = solve_boxqp(Matrix.of(K), y, price * ceiling, np.zeros(30))
    np.testing.assert_allclose(b, oracle(K, y, price * ceiling), atol=1e-5 * np.abs(b).max())
    assert optimality(K, y, price * ceiling, b) < 1e-9
    np.testing.assert_array_equal(factor.index, np.flatnonzero((b != 0) & (np.abs(b) < price * ceiling)))


@pytest.mark.parametrize("seed", range(5))
def test_from_the_solution_of_a_neighbour(seed):
    K, y, ceiling = random_qp(seed)
    neighbour, _ = solve_boxqp(Matrix.of(K), y, ceiling, np.zeros(30))
    K = K + 0.1 * random_qp(seed + 100)[0]
    b, _ = solve_boxqp(Matrix.of(K), y, ceiling, neighbour)
    np.testing.assert_allclose(b, oracle(K, y, ceiling), atol=1e-5 * np.abs(b).max())


@pytest.mark.parametrize("seed", range(20))
def test_of_low_rank(seed):
    """More samples than K has rank: the multipliers are not unique, but optimal."""
    K, y, ceiling = random_qp(seed, m=40, rank=8)
    solved = solve_boxqp(Matrix.of(K), y, 0.2 * ceiling, np.zeros(40))
    assert solved is not None
    assert optimality(K, y, 0.2 * ceiling, solved[0]) < 1e-6


def test_ceilings_that_no_multiplier_reaches_change_nothing():
    K, y, _ = random_qp(0)
    b, factor = solve_boxqp(Matrix.of(K), y, np.full(30, 1e6), np.zeros(30))
    assert (y * b >= 0).all()
    np.testing.assert_allclose(np.minimum(y * (K @ b) - 1, 0.0), 0.0, atol=1e-9)
    np.testing.assert_array_equal(factor.index, np.flatnonzero(b))
