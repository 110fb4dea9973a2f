"""The inner QP against non-negative least squares, a dual active-set solver and, with upper bounds, CVXPY."""

import daqp
import numpy as np
import pytest
from scipy.optimize import nnls

from dsofs.solvers.qp import pivoting
from dsofs.solvers.qp.pivoting import solve_qp


def random_qp(seed):
    """K of condition 1 to 1e8 and labels, m up to 300."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 301))
    basis, _ = np.linalg.qr(rng.normal(size=(m, m)))
    root = basis * np.logspace(0, -rng.uniform(0, 4), m)
    y = rng.choice([-1.0, 1.0], size=m)
    q = rng.uniform(0.1, 2, size=m) if seed % 2 else np.ones(m)
    return root @ root.T, root, y, q


def value(K, y, q, a):
    b = y * a
    return 0.5 * b @ K @ b - q @ a


def by_nnls(root, y, q):
    a, _ = nnls((root * y[:, None]).T, np.linalg.solve(root * y[:, None], q), maxiter=100 * len(y))
    return a


def by_daqp(K, y, q):
    m = len(y)
    H = K * np.outer(y, y)
    unbounded = np.full(m, 1e30)
    a, _, flag, _ = daqp.solve(H, -q, np.eye(m), unbounded, np.zeros(m), np.zeros(m, dtype=np.int32))
    assert flag > 0
    return np.maximum(a, 0)


@pytest.mark.parametrize("seed", range(200))
def test_objective_and_optimality_conditions(seed):
    K, root, y, q = random_qp(seed)
    solution = solve_qp(K, y[:, None], q[:, None])
    a = y * solution.B[:, 0]
    assert a.min() >= 0 or a.min() > -1e-12 * np.abs(a).max()
    excess = y * (K @ (y * a)) - q
    scale = max(1.0, a.max())
    assert excess.min() >= -1e-8 * scale
    assert np.abs(excess[a > 0]).max(initial=0) <= 1e-8 * scale
    ours = value(K, y, q, a)
    assert ours == pytest.approx(value(K, y, q, by_nnls(root, y, q)), rel=1e-9)
    if seed % 4 == 0:
        assert ours <= value(K, y, q, by_daqp(K, y, q)) * (1 - 1e-9) or ours == pytest.approx(
            value(K, y, q, by_daqp(K, y, q)), rel=1e-6
        )


@pytest.mark.parametrize("seed", range(20))
def test_singular_matrix_of_a_separable_class(seed):
    """rank 10 of 60, as K ends up below p = 1: the margins are met all the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 10))
    y = np.sign(X @ rng.normal(size=10))
    K = X @ X.T
    solution = solve_qp(K, y[:, None], np.ones((60, 1)))
    a = y * solution.B[:, 0]
    margins = y * (K @ solution.B[:, 0])
    assert margins.min() >= 1 - 1e-8 * max(1.0, a.max())
    assert a @ np.abs(margins - 1) <= 1e-8 * a.sum() * max(1.0, a.max())


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_known_rank_changes_nothing_but_the_way(seed, bias, monkeypatch):
    """With more free samples than the rank pivoting is given up at once."""
    rng = np.random.default_rng(seed)
    X, F = rng.normal(size=(120, 12)), np.ones((120, 1)) if bias else None
    Y = np.sign(X @ rng.normal(size=(12, 3)) + 0.2 * bias)
    K = X * rng.uniform(0.2, 2, size=12) @ X.T
    tried, least_squares = [], pivoting.ProximalStep._by_least_squares
    monkeypatch.setattr(
        pivoting.ProximalStep, "_by_least_squares", lambda *args: tried.append(args) or least_squares(*args)
    )
    known, unknown = (solve_qp(K, Y, np.ones_like(Y), Y, F=F, rank=rank) for rank in (12, None))
    assert len(tried) >= 3
    assert unknown.solved
    assert known.residual <= pivoting.KKT_TOL * max(1.0, np.abs(known.B).max())
    scale = max(1.0, np.abs(unknown.B).max())
    np.testing.assert_allclose(X.T @ known.B, X.T @ unknown.B, atol=1e-8 * scale)


@pytest.mark.parametrize("seed", range(20))
def test_warm_start_changes_nothing(seed):
    K, _, y, q = random_qp(seed)
    cold = solve_qp(K, y[:, None], q[:, None])
    rng = np.random.default_rng(seed)
    start = (y * rng.uniform(0, 1, len(y)) * (rng.random(len(y)) < 0.5))[:, None]
    warm = solve_qp(K, y[:, None], q[:, None], start)
    scale = np.abs(cold.B).max()
    np.testing.assert_allclose(K @ warm.B, K @ cold.B, atol=1e-7 * max(1.0, scale))


def test_slack_is_a_ridge_on_the_diagonal():
    K, _, y, q = random_qp(6)
    slack = np.random.default_rng(0).uniform(0.1, 1, len(y))
    with_slack = solve_qp(K, y[:, None], q[:, None], slack=slack[:, None])
    with_ridge = solve_qp(K + np.diag(slack), y[:, None], q[:, None])
    np.testing.assert_allclose(with_slack.B, with_ridge.B, rtol=1e-6, atol=1e-9)


def test_nothing_to_do_gives_zero():
    K, _, y, _ = random_qp(3)
    solution = solve_qp(K, y[:, None], -np.ones((len(y), 1)))
    assert not solution.B.any()
    assert solution.residual == 0


def check_border(K, Y, F, solution, slack=0.0):
    """The optimality conditions, which suffice, from the solution alone."""
    B, V = solution.B, solution.free
    A, excess = Y * B, Y * (K @ B + F @ V) + slack * np.abs(B) - 1
    scale = max(1.0, np.abs(B).max())
    assert A.min() >= 0
    assert np.abs(F.T @ B).max() <= 1e-11 * (np.abs(F.T) @ np.abs(B)).max()
    assert excess.min() >= -1e-8 * scale
    assert np.abs(excess[A > 0]).max() <= 1e-8 * scale
    for factor, b in zip(solution.factors, B.T, strict=True):
        assert set(np.flatnonzero(b)) <= set(factor.inner)


@pytest.mark.parametrize("exchanges", [pivoting.MAX_EXCHANGES, 0], ids=["pivoting", "least_squares"])
@pytest.mark.parametrize("slack", [None, 0.3])
@pytest.mark.parametrize("border", ["ones", "ones_and_covariates", "dependent", "zero_for_some"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_not_penalised(monkeypatch, seed, border, slack, exchanges):
    monkeypatch.setattr(pivoting, "MAX_EXCHANGES", exchanges)
    rng = np.random.default_rng(seed)
    X, ones, level = rng.normal(size=(40, 60)), np.ones((40, 1)), (np.arange(40) % 2 == 0)[:, None]
    F = {
        "ones": ones,
        "ones_and_covariates": np.hstack([ones, rng.normal(size=(40, 2))]),
        "dependent": np.hstack([ones, level, ~level]),
        "zero_for_some": 1.0 * level,
    }[border]
    Y, K = rng.choice([-1.0, 1.0], size=(40, 3)), X @ X.T / 60
    costs = None if slack is None else np.full_like(Y, slack)
    cold = solve_qp(K, Y, np.ones_like(Y), slack=costs, F=F)
    check_border(K, Y, F, cold, slack or 0.0)
    start = cold.B * (rng.random(Y.shape) < 0.5)
    warm = solve_qp(K, Y, np.ones_like(Y), start, slack=costs, F=F)
    np.testing.assert_allclose(warm.B, cold.B, atol=1e-7 * np.abs(cold.B).max())


def bounded_qp(seed, m=30, rank=60):
    """K of some rank, labels and the upper bound of each sample."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, rank))
    return X @ X.T / rank, np.where(rng.random((m, 1)) < 0.5, 1.0, -1.0), rng.uniform(0.5, 2.0, (m, 1)), X / rank**0.5


def least_value(root, y, upper, slack=0.0):
    """The optimum of 1/2 ||root'(y o a)||^2 + 1/2 s ||a||^2 - 1'a over 0 <= a <= upper."""
    cp = pytest.importorskip("cvxpy")
    a = cp.Variable(len(y))
    margin = cp.sum_squares((root * y).T @ a) / 2 + slack * cp.sum_squares(a) / 2 - cp.sum(a)
    return cp.Problem(cp.Minimize(margin), [a >= 0, a <= upper[:, 0]]).solve(solver=cp.CLARABEL)


def check_bounded(K, y, upper, solution, root, slack=0.0):
    """Margins of 1 between the bounds, no smaller ones at 0, no larger ones at C; and the optimum of CVXPY."""
    a, excess = y * solution.B, y * (K @ solution.B) + slack * np.abs(solution.B) - 1
    assert a.min() >= 0
    assert (a <= upper).all()
    free = (a > 0) & (a < upper)
    np.testing.assert_array_equal(solution.factors[0].index, np.flatnonzero(free))
    assert np.abs(excess[free]).max(initial=0.0) < 1e-8
    assert (-excess[a == 0]).max(initial=0.0) < 1e-8
    assert excess[a == upper].max(initial=0.0) < 1e-8
    value = 0.5 * np.sum((root.T @ solution.B) ** 2) + 0.5 * slack * np.sum(a**2) - a.sum()
    assert value == pytest.approx(least_value(root, y, upper, slack), rel=1e-6)


@pytest.mark.parametrize("C", [0.05, 0.3, 1.0, 100.0])
@pytest.mark.parametrize("rank", [60, 8])
@pytest.mark.parametrize("seed", range(5))
def test_upper_bounds(seed, rank, C):
    """With rank 8 of 30 the classes overlap and K is singular: multipliers are not unique, but optimal."""
    K, y, upper, root = bounded_qp(seed, rank=rank)
    check_bounded(K, y, C * upper, solve_qp(K, y, np.ones_like(y), upper=C * upper), root)


@pytest.mark.parametrize("seed", range(5))
def test_upper_bounds_with_slack(seed):
    K, y, upper, root = bounded_qp(seed, rank=8)
    solution = solve_qp(K, y, np.ones_like(y), slack=np.full_like(y, 0.1), upper=upper)
    check_bounded(K, y, upper, solution, root, slack=0.1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rank", [60, 8])
def test_upper_bounds_from_the_solution_of_a_neighbour(seed, rank):
    K, y, upper, root = bounded_qp(seed, rank=rank)
    noise = 0.1 * np.random.default_rng(seed).normal(size=root.shape)
    neighbour = solve_qp(K, y, np.ones_like(y), upper=upper).B
    root = root + noise
    K = root @ root.T
    check_bounded(K, y, upper, solve_qp(K, y, np.ones_like(y), neighbour, upper=upper), root)


@pytest.mark.parametrize("C", [0.3, 100.0])
@pytest.mark.parametrize("rank", [60, 8])
def test_where_pivoting_does_not_end_other_methods_do(monkeypatch, rank, C):
    monkeypatch.setattr(pivoting, "MAX_EXCHANGES", 0)
    K, y, upper, root = bounded_qp(0, rank=rank)
    check_bounded(K, y, C * upper, solve_qp(K, y, np.ones_like(y), upper=C * upper), root)


@pytest.mark.parametrize("far", [1e6, np.inf])
def test_upper_bounds_that_no_multiplier_reaches_change_nothing(far):
    K, y, upper, _ = bounded_qp(0)
    bounded = solve_qp(K, y, np.ones_like(y), upper=np.full_like(upper, far))
    np.testing.assert_allclose(bounded.B, solve_qp(K, y, np.ones_like(y)).B, rtol=1e-6)
