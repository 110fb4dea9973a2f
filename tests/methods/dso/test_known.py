"""What the user knows of the features: covariates, costs, features that must be chosen or must not."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dsofs import DSOClassifier, DSOSelector, DSOSelectorCV
from tests.problems import random_data

ESTIMATORS = [DSOSelector, DSOClassifier, DSOSelectorCV]


@pytest.fixture(scope="module")
def data():
    return random_data(5, 50, 80, 3)


def standardised(X, weights=None):
    mean = np.average(X, axis=0, weights=weights)
    return (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))


def factors(rng):
    """For 60 features, three of them free and three left out."""
    v = rng.choice([0.5, 1.0, 2.0], size=60)
    v[rng.permutation(60)[:6]] = [0, 0, 0, np.inf, np.inf, np.inf]
    return v


def optimum(X, y, v, bias, C=None, groups=None, weights=None):
    """sum v ||w|| at p = 1, on standardised features; ``bias`` is the factor of the bias."""
    Z, classes = standardised(X, weights), np.unique(y)
    Y = np.where(y[:, None] == classes, 1.0, -1.0)[:, -1 if len(classes) == 2 else 0 :]
    used = np.flatnonzero(np.isfinite(v))
    W, b, xi = cp.Variable((len(used), Y.shape[1])), cp.Variable((1, Y.shape[1])), cp.Variable(Y.shape)
    labels = np.arange(len(v)) if groups is None else groups
    penalty = bias * cp.norm(b, "fro")
    for group in np.unique(labels[used]):
        inside = labels[used] == group
        penalty += v[used][inside][0] * cp.norm(W[inside], "fro")
    reached = Z[:, used] @ W + np.ones((len(y), 1)) @ b
    constraints = [cp.multiply(Y, reached) >= 1 - xi]
    if C is None:
        constraints.append(xi == 0)
    counts = np.ones(len(y)) if weights is None else weights
    cost = 0 if C is None else 0.5 * C * cp.sum_squares(np.sqrt(np.diag(counts)) @ xi)
    return cp.Problem(cp.Minimize(penalty + cost), constraints).solve(solver="CLARABEL")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bias", [1.0, 0.0, 2.5])
@pytest.mark.parametrize("C", [None, 0.3])
def test_optimum(seed, bias, C):
    X, y = random_data(seed, 40, 60, 2 + seed % 2)
    v = factors(np.random.default_rng(seed))
    fit = DSOSelector(p=1.0, C=C, penalty_factor=v, intercept_penalty=bias, tol=1e-5).fit(X, y)
    assert fit.status_ == "converged"
    assert fit.objective_ == pytest.approx(optimum(X, y, v, bias, C), rel=1e-4)
    assert fit.duality_gap_ <= 1e-5
    assert not fit.coef_[:, np.isinf(v)].any()
    assert fit.coef_[:, v == 0].any(axis=0).all()
    np.testing.assert_array_equal(fit.penalty_factor_, v)
    # The objective again, from the coefficients alone.
    W, Y = (fit.coef_ * X.std(axis=0)).T, np.where(y[:, None] == fit.classes_, 1.0, -1.0)[:, -len(fit.coef_) :]
    b = fit.intercept_ + fit.coef_ @ X.mean(axis=0)
    missing = np.maximum(1 - Y * (X @ fit.coef_.T + fit.intercept_), 0)
    used = np.isfinite(v)
    value = (v[used] * np.linalg.norm(W[used], axis=1)).sum() + bias * np.linalg.norm(b)
    value += 0 if C is None else 0.5 * C * np.sum(missing**2)
    assert value == pytest.approx(fit.objective_, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bias", [1.0, 0.0])
@pytest.mark.parametrize("C", [None, 0.3])
def test_optimum_with_sample_weights(seed, bias, C):
    X, y = random_data(seed, 40, 60, 2 + seed % 2)
    rng = np.random.default_rng(seed)
    v, weights = factors(rng), rng.uniform(0.2, 3, 40)
    fit = DSOSelector(p=1.0, C=C, penalty_factor=v, intercept_penalty=bias, tol=1e-5).fit(X, y, sample_weight=weights)
    assert fit.objective_ == pytest.approx(optimum(X, y, v, bias, C, weights=weights), rel=1e-4)
    assert fit.duality_gap_ <= 1e-5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bias", [1.0, 0.0])
@pytest.mark.parametrize("p", [0.5, 0.85, 1.0])
def test_stationary_by_the_coefficients_alone(seed, bias, p):
    """X_i'(Y o A) = v_i ||w_i||^(p-2) w_i on the support, 0 for free rows, at most v_i at p = 1; A = C xi by W."""
    X, y = random_data(seed, 40, 60, 2 + seed % 2)
    v, C = factors(np.random.default_rng(seed)), 0.3
    fit = DSOSelector(p=p, C=C, penalty_factor=v, intercept_penalty=bias, tol=1e-6, max_iter=2000).fit(X, y)
    W = np.vstack([(fit.coef_ * X.std(axis=0)).T, fit.intercept_ + fit.coef_ @ X.mean(axis=0)])
    Z, v = np.column_stack([standardised(X), np.ones(40)]), np.append(v, bias)
    Y = np.where(y[:, None] == fit.classes_, 1.0, -1.0)[:, -len(fit.coef_) :]
    G, norms = Z.T @ (Y * C * np.maximum(1 - Y * (Z @ W), 0)), np.linalg.norm(W, axis=1)
    support = (norms > 1e-6 * norms.max()) & (v > 0)
    assert support[:-1].any()
    pull = (v[support] * norms[support] ** (p - 2))[:, None] * W[support]
    np.testing.assert_allclose(G[support], pull, atol=1e-3 * np.linalg.norm(pull, axis=1).max())
    assert np.abs(G[v == 0]).max() < 1e-8
    if p == 1:
        assert (np.linalg.norm(G, axis=1)[v > 0] <= (1 + 1e-3) * v[v > 0]).all()


@pytest.mark.parametrize("seed", range(3))
def test_optimum_with_groups(seed):
    X, y = random_data(seed, 40, 60, 3)
    groups = np.arange(60) // 3
    v = np.ones(60)
    v[:3], v[3:6], v[6:12] = 0.0, np.inf, 3.0
    fit = DSOSelector(p=1.0, C=0.5, feature_groups=groups, penalty_factor=v, tol=1e-5).fit(X, y)
    assert fit.objective_ == pytest.approx(optimum(X, y, fit.penalty_factor_, 1.0, 0.5, groups), rel=1e-4)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("p", [0.85, 1.0, 1.5])
@pytest.mark.parametrize("C", ["auto", None])
@pytest.mark.parametrize("shape", [(50, 80), (300, 10)])
@pytest.mark.filterwarnings("ignore:.*the classes cannot be separated:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_variant(estimator, p, C, shape):
    X, y = random_data(2, *shape, 3)
    settings = {"ps": (p,), "Cs": (C,), "cv": 2} if estimator is DSOSelectorCV else {"p": p, "C": C}
    settings |= {} if estimator is DSOClassifier else {"n_features_to_select": 5}
    fit = estimator(penalty_factor={0: 0.0, 1: 5.0}, include=[4], exclude=[2, 3], intercept_penalty=0.0, **settings)
    fit.fit(X, y)
    assert not fit.coef_[:, 2:4].any()
    assert fit.coef_[:, 0].any()
    if estimator is not DSOClassifier:
        assert fit.ranking_[4] == 1
        assert set(fit.ranking_[[0, 2, 3]]) == set(range(shape[1] - 2, shape[1] + 1))


@pytest.mark.parametrize("ranking", ["forward", "survival", "norm"])
def test_included_come_first_in_the_order_given_and_count(data, ranking):
    X, y = data
    fit = DSOSelector(4, include=[30, 7], exclude=[0, 1], ranking=ranking).fit(X, y)
    assert list(fit.ranking_[[30, 7]]) == [1, 2]
    assert set(fit.ranking_[[0, 1]]) == {79, 80}
    assert fit.get_support().sum() == 4
    assert list(np.argsort(-fit.scores_)[:2]) == [30, 7]
    fit.n_features_to_select = None
    assert fit.get_support().sum() == 39


def test_what_is_never_selected_is_not_even_when_all_are_asked_for(data):
    X, y = data
    with pytest.warns(UserWarning, match="X has only 77 features"):
        fit = DSOSelector(80, penalty_factor={3: 0}, exclude=[4, 5]).fit(X, y)
    assert set(np.flatnonzero(~fit.get_support())) == {3, 4, 5}


def test_names_and_positions_mean_the_same(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(80)])
    by_name = DSOSelector(include=["gene 9"], exclude=["gene 2"], penalty_factor={"gene 5": 0.0}).fit(frame, y)
    by_place = DSOSelector(include=[9], exclude=np.arange(80) == 2, penalty_factor={5: 0.0}).fit(X, y)
    np.testing.assert_array_equal(by_name.ranking_, by_place.ranking_)


def test_a_cost_moves_a_feature_back_and_a_discount_forward(data):
    X, y = data
    plain = DSOSelector(p=1.0, C=0.3, ranking="norm").fit(X, y)
    first, second = (int(feature) for feature in np.argsort(plain.ranking_)[:2])
    costly = DSOSelector(p=1.0, C=0.3, ranking="norm", penalty_factor={first: 3.0}).fit(X, y)
    cheap = DSOSelector(p=1.0, C=0.3, ranking="norm", penalty_factor={second: 0.3}).fit(X, y)
    assert costly.ranking_[first] > 1
    assert np.linalg.norm(cheap.coef_[:, second]) > np.linalg.norm(plain.coef_[:, second])
    forward = DSOSelector(ranking="forward").fit(X, y)
    best = int(np.argmin(forward.ranking_))
    assert DSOSelector(ranking="forward", penalty_factor={best: 4.0}).fit(X, y).ranking_[best] > 1


def test_a_copy_of_a_covariate_is_worth_nothing(data):
    X, y = data
    first = int(np.argmin(DSOSelector().fit(X, y).ranking_))
    twice = np.column_stack([X, X[:, first]])
    fit = DSOSelector(penalty_factor={first: 0.0}).fit(twice, y)
    assert np.abs(fit.coef_[:, -1] * X[:, first].std()).max() < 1e-6
    assert fit.ranking_[-1] > 10


def test_covariates_that_depend_on_each_other_do_no_harm(data):
    X, y = data
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(50)])
    fit = DSOSelector(penalty_factor={0: 0, 1: 0, 80: 0, 81: 0}, intercept_penalty=0).fit(X, y)
    plain = DSOSelector(penalty_factor={0: 0, 1: 0}, exclude=[80, 81], intercept_penalty=0).fit(X, y)
    assert fit.status_ == "converged"
    assert fit.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_covariates_that_separate_the_classes_leave_nothing_to_do(data):
    X, y = data
    X = np.column_stack([X, y == 0, y == 1])
    with pytest.warns(UserWarning, match=r"separate the classes alone: no other is needed\. Leave some of them out"):
        fit = DSOSelector(C=None, penalty_factor={80: 0, 81: 0}, intercept_penalty=0).fit(X, y)
    assert fit.status_ == "nothing_left"
    assert not fit.coef_[:, :80].any()


def test_sparse_is_as_dense(data):
    X, y = data
    X = X * (np.random.default_rng(0).random(X.shape) < 0.3)
    settings = {"penalty_factor": {0: 0.0, 1: 3.0}, "include": [7], "intercept_penalty": 0.0, "tol": 1e-6}
    dense, thin = (DSOSelector(**settings).fit(kind(X), y) for kind in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(dense.coef_, thin.coef_, atol=1e-6)
    np.testing.assert_array_equal(dense.ranking_, thin.ranking_)


WRONG = {
    "'include' parameter of DSOSelector must hold names": {"include": ["nobody"]},
    "'exclude' parameter of DSOSelector must hold names": {"exclude": [80]},
    "'penalty_factor' parameter of DSOSelector must hold a number": {"penalty_factor": np.ones(3)},
    "must hold a number of at least 0": {"penalty_factor": np.full(80, -1.0)},
    "cannot both include and exclude": {"include": [1], "exclude": [1]},
    "must be at least 3, the number of features": {"include": [1, 2, 3], "n_features_to_select": 2},
    "must be at least 2, the number of features": {
        "include": [1, 2, 3],
        "n_features_to_select": 1,
        "feature_groups": np.arange(80) // 2,
    },
    "no feature to choose from": {"penalty_factor": np.zeros(80)},
    "'intercept_penalty' parameter of DSOSelector must be": {"intercept_penalty": -1.0},
    "only with solver='joint'": {"include": [1], "solver": "alternating", "C": None},
    "must be the same for all features of a group": {
        "penalty_factor": np.arange(80.0) + 1,
        "feature_groups": np.arange(80) // 2,
    },
}


@pytest.mark.parametrize("sentence", WRONG)
def test_refused(data, sentence):
    with pytest.raises(ValueError, match=sentence):
        DSOSelector(**WRONG[sentence]).fit(*data)


def test_a_group_that_is_included_counts_once(data):
    fit = DSOSelector(1, include=[2, 3], feature_groups=np.arange(80) // 2).fit(*data)
    assert fit.get_support(indices=True).tolist() == [2, 3]


def test_a_path_goes_on_where_covariates_leave_nothing_to_do(data):
    """The next p starts anew: there is no row to start from."""
    X, y = data
    X = np.column_stack([X, y == 0, y == 1])
    with pytest.warns(UserWarning, match="separate the classes alone"):
        fit = DSOSelectorCV(3, ps=(1.0, 0.5), cv=2, penalty_factor={80: 0, 81: 0}, intercept_penalty=0).fit(X, y)
    assert fit.get_support().sum() == 3
