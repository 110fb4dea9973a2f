"""LassoSelector against scikit-learn's models and the optimality conditions, and as a user meets it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, MultiTaskLasso, lars_path

from dsofs import LassoSelector
from dsofs.methods.lasso import descent as computation
from dsofs.methods.lasso.descent import SOLVERS
from tests.problems import label_columns, random_data, standardised

TIGHT = {"tol": 1e-12, "max_iter": 100_000}
CLOSE = {"sklearn": 1e-6, "celer": 1e-4}  # celer ends at a gap of tol; scikit-learn goes a pass further


@pytest.fixture(params=CLOSE)
def solver(request):
    if request.param != "sklearn":
        pytest.importorskip(request.param, reason="the extra 'fast' is not installed")
    return request.param


def problem(seed):
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, int(rng.integers(30, 60)), int(rng.integers(20, 100)), 2 + seed % 4)
    return X * 10.0 ** rng.integers(-2, 3, X.shape[1]) + 5, y


def residual(fit, X, Y):
    return Y - (X @ fit.coef_.T + fit.intercept_)


@pytest.mark.parametrize("seed", range(20))
def test_equals_scikit_learn(seed, solver):
    """||Xw - y||^2 + lam ||w||_1 is scikit-learn's objective times 2m: alpha = lam / (2m)."""
    X, y = problem(seed)
    lam = [0.5, 3.0, 10.0][seed % 3]
    fit = LassoSelector(lam=lam, solver=solver, **TIGHT).fit(X, y)
    for j, column in enumerate(label_columns(y).T):
        reference = Lasso(lam / (2 * len(X)), **TIGHT).fit(standardised(X), column)
        close = {"atol": CLOSE[solver], "rtol": 0}
        np.testing.assert_allclose(fit.coef_[j] * X.std(axis=0), reference.coef_, **close)
        np.testing.assert_allclose(X @ fit.coef_[j] + fit.intercept_[j], reference.predict(standardised(X)), **close)


@pytest.mark.parametrize("seed", range(10))
def test_multi_task_equals_scikit_learn(seed):
    X, y = problem(seed)
    Y = label_columns(y)
    fit = LassoSelector(lam=6.0, multi_task=True, **TIGHT).fit(X, y)
    reference = MultiTaskLasso(6.0 / (2 * len(X)), **TIGHT).fit(standardised(X), Y)
    np.testing.assert_allclose(fit.coef_ * X.std(axis=0), reference.coef_, atol=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_working_sets_that_grow_end_at_the_optimum_over_all_features(share, monkeypatch):
    """Starting from two features, far fewer than the model has."""
    monkeypatch.setattr(computation, "FEWEST_FEATURES", 2)
    X, y = random_data(4, 60, 500, 4)
    model = LassoSelector(multi_task=True, **TIGHT).fit(X, y)
    model.set_params(lam=share * model.lam_max_).fit(X, y)
    reference = MultiTaskLasso(model.lam_ / (2 * len(X)), **TIGHT).fit(standardised(X), label_columns(y))
    assert np.count_nonzero(reference.coef_.any(axis=0)) > 2
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), reference.coef_, atol=1e-6)


@pytest.mark.parametrize("multi_task", [False, True])
def test_conditions_of_the_optimum_hold_in_the_units_of_the_formula(multi_task):
    """2 |x_i' r| = lam where w_i is not zero, and at most lam elsewhere: known without any solver."""
    X, y = random_data(3, 40, 90, 3)
    lam = 12.0
    fit = LassoSelector(lam=lam, multi_task=multi_task, **TIGHT).fit(X, y)
    pull = 2 * standardised(X).T @ residual(fit, X, label_columns(y))
    size = np.linalg.norm(pull, axis=1) if multi_task else np.abs(pull)
    used = np.any(fit.coef_ != 0, axis=0) if multi_task else fit.coef_.T != 0
    assert 0 < used.sum() < used.size
    np.testing.assert_allclose(size[used], lam, rtol=1e-5)
    assert (size[~used] <= lam * (1 + 1e-6)).all()


@pytest.mark.parametrize("multi_task", [False, True])
def test_weights_leave_zero_at_lam_max(multi_task):
    X, y = random_data(4, 40, 60, 3)
    default = LassoSelector(multi_task=multi_task).fit(X, y)
    assert default.lam_ == pytest.approx(0.1 * default.lam_max_)
    above, below = (
        LassoSelector(lam=share * default.lam_max_, multi_task=multi_task, **TIGHT).fit(X, y).coef_
        for share in (1.001, 0.999)
    )
    assert not above.any()
    assert below.any()


@pytest.mark.parametrize("multi_task", [False, True])
def test_path_holds_the_fit_at_every_lam(multi_task, solver):
    X, y = problem(1)
    model = LassoSelector(multi_task=multi_task, solver="auto" if multi_task else solver, **TIGHT)
    lams = [5.0, 40.0, 0.8]  # in the order given
    path = model.path(X, y, lams)
    assert not hasattr(model, "coef_")
    np.testing.assert_array_equal(path.lams, lams)
    for lam, coef, intercept in zip(lams, path.coef, path.intercept, strict=True):
        fit = LassoSelector(lam=lam, multi_task=multi_task, **TIGHT).fit(X, y)
        np.testing.assert_allclose(coef * X.std(axis=0), fit.coef_ * X.std(axis=0), atol=1e-4)
        np.testing.assert_allclose(X @ coef.T + intercept, X @ fit.coef_.T + fit.intercept_, atol=1e-4)


def gap_of(X, y, w, lam):
    """The duality gap of the half of the objective, from its definition."""
    r = y - X @ w
    feasible = r * min(1.0, lam / np.abs(2 * X.T @ r).max())
    return (r @ r + lam * np.abs(w).sum()) / 2 - (y @ y - (y - feasible) @ (y - feasible)) / 2


@pytest.mark.parametrize("shape", [(30, 200), (200, 30), (60, 60)], ids=["wide", "tall", "square"])
@pytest.mark.parametrize("equal_columns", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_cheap_weights_are_as_good_as_those_of_lars(seed, shape, equal_columns):
    """Down to interpolation, from larger lams and from 0, without a warning; LARS is shown each column once."""
    X, y = random_data(seed, *shape, 3, correlated=True)
    n = X.shape[1]
    if equal_columns:
        X = np.hstack([X, X, -X[:, :5]])
    Z, Y, lam = standardised(X), label_columns(y), 1e-3
    model = LassoSelector(5, lam=lam, solver="sklearn", tol=1e-8)
    for coef in (model.fit(X, y).coef_, model.path(X, y, [lam]).coef[0]):
        for column, w in zip(Y.T - Y.T.mean(axis=1, keepdims=True), coef * X.std(axis=0), strict=True):
            assert gap_of(Z, column, w, lam) <= 1e-8 * (column @ column) * 1.01
            _, _, path = lars_path(Z[:, :n], column, method="lasso", alpha_min=lam / (2 * len(Z)), max_iter=5000)
            best = path[:, -1]
            assert np.abs(w).sum() == pytest.approx(np.abs(best).sum(), rel=1e-2)
            np.testing.assert_allclose(Z @ w, Z[:, :n] @ best, atol=1e-3)


def test_too_few_steps_are_said():
    X, y = random_data(0, 30, 200, 3, correlated=True)
    with pytest.warns(ConvergenceWarning, match="its duality gap is .* was asked for"):
        LassoSelector(5, solver="sklearn", max_iter=1).path(X, y, [1e-3])


@pytest.mark.parametrize("multi_task", [False, True])
def test_fits_of_one_path_equal_single_ones(multi_task):
    X, y = random_data(3, 30, 80, 3)
    model = LassoSelector(5, multi_task=multi_task, solver="sklearn", **TIGHT)
    settings = [{"lam": 0.5}, {"lam": 20.0}, {"lam_share": 0.3}]
    for fit, given in zip(model.fit_each(X, y, settings), settings, strict=True):
        single = LassoSelector(5, multi_task=multi_task, solver="sklearn", **TIGHT, **given).fit(X, y)
        assert fit.get_params() == single.get_params()
        assert fit.lam_ == single.lam_
        np.testing.assert_allclose(fit.coef_, single.coef_, atol=1e-6)
        np.testing.assert_array_equal(fit.transform(X), single.transform(X))
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="'lam' parameter of LassoSelector must be"):
        model.fit_each(X, y, [{"lam": -1.0}])


def test_default_path_starts_where_the_weights_leave_zero():
    X, y = random_data(5, 40, 60, 2)
    path = LassoSelector().path(X, y)
    assert path.coef.shape == (100, 1, 60)
    used = np.count_nonzero(path.coef[:, 0], axis=1)
    assert used[0] == 0
    assert used[1] > 0
    assert used[-1] > 20


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_intercept_and_scaling(standardize, fit_intercept):
    X, y = random_data(6, 50, 20, 2)
    X = X + 3
    fit = LassoSelector(lam=5.0, standardize=standardize, fit_intercept=fit_intercept, **TIGHT).fit(X, y)
    Z = standardised(X) if standardize else X
    reference = Lasso(5.0 / 100, fit_intercept=fit_intercept, **TIGHT).fit(Z, label_columns(y)[:, 0])
    np.testing.assert_allclose(X @ fit.coef_[0] + fit.intercept_[0], reference.predict(Z), atol=1e-6)


def test_features_of_weight_zero_are_ranked_by_how_near_they_are_to_entering():
    X, y = random_data(7, 40, 80, 3)
    fit = LassoSelector(lam=30.0, multi_task=True, **TIGHT).fit(X, y)
    used = np.any(fit.coef_ != 0, axis=0)
    assert set(fit.ranking_[used]) == set(range(1, used.sum() + 1))
    pull = np.linalg.norm(standardised(X).T @ residual(fit, X, label_columns(y)), axis=1)
    order = np.argsort(fit.ranking_)[used.sum() :]
    assert (np.diff(pull[order]) <= 1e-9).all()


def test_classes_in_parallel_give_the_same_model():
    X, y = random_data(8, 40, 80, 4)
    np.testing.assert_array_equal(LassoSelector(n_jobs=2).fit(X, y).coef_, LassoSelector().fit(X, y).coef_)


def test_sparse_equals_dense():
    X, y = random_data(9, 40, 60, 3)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.3)
    model = LassoSelector(solver="sklearn", **TIGHT)
    np.testing.assert_allclose(model.fit(sparse.csr_array(X), y).coef_, model.fit(X, y).coef_, atol=1e-8)


def test_auto_needs_no_extra():
    assert SOLVERS["auto"] is SOLVERS["sklearn"]


def test_memory_is_refused_before_it_is_taken():
    with pytest.raises(MemoryError, match="LassoSelector needs about"):
        LassoSelector(memory_limit=100).fit(*random_data(0))


def test_memory_of_a_path_counts_all_of_its_models():
    X, y = random_data(0, 40, 500, 10)
    selector = LassoSelector(memory_limit=1_000_000)
    selector.fit(X, y)
    with pytest.raises(MemoryError, match="LassoSelector needs about"):
        selector.path(X, y)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"lam": 0}, r"The 'lam' parameter of LassoSelector must be a float in the range \(0, inf\) or None. Got 0"),
        ({"solver": "lars"}, "The 'solver' parameter .* must be 'auto' or 'sklearn' or 'celer'. Got 'lars' instead."),
        ({"multi_task": 1}, "The 'multi_task' parameter .* must be a bool. Got 1 instead."),
        ({"multi_task": True, "solver": "celer"}, "solver='celer' has no multi-task form"),
    ],
)
def test_bad_parameters(parameter, message):
    with pytest.raises(ValueError, match=message):
        LassoSelector(**parameter).fit(*random_data(0))


def test_bad_lams():
    with pytest.raises(ValueError, match="The 'lams' of LassoSelector must be a list of positive numbers"):
        LassoSelector().path(*random_data(0), lams=[1.0, -1.0])
