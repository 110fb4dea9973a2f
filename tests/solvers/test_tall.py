"""More samples than features: the same optimum as ever, without an m x m matrix."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from dsofs import DSOSelector
from dsofs.design import Block
from dsofs.problem import Hinge, Squared, SquaredHinge, Status
from dsofs.solvers import solve
from dsofs.solvers.inner.features import FeatureSpace
from dsofs.solvers.inner.margin import GramSpace, MarginStep
from tests.problems import random_data, random_problem, separable_problem

pytestmark = pytest.mark.filterwarnings("ignore:loss='hinge'.*is deprecated:FutureWarning")


def noisy_problem(seed, m=150, n=20, c=3, **options):
    problem = random_problem(seed, m, n, c, **options)
    return problem.with_C(np.full(problem.Y.shape, 0.3))


@pytest.mark.parametrize("kind", [SquaredHinge, Squared])
@pytest.mark.parametrize("seed", range(5))
def test_newton_in_feature_space_finds_the_minimum(kind, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 6)), rng.choice([-1.0, 1.0], 80)
    d, slack = rng.uniform(0.1, 3, 6), rng.uniform(0.1, 3, 80)
    inner = FeatureSpace(Block(X), y[:, None], [kind(slack)], np.empty((len(y), 0))).solve(
        np.arange(6), Block(X), d, None
    )

    def objective(w):
        violation = 1 - y * (X @ w)
        violation = np.maximum(violation, 0) if kind is SquaredHinge else violation
        return 0.5 * np.sum(w**2 / d) + 0.5 * np.sum(violation**2 / slack)

    best = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    assert objective(inner.W[:, 0]) <= best.fun * (1 + 1e-9)
    np.testing.assert_allclose(inner.G, X.T @ inner.B, atol=1e-9)
    np.testing.assert_allclose(inner.W, d[:, None] * inner.G, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_hinge_multipliers_are_optimal(seed):
    """A Gram matrix of rank 8, for 120 samples of two classes that overlap."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(120, 8)), rng.choice([-1.0, 1.0], (120, 2))
    d, C = rng.uniform(0.1, 3, 8), rng.uniform(0.1, 2, (120, 2))
    inner = GramSpace(Y, Hinge(C), np.empty((len(Y), 0))).solve(np.arange(8), Block(X), d, None)
    A, margins = Y * inner.B, Y * (X @ inner.W)
    assert A.min() >= 0
    assert (C >= A).all()
    assert margins[A == 0].min() >= 1 - 1e-6
    assert margins[A == C].max() <= 1 + 1e-6
    assert inner.cost == pytest.approx(np.sum(C * np.maximum(1 - margins, 0)))
    np.testing.assert_allclose(inner.W, d[:, None] * (X.T @ inner.B), atol=1e-8)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, 1.0, 1.5])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_objective_never_rises_with_slack(p, loss):
    objective = np.array(solve(noisy_problem(3, p=p, loss=loss), tol=1e-4).history.objective)
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, 1.0, 1.5])
def test_the_objective_never_rises_on_support_vectors(p):
    solution = solve(separable_problem(1, 150, 40, 3, p=p))
    objective = np.array(solution.history.objective)
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()
    assert solution.status.short == "converged"


@pytest.mark.parametrize("seed", range(3))
def test_support_vectors_give_what_all_samples_give(seed):
    """The inner step on a few samples is the inner step on all of them."""
    problem = separable_problem(seed, 120, 30, 3)
    d = np.random.default_rng(seed).uniform(0.1, 2, problem.n_groups)
    few = MarginStep(problem)(d, None)
    wide = replace(problem, X=Block(np.hstack([problem.X.Z, np.zeros((120, 120))])))  # now m <= n: the Gram matrix
    every = MarginStep(wide)(np.append(d, np.ones(120)), None)
    np.testing.assert_allclose(few.W, every.W[: len(few.W)], atol=1e-7)
    assert few.objective == pytest.approx(every.objective, rel=1e-9)


def test_classes_that_can_be_separated_keep_hard_margins():
    """One class far away from two that overlap."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 10)), rng.integers(0, 3, 300)
    X[y == 2, 0] += 20
    with pytest.warns(UserWarning, match="cannot be separated"):
        fit = DSOSelector(p=1.0, C=None).fit(X, y)
    margins = np.where(y[:, None] == fit.classes_, 1, -1) * (X @ fit.coef_.T + fit.intercept_)
    assert margins[:, 2].min() >= 1 - 1e-6
    assert margins[:, :2].min() < 0
    assert fit.status_ == "converged_with_slack"
    assert len(fit.conflicts_)


@pytest.mark.parametrize("options", [{}, {"C": 0.1}, {"C": 0.1, "loss": "hinge"}, {"C": 0.1, "constraint": "equality"}])
def test_sparse_is_as_dense(options):
    X, y = random_data(0, 200, 15, 3)
    X[X < 0.5] = 0
    options = options or {"C": 1.0, "fit_intercept": False}
    dense, thin = (DSOSelector(**options).fit(A, y) for A in (X, sparse.csr_array(X)))
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*cannot be separated")
def test_memory_does_not_grow_with_the_square_of_the_samples():
    X, y = random_data(0, 20_000, 10, 3)
    limit = 64 * 2**20  # an m x m matrix would be 3 GB
    tracemalloc.start()
    fit = DSOSelector(C=None, memory_limit=limit).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fit.status_ == "converged_with_slack"
    assert peak < limit


@pytest.mark.parametrize("C", [1e4, 1e6])
@pytest.mark.parametrize(("m", "n", "c", "gap"), [(2000, 60, 3, 0.1), (3000, 100, 2, 0.05), (1000, 100, 4, 0.05)])
def test_costly_slack_comes_near_hard_margins(m, n, c, gap, C):
    hard = separable_problem(0, m, n, c, gap=gap)
    soft = solve(hard.with_C(np.full(hard.Y.shape, C)))
    assert soft.status is Status.CONVERGED
    assert soft.objective == pytest.approx(solve(hard).objective, rel=1e-3)
