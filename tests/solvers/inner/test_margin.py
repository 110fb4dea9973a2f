"""Rows that are not penalised: the optimum against CVXPY, certificates from W and B alone, stationarity below p = 1.

Squared slack in the space of samples or features.
"""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from dsofs.design import Block, budget, linalg
from dsofs.problem import Problem, Status
from dsofs.solvers import solve
from dsofs.solvers.inner.gradients import NearOptimum
from dsofs.solvers.inner.margin import MarginStep, SmallerSpace, free_model
from dsofs.solvers.joint import auto_C, entry_C
from dsofs.solvers.qp import pivoting
from tests.problems import random_problem

SHAPES = {"wide": (25, 60), "tall": (150, 12)}


def problem(seed, shape, p=1.0, constraint="margin", soft=True, grouped=False):
    rng = np.random.default_rng(seed)
    (m, n), c = SHAPES[shape], 1 + 2 * (seed % 2)
    X, y = rng.normal(size=(m, n)), rng.integers(0, max(c, 2), size=m)
    X[:, :3] += 2 * y[:, None] * rng.normal(size=3)
    Y = np.where(y[:, None] == np.arange(max(c, 2))[-c:], 1.0, -1.0)
    F = np.column_stack([np.ones(m), rng.normal(size=(m, 3)) + 0.4 * y[:, None]])[:, : 1 + seed % 4]
    C = np.full(Y.shape, 0.3) * rng.uniform(0.5, 2, size=(m, 1)) if soft else None
    groups = np.repeat(np.arange(n // 2), 2) if grouped else None
    return Problem(Block(X), Y, p, constraint, C, groups=groups, free=F)


def optimum(problem):
    X, F, Y, C = problem.X.on_host(), problem.F, problem.Y, problem.C
    W, V, xi = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((F.shape[1], Y.shape[1])), cp.Variable(Y.shape)
    groups = np.arange(X.shape[1]) if problem.groups is None else problem.groups
    penalty = sum(cp.norm(W[groups == group], "fro") for group in np.unique(groups))
    reached = X @ W + F @ V
    constraints = [cp.multiply(Y, reached) >= 1 - xi] if problem.constraint == "margin" else [reached == Y + xi]
    if C is None:
        constraints.append(xi == 0)
    cost = 0 if C is None else 0.5 * cp.sum(cp.multiply(C, cp.square(xi)))
    return cp.Problem(cp.Minimize(penalty + cost), constraints).solve(solver="CLARABEL")


VARIANTS = [
    *(("wide", constraint, soft, grouped) for constraint in ("margin", "equality") for soft in (True, False)
      for grouped in (True, False)),
    ("tall", "margin", True, False), ("tall", "margin", True, True), ("tall", "equality", True, False),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("shape", "constraint", "soft", "grouped"), VARIANTS)
def test_optimum(seed, shape, constraint, soft, grouped):
    given = problem(seed, shape, 1.0, constraint, soft, grouped)
    found = solve(given, tol=1e-5)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(optimum(given), rel=1e-4)
    reached = given.X.dot(found.W) + given.F @ found.free
    if constraint == "margin" and not soft:
        assert (given.Y * reached).min() > 1 - 1e-9
    # The bound again, from B alone: no multiple of it repairs F'B.
    assert np.abs(given.F.T @ found.B).max() <= 1e-12 * np.abs(found.B).sum()
    bound = given.lower_bound(found.B, given.dual_norms(found.B))
    assert found.objective - bound <= 1.1e-5 * found.objective


@pytest.mark.parametrize("seed", range(4))
def test_hard_margins_with_more_samples_than_features(seed):
    rng = np.random.default_rng(seed)
    X, F = rng.normal(size=(400, 10)), np.column_stack([np.ones(400), rng.normal(size=400)])
    score = X[:, :2].sum(axis=1) + F @ [0.5, 2.0]
    kept = np.abs(score) > 0.3
    given = Problem(Block(X[kept]), np.sign(score[kept])[:, None], 1.0, free=F[kept])
    found = solve(given, tol=1e-5)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(optimum(given), rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("p", [0.5, 0.85])
@pytest.mark.parametrize("shape", SHAPES)
def test_stationary(seed, p, shape):
    given = problem(seed, shape, p)
    found = solve(given, tol=1e-6, max_iter=1000)
    assert found.status.converged
    assert np.abs(given.F.T @ found.B).max() <= 1e-10 * np.abs(found.B).sum()
    norms, G = np.linalg.norm(found.W, axis=1), given.X.tdot(found.B)
    support = norms > 1e-4 * norms.max()
    wanted = norms[support, None] ** (p - 2) * found.W[support]
    np.testing.assert_allclose(G[support], wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


@pytest.mark.parametrize("seed", range(3))
def test_below_p_one_they_are_not_reached_by_a_large_weight_alone(seed):
    """Nothing changes when a multiple of a row that is not penalised is added to the columns of X."""
    given = problem(seed, "wide", 0.85)
    shifted = given.X.on_host() + given.F[:, :1] * np.linspace(-2, 2, 60)
    other = Problem(Block(shifted), given.Y, 0.85, C=given.C, free=given.F)
    assert solve(other, tol=1e-6).objective == pytest.approx(solve(given, tol=1e-6).objective, rel=1e-5)


def test_where_they_separate_the_classes_alone_nothing_is_left():
    given = problem(0, "wide", soft=False)
    enough = Problem(given.X, given.Y, 1.0, free=np.column_stack([np.ones(25), given.Y[:, 0] * np.arange(1, 26)]))
    assert free_model(enough).separates
    found = solve(enough)
    assert found.status is Status.NOTHING_LEFT
    assert not found.W.any()
    assert (enough.Y * (enough.F @ found.free)).min() > 1 - 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_classes_that_cannot_be_separated_are_told_by_all_rows(seed):
    """A sample twice, with both labels, is a contradiction whatever is not penalised."""
    given = problem(seed, "wide", soft=False)
    X, F, Y = (np.vstack([A, A[:1]]) for A in (given.X.on_host(), given.F, given.Y))
    Y[-1] = -Y[0]
    found = solve(Problem(Block(X), Y, 1.0, free=F))
    assert set(found.conflicts) >= {0, 25}


@pytest.mark.parametrize("constraint", ["margin", "equality"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("p", [0.85, 1.0])
def test_weights_of_samples_are_repetitions(p, shape, constraint):
    """The cost at which W leaves the model of the rows that are not penalised, and the optimum at a multiple of it."""
    one = replace(problem(3, shape, p, constraint), C=None)
    counts = np.random.default_rng(0).integers(1, 4, len(one.Y))
    repeated = Problem(Block(one.X.Z.repeat(counts, 0)), one.Y.repeat(counts, 0), p, constraint)
    repeated = replace(repeated, free=one.F.repeat(counts, 0))
    weighted = replace(one, X=Block(one.X.Z, sample_weight=counts.astype(float)), importance=counts.astype(float))
    assert entry_C(weighted) == pytest.approx(entry_C(repeated), rel=1e-9)
    found, expected = (solve(each.with_C(auto_C(each, entry_C(each))), tol=1e-8) for each in (weighted, repeated))
    assert found.objective == pytest.approx(expected.objective, rel=1e-7)
    np.testing.assert_allclose(found.W, expected.W, atol=1e-6)
    np.testing.assert_allclose(found.free, expected.free, atol=1e-6)


def spaces(seed, m=150, n=200, c=3):
    rng = np.random.default_rng(seed)
    X, Y, d = rng.normal(size=(m, n)), rng.choice([-1.0, 1.0], (m, c)), rng.uniform(0.1, 3, n)
    slack = rng.uniform(5, 30, (m, 1)) * np.ones(c)
    return X, Y, d, SmallerSpace(Block(X), Y, 1 / slack, np.empty((m, 0)), rows_return=False, n_plain=0)


@pytest.mark.parametrize("seed", range(3))
def test_samples_and_features_give_the_same_inner_optimum(seed, monkeypatch):
    X, Y, d, either = spaces(seed)
    either.features.limits.clear()
    rows = np.arange(X.shape[1])
    found = []
    for work in (0.0, np.inf):
        monkeypatch.setattr(either.features, "work", lambda *_, work=work: work)
        found.append(either.solve(rows, Block(X), d, Y))
    for name in ("W", "B", "G"):
        np.testing.assert_allclose(getattr(found[0], name), getattr(found[1], name), atol=1e-8)
    assert found[0].cost == pytest.approx(found[1].cost)
    G = found[0].G
    matrices = [inner.curvature.matrix(Block(X), rows, G, None) for inner in found]
    np.testing.assert_allclose(*matrices, atol=1e-7 * np.abs(matrices[0]).max())


@pytest.mark.parametrize("shape", [(150, 200), (150, 100)])
def test_the_first_point_is_that_of_all_samples_free(shape):
    X, Y, d, either = spaces(0, *shape)
    s = either.gram.loss.slack
    inner = either.solve(np.arange(shape[1]), Block(X), d, None)
    assert not inner.exact
    W = d[:, None] * X.T @ np.linalg.solve((X * d) @ X.T + np.diag(s[:, 0]), Y)
    np.testing.assert_allclose(inner.W, W, atol=1e-5 * np.abs(W).max())  # by a factor in float32
    missing = np.maximum(1 - Y * (X @ inner.W), 0)
    assert inner.cost == pytest.approx(0.5 * np.sum(missing**2 / s))
    np.testing.assert_allclose(inner.G, X.T @ (Y * missing / s), atol=1e-9)


def test_after_an_exact_step_none_is_rough(monkeypatch):
    """A rough one would lose what the exact one gained."""
    monkeypatch.setattr(NearOptimum, "suits", lambda self, X, B: B is None or X.n_columns < 200)
    X, _, _, either = spaces(0)
    either.rough_steps = 5
    either.features.limits.clear()
    inner, exact = None, []
    for n in (200, 200, 100):
        inner = either.solve(np.arange(n), Block(X[:, :n]), np.ones(n), None if inner is None else inner.B)
        exact.append(inner.exact)
    assert exact == [False, True, True]


@pytest.mark.parametrize("seed", range(3))
def test_a_rough_step_without_a_row_tells_what_that_costs(seed):
    """On features it takes one Newton step, which only says more than the exact one; the next step is exact again."""
    problem = random_problem(seed, 300, 40, p=0.5, C=np.full((300, 3), 0.1))
    step, point = MarginStep(problem), None
    for _ in range(12):
        point = step(np.ones(problem.n_groups) if point is None else problem.penalty.weights(point.norms), point)
    d = problem.penalty.weights(point.norms)
    d[np.argmin(np.where(point.norms > 0, point.norms, np.inf))] = 0.0
    rough, exact = step.roughly(d, point), step(d, point)
    bounds = [
        0.5 * np.sum(at.W**2 / d[at.rows, None]) + at.objective - problem.penalty.value(at.norms)
        for at in (rough, exact)
    ]
    assert exact.exact
    assert bounds[1] * (1 - 1e-12) <= bounds[0] <= bounds[1] * 1.01
    assert step.roughly(d, exact).exact  # no sample changes sides


@pytest.mark.parametrize("shape", [(150, 200), (400, 30)])
@pytest.mark.parametrize("C", [None, 0.01])
def test_threads_change_nothing(shape, C, monkeypatch):
    rng = np.random.default_rng(0)
    m, n = shape
    y = np.arange(m) % 4
    X = rng.normal(size=shape) + 5 * rng.normal(size=(4, n))[y]
    Y = np.where(y[:, None] == np.arange(4), 1.0, -1.0)
    problem = Problem(Block(X), Y, 0.85, C=None if C is None else np.full(Y.shape, C))
    for module in (budget, linalg, pivoting):
        monkeypatch.setattr(module, "THREADED", 0)
    with threadpool_limits(1, user_api="blas"):
        alone = solve(problem).W
    with threadpool_limits(3, user_api="blas"):
        assert np.array_equal(solve(problem).W, alone)
