"""Whatever is called converged passes an independent check, on unscaled data."""

import numpy as np
import pytest

from dsofs import DSOClassifier, RFSSelector
from dsofs.design import row_norms
from tests.problems import random_data

pytestmark = pytest.mark.filterwarnings("ignore:loss='hinge'.*is deprecated:FutureWarning")

POWERS = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.3]


def random_fit(seed):
    """A problem of random shape, units and parameters."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(4, 60))
    n, c = int(rng.integers(m + 5, 220)), int(rng.integers(2, min(6, m // 2) + 1))
    X, y = random_data(seed, m, n, c, correlated=bool(seed % 3 == 0))
    X = X * 10.0 ** rng.uniform(-4, 4, n) + 10.0 ** rng.uniform(-2, 2, n)
    options = {
        "p": POWERS[seed % len(POWERS)],
        "constraint": "equality" if seed % 5 == 0 else "margin",
        "feature_groups": np.arange(n) // 3 if seed % 4 == 0 else None,
    }
    return X, y, DSOClassifier(**options).fit(X, y)


@pytest.mark.parametrize("batch", range(10))
def test_corpus(batch):
    for seed in range(30 * batch, 30 * batch + 30):
        X, y, fit = random_fit(seed)
        Y = np.where(y[:, None] == fit.classes_, 1.0, -1.0)
        Y = Y[:, 1:] if len(fit.classes_) == 2 else Y
        margins = Y * (X @ fit.coef_.T + fit.intercept_)
        assert fit.status_ == "converged", seed
        assert margins.min() >= 1 - 1e-6, seed
        if fit.constraint == "equality":
            assert margins.max() <= 1 + 1e-6, seed
        certificate = fit.duality_gap_ if fit.p >= 1 else fit.stationarity_
        assert 0 <= certificate <= fit.tol, seed
        assert np.isfinite(fit.objective_), seed


def random_tall_fit(seed):
    """More samples than features: separable or not, with a cost of slack or without."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    m, c = int(rng.integers(n + 2, 8 * n + 40)), int(rng.integers(2, 5))
    X = rng.normal(size=(m, n))
    y = (X @ rng.normal(size=(n, c)) + (seed % 3) * rng.normal(size=(m, c))).argmax(axis=1)
    y[:c] = np.arange(c)
    X = X * 10.0 ** rng.uniform(-3, 3, n) + 10.0 ** rng.uniform(-2, 2, n)
    options = {
        "p": POWERS[seed % len(POWERS)],
        "C": None if seed % 2 else float(10.0 ** rng.uniform(0, 2)),
        "loss": "hinge" if seed % 4 == 0 else "squared_hinge",
        "constraint": "equality" if seed % 20 == 2 else "margin",
        "feature_groups": np.arange(n) // 2 if seed % 5 == 0 else None,
        "class_weight": "balanced" if seed % 6 == 0 else None,
    }
    return X, y, options


@pytest.mark.filterwarnings("ignore:.*cannot be (separated|met)", "ignore:.*W = 0 is the best")
@pytest.mark.parametrize("batch", range(10))
def test_tall_corpus(batch):
    for seed in range(20 * batch, 20 * batch + 20):
        X, y, options = random_tall_fit(seed)
        fit = DSOClassifier(**options).fit(X, y)
        certificate = fit.duality_gap_ if fit.p >= 1 else fit.stationarity_
        if fit.status_ == "zero":
            assert fit.p < 1, seed
            assert not fit.coef_.any(), seed
            assert not fit.intercept_.any(), seed
        else:
            assert fit.status_ in ("converged", "converged_with_slack"), (seed, options, fit.status_, certificate)
        assert 0 <= certificate <= fit.tol, seed
        if fit.C is not None:
            assert fit.objective_ == pytest.approx(objective(X, y, fit), rel=1e-6), seed
        elif fit.status_ == "converged":
            Y = np.where(y[:, None] == fit.classes_, 1.0, -1.0)[:, 1 if len(fit.classes_) == 2 else 0 :]
            assert (Y * (X @ fit.coef_.T + fit.intercept_)).min() >= 1 - 1e-6, seed


def objective(X, y, fit):
    """sum v_g ||W_g||^p + p C sum loss(slack), from the fitted attributes and the definition alone."""
    W = fit.coef_.T * X.std(axis=0)[:, None]
    bias = fit.intercept_ + fit.coef_ @ X.mean(axis=0)
    groups = np.arange(len(W)) if fit.feature_groups is None else fit.feature_groups
    W = W * fit.penalty_factor_[:, None] ** (1 / fit.p)
    norms = np.array([np.linalg.norm(W[groups == g]) for g in np.unique(groups)] + [np.linalg.norm(bias)])
    norms[norms < 1e-12 * norms.max()] = 0  # rounding of the bias, of which a small power is not small
    Y = np.where(y[:, None] == fit.classes_, 1.0, -1.0)[:, 1 if len(fit.classes_) == 2 else 0 :]
    slack = 1 - Y * (X @ fit.coef_.T + fit.intercept_)
    slack = np.abs(slack) if fit.constraint == "equality" else np.maximum(slack, 0)
    size = len(y) / (len(fit.classes_) * np.bincount(y)[y]) if fit.class_weight else np.ones(len(y))
    cost = slack if fit.loss == "hinge" and fit.constraint == "margin" else slack**2 / 2
    return np.sum(norms**fit.p) + fit.p * fit.C * np.sum(size[:, None] * cost)


def random_rfs(seed):
    """Classes or targets, more samples than features or fewer, any powers and costs."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(6, 90)), int(rng.integers(5, 160))
    c = int(rng.integers(2, min(6, m // 2) + 1))
    X, y = random_data(seed, m, n, c, correlated=bool(seed % 3 == 0))
    X = X * 10.0 ** rng.uniform(-4, 4, n) + 10.0 ** rng.uniform(-2, 2, n)
    p, q = rng.choice([0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.3, 1.5, 2.0], 2)
    options = {"p": p, "q": q, "lam": 10.0 ** rng.uniform(-2, 1)}
    if seed % 2:
        Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
        return X, Y[:, 1:] if c == 2 else Y, RFSSelector(1, **options).fit(X, y)
    Y = y[:, None] + rng.standard_t(2, size=(m, 2))
    return X, Y, RFSSelector(1, task="regression", **options).fit(X, Y)


@pytest.mark.filterwarnings("ignore:.*W = 0 is the best")
@pytest.mark.parametrize("batch", range(10))
def test_corpus_of_robust_fits(batch):
    for seed in range(30 * batch, 30 * batch + 30):
        X, Y, fit = random_rfs(seed)
        assert fit.status_ in ("converged", "zero"), seed
        W = (fit.coef_ * X.std(axis=0)).T
        if fit.status_ == "zero":
            assert np.abs(W).max() <= 1e-6, seed
            assert min(fit.p, fit.q) < 1, seed  # where convex, the gap tells
            continue
        certificate = fit.stationarity_ if min(fit.p, fit.q) < 1 else fit.duality_gap_
        assert 0 <= certificate <= fit.tol, seed
        residual = X @ fit.coef_.T + fit.intercept_ - Y
        bias = fit.intercept_ + fit.coef_ @ X.mean(axis=0) - (Y.mean(axis=0) if fit.task == "regression" else 0)
        penalty = fit.lam * np.sum(row_norms(np.vstack([W, bias])) ** fit.p)
        if min(fit.p, fit.q) >= 0.7:  # lower powers make much of rounding
            assert fit.objective_ == pytest.approx(np.sum(row_norms(residual) ** fit.q) + penalty, rel=1e-4), seed
