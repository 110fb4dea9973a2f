"""Rows that go, enter or take the place of others: what they are worth, and that none is missed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dsofs import DSOClassifier
from dsofs.design import Block, Budget
from dsofs.solvers import acceleration, local_search, solve
from dsofs.solvers.inner.equality import EqualityStep
from dsofs.solvers.inner.margin import MarginStep
from dsofs.solvers.loop.reweight import reweight
from tests.problems import label_columns, random_data, random_problem, standardised


def phi(problem, weights):
    """What the weights are to minimise: 1/2 sum(A) + (2-p)/(2p) sum d^r."""
    p = problem.p
    misfit = np.sum(problem.Y * EqualityStep(problem)(weights, None).B) / 2
    return misfit + (2 - p) / (2 * p) * np.sum(weights ** (p / (2 - p)))


@pytest.mark.parametrize("p", [0.3, 0.5, 0.85])
def test_a_move_is_worth_what_was_estimated(p, monkeypatch):
    """Of one column, where no sample changes sides: with squared residuals all of them stay free."""
    monkeypatch.setattr(local_search, "EXCHANGES", 0)
    found = []
    for seed in range(6):
        C = np.full((150, 1), 20.0)
        problem = random_problem(seed, 150, 300, 2, p=p, correlated=True, constraint="equality", C=C)
        point = EqualityStep(problem)(problem.penalty.weights(problem.norms(solve(problem, tol=1e-9).W)), None)
        weights = problem.penalty.weights(point.norms)
        active, zero = np.flatnonzero(weights), np.flatnonzero(weights == 0)
        before = phi(problem, weights)
        removals = local_search._removals(problem, point)
        exchanges = local_search._exchanges(problem, point, active, zero)
        for moves in (removals, exchanges):
            for place in range(len(moves)):
                after = phi(problem, moves.part(slice(place, place + 1)).made(weights.copy()))
                found.append((moves.worth[place], before - after))
    estimated, true = np.array(found).T
    assert len(found) > 20
    np.testing.assert_allclose(estimated, true, rtol=1e-4, atol=1e-6 * before)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_row_enters_at_its_best_weight(p):
    rng = np.random.default_rng(0)
    g2, h = 10.0 ** rng.uniform(-1, 3, 50), 10.0 ** rng.uniform(-2, 2, 50)
    weight, worth = local_search.worth_of_entering(p, g2, h)
    for its_g2, its_h, d, found in zip(g2, h, weight, worth, strict=True):

        def loss(t, g2=its_g2, h=its_h):  # of the weight e^t
            return (1 / p - 0.5) * np.exp(t * p / (2 - p)) - 0.5 * np.exp(t) * g2 / (1 + np.exp(t) * h)

        # The best of the ends of a grid and the local minima between them.
        grid = np.linspace(-40, 40, 4001)
        start = grid[np.argmin(loss(grid))]
        best = minimize_scalar(loss, bounds=(start - 0.04, start + 0.04), method="bounded", options={"xatol": 1e-10})
        if best.fun < -1e-9:
            assert found == pytest.approx(-best.fun, rel=0.02)
            assert d == pytest.approx(np.exp(best.x), rel=0.2)
        else:
            assert d == 0
            assert found == -np.inf


@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("p", [0.5, 0.85])
def test_a_row_that_is_missing_enters(p, c, monkeypatch):
    """Below p = 1 a row of zeros stays one: without exchanges the loop ends without the best feature."""
    problem = random_problem(1, 150, 30, c, p=p)
    problem = problem.with_C(np.full_like(problem.Y, 1.0))
    best = solve(problem, tol=1e-6)
    weights = np.ones(problem.n_groups)
    weights[np.argmax(problem.norms(best.W))] = 0.0

    def objective():
        return reweight(problem, MarginStep(problem), tol=1e-6, max_iter=300, weights=weights).objective

    with_it = objective()
    monkeypatch.setattr(local_search, "EXCHANGES", 0)
    without = objective()
    assert without > 1.02 * best.objective
    assert with_it == pytest.approx(best.objective, rel=5e-3)


def test_a_row_takes_the_place_of_a_worse_one(monkeypatch):
    """A feature and noisy copies of it: one of these is in use, and the feature itself is a row of zeros."""
    X, y = random_data(3, 200, 20, 2)
    rng = np.random.default_rng(0)
    x = rng.normal(size=200) / 2 + y
    copies = x[:, None] + rng.normal(size=(200, 3)) / 3
    problem = random_problem(3, 200, 20, 2, p=0.85)
    Z = standardised(np.column_stack([x, copies, X[:, 5:]]))
    problem = replace(problem, X=Block(np.column_stack([Z, np.ones(200)])), C=np.full((200, 1), 0.5))
    weights = np.ones(problem.n_groups)
    weights[[0, 2, 3]] = 0.0
    norms = {}
    for exchanges in (0, 2):
        monkeypatch.setattr(local_search, "EXCHANGES", exchanges)
        solution = reweight(problem, MarginStep(problem), tol=1e-6, max_iter=300, weights=weights)
        norms[exchanges] = problem.norms(solution.W)
    assert norms[0][0] == 0 < norms[0][1]
    assert norms[2][1] < norms[2][0] / 5


def test_exchanges_lower_the_objective(monkeypatch):
    """On most correlated data; and the loop still ends at a stationary point, without a step that raises it."""
    changes = []
    for seed in range(12):
        X, y = random_data(seed, 150, 400, 3, correlated=True)
        fits = []
        for exchanges in (0, 2):
            monkeypatch.setattr(local_search, "EXCHANGES", exchanges)
            fits.append(DSOClassifier(p=0.85, C="auto").fit(X, y))
        without, fit = fits
        assert fit.status_ == "converged"
        assert (np.diff(fit.history_["objective"]) <= 1e-10 * fit.objective_).all()
        changes.append(fit.objective_ / without.objective_ - 1)
    assert np.mean(changes) < -1e-4
    assert np.max(changes) < 1e-3


def fit_and_objective(seed):
    """A converged fit, its weights with the bias as last row, and the objective of other weights, by definition."""
    rng = np.random.default_rng(seed)
    m, n, c = int(rng.integers(8, 50)), int(rng.integers(5, 120)), int(rng.integers(2, 5))
    X, y = random_data(seed, m, n, c)
    C = None if seed % 2 else float(10.0 ** rng.uniform(-0.5, 2))
    fit = DSOClassifier(p=[0.1, 0.3, 0.5, 0.7][seed % 4], C=C).fit(X, y)
    Z, Y = np.column_stack([standardised(X), np.ones(m)]), label_columns(y)

    def objective(W):
        margins = Y * (Z @ W)
        if C is None:
            if margins.min() <= 0:
                return np.inf
            W, margins = W / margins.min(), np.maximum(margins, 1.0)
        norms = np.linalg.norm(W, axis=1)
        norms[norms < 1e-12 * norms.max()] = 0.0
        return np.sum(norms**fit.p) + (0 if C is None else fit.p * C / 2 * np.sum(np.maximum(1 - margins, 0) ** 2))

    W = np.vstack([(fit.coef_ * X.std(axis=0)).T, fit.intercept_ + fit.coef_ @ X.mean(axis=0)])
    return fit, W, objective


@pytest.mark.filterwarnings("ignore:.*(W = 0 is the best|margins cannot be met|cannot be separated)")
@pytest.mark.parametrize("batch", range(4))
def test_no_row_can_be_set_to_zero_for_a_lower_objective(batch):
    for seed in range(20 * batch, 20 * batch + 20):
        fit, W, objective = fit_and_objective(seed)
        if fit.status_ not in ("converged", "zero"):
            continue
        reached = fit.objective_
        assert reached == pytest.approx(objective(W) if W.any() else reached, rel=1e-6), seed
        for row in np.flatnonzero(W.any(axis=1)):
            fewer = W.copy()
            fewer[row] = 0.0
            assert objective(fewer) >= reached * (1 - 1e-5), (seed, row)


@pytest.mark.parametrize("p", [0.1, 0.5])
@pytest.mark.parametrize("negated", [False, True])
def test_one_feature_ten_times_costs_as_much_as_once(p, negated):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x, others = rng.normal(size=(40, 1)) / 3 + 2 * y[:, None], rng.normal(size=(40, 5))
    copies = np.repeat(x, 10, axis=1) * (np.where(np.arange(10) % 2, -1, 1) if negated else 1)
    once, often = (DSOClassifier(p=p).fit(np.hstack([x_, others]), y) for x_ in (x, copies))
    assert often.objective_ == pytest.approx(once.objective_, rel=1e-9)
    assert np.count_nonzero(often.coef_) == np.count_nonzero(once.coef_)


def test_of_two_rows_that_replace_each_other_one_leaves_at_once(monkeypatch):
    """Either costs less than it is worth, both together cost more."""
    monkeypatch.setattr(local_search, "LEAVING_AT_ONCE", 1.0)
    d, g2, gain = np.ones(3), np.array([1.0, 1.0, 1.0]), np.array([0.68, 0.67, 0.67])
    M = np.array([[0.2, 0.2, 0.0], [0.2, 0.2, 0.0], [0.0, 0.0, 0.9]])
    assert local_search.superfluous(d, g2, M, gain) == [0]
    apart = M * np.eye(3)
    assert local_search.superfluous(d, g2, apart, gain) == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_leave_at_once_are_those_that_leave_slowly(seed, monkeypatch):
    """The loop ends at a stationary point that is about as good, and the objective never rises."""
    X, y = random_data(seed, 150, 60, 3)
    fits = []
    for at_once in (True, False):
        with monkeypatch.context() as patch:
            if not at_once:
                patch.setattr(acceleration, "has_estimates", lambda problem: False)
            fits.append(DSOClassifier(p=0.85, C="auto").fit(X, y))
    at_once, slowly = fits
    assert at_once.n_iter_ < slowly.n_iter_
    assert at_once.status_ == slowly.status_ == "converged"
    assert at_once.objective_ == pytest.approx(slowly.objective_, rel=0.02)
    assert (np.diff(at_once.history_["objective"]) <= 1e-10 * at_once.objective_).all()


@pytest.mark.parametrize("block", [2**21, 2**15])
def test_exchanges_need_room(block, monkeypatch):
    """With more samples than fit no columns are copied, as they would be of ten million samples."""
    monkeypatch.setattr(local_search, "EXCHANGES", 0)
    problem = random_problem(1, 600, 30, 2, p=0.5).with_C(np.ones((600, 1)))
    problem = replace(problem, X=Block(problem.X.on_host(), Budget(block, block)))
    point = MarginStep(problem)(problem.penalty.weights(problem.norms(solve(problem).W)), None)
    looked = []
    monkeypatch.setattr(local_search, "_promising", lambda *args: looked.append(args) or np.empty(0, dtype=np.intp))
    local_search.with_exchanged_rows(problem, MarginStep(problem), point)
    assert len(looked) == (block == 2**21)
