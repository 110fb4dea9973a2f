"""DSOSelector and DSOClassifier as a user meets them."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from dsofs import DSOClassifier, DSOSelector, DSOSelectorCV
from dsofs.ranking import RANKINGS
from tests.problems import random_data, real_data

pytestmark = pytest.mark.filterwarnings("ignore:loss='hinge'.*is deprecated:FutureWarning")


def top(selector, k):
    return set(np.flatnonzero(selector.ranking_ <= k))


@pytest.fixture(scope="module")
def data():
    return random_data(0, 40, 150, 3)


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("p", [0.3, 1.0, 1.5])
def test_ranking_is_one_permutation_in_the_order_of_the_scores(data, p, ranking):
    X, y = data
    fit = DSOSelector(p=p, ranking=ranking).fit(X, y)
    assert sorted(fit.ranking_) == list(range(1, 151))
    by_rank = fit.scores_[np.argsort(fit.ranking_)]
    assert (np.diff(by_rank) <= 0).all()
    assert (by_rank > 0).all()
    norms = np.linalg.norm(fit.coef_ * X.std(axis=0), axis=0)
    if ranking == "norm":
        support = np.count_nonzero(norms)
        np.testing.assert_array_equal(np.argsort(fit.ranking_)[:support], np.argsort(-norms)[:support])
        others = DSOSelector(p=p, ranking="survival").fit(X, y).ranking_
        np.testing.assert_array_equal(
            np.argsort(fit.ranking_)[support:], [i for i in np.argsort(others) if norms[i] == 0]
        )


def test_number_of_features_may_change_after_fit(data):
    X, y = data
    fit = DSOSelector(5).fit(X, y)
    for wanted, expected in [(5, 5), (1, 1), (0.1, 15), (None, 75), (1.0, 150), (1, 1)]:
        fit.n_features_to_select = wanted
        assert fit.transform(X).shape == (40, expected)
        assert fit.get_support().sum() == expected
    fit.n_features_to_select = 3
    np.testing.assert_array_equal(fit.inverse_transform(fit.transform(X))[:, fit.get_support()], fit.transform(X))


def test_more_features_than_there_are_keeps_all_and_says_so(data):
    X, y = data
    with pytest.warns(UserWarning, match="'n_features_to_select' parameter of DSOSelector is 200.*only 150 features"):
        fit = DSOSelector(200).fit(X, y)
    assert fit.transform(X).shape == X.shape


def test_coefficients_are_in_the_units_of_X(data):
    X, y = data
    X = X * np.linspace(1, 100, 150) + np.linspace(-50, 50, 150)
    fit = DSOClassifier(tol=1e-4).fit(X, y)
    Y = np.where(y[:, None] == fit.classes_, 1.0, -1.0)
    assert (Y * fit.decision_function(X)).min() >= 1 - 1e-6
    assert fit.score(X, y) == 1.0
    assert fit.coef_.shape == (3, 150)
    assert fit.intercept_.shape == (3,)


def test_two_classes_have_one_row_of_coefficients():
    X, y = random_data(1, 30, 80, 2)
    fit = DSOClassifier().fit(X, y)
    assert fit.coef_.shape == (1, 80)
    assert fit.decision_function(X).shape == (30,)
    assert fit.score(X, y) == 1.0


@pytest.mark.parametrize("labels", [["b", "a", "c"], [10, -3, 7], [True, False], np.array(["x", "y"], dtype=object)])
def test_labels_of_any_type(labels):
    X, y = random_data(2, 30, 60, len(labels))
    fit = DSOClassifier().fit(X, np.asarray(labels)[y])
    np.testing.assert_array_equal(np.sort(np.asarray(labels)), fit.classes_)
    np.testing.assert_array_equal(fit.predict(X), np.asarray(labels)[y])


def test_without_intercept():
    X, y = random_data(3, 30, 60, 3)
    fit = DSOClassifier(standardize=False, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(fit.intercept_, 0.0)


def test_certificates_are_attributes(data):
    X, y = data
    convex, sparse_fit = DSOSelector(p=1.0, tol=1e-3).fit(X, y), DSOSelector(p=0.5, tol=1e-3).fit(X, y)
    assert 0 <= convex.duality_gap_ <= 1e-3
    assert np.isnan(convex.stationarity_)
    assert 0 <= sparse_fit.stationarity_ <= 1e-3
    assert np.isnan(sparse_fit.duality_gap_)
    assert convex.status_ == sparse_fit.status_ == "converged"
    assert convex.conflicts_.size == 0
    assert set(convex.history_) == {"objective", "gap", "active", "seconds"}
    assert {len(values) for values in convex.history_.values()} == {convex.n_iter_}


def test_hitting_max_iter_warns_with_gap_tolerance_and_cure(data):
    X, y = data
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter .* after 2 steps: duality gap .*, tol 0.001. Raise max_iter"
    ):
        fit = DSOSelector(p=1.0, max_iter=2).fit(X, y)
    assert fit.status_ == "max_iter"


def test_the_default_price_of_slack_is_in_units_of_the_data(data):
    """As if given in numbers, in any units of X; where no feature is worth it, higher ones and hard margins follow."""
    X, y = data
    auto = DSOSelector(p=1.0, standardize=False).fit(X, y)
    Y = np.where(y[:, None] == auto.classes_, 1.0, -1.0)
    entry = np.linalg.norm(np.column_stack([X, np.ones(len(X))]).T @ Y, axis=1).max()
    given = DSOSelector(p=1.0, standardize=False, C=30 * Y.shape[1] ** 0.5 / entry).fit(X, y)
    np.testing.assert_allclose(auto.coef_, given.coef_)
    np.testing.assert_array_equal(DSOSelector().fit(X, y).ranking_, DSOSelector().fit(X * 1000, y).ranking_)
    exclusive_or = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    with (
        pytest.warns(UserWarning, match="cannot be separated"),
        pytest.warns(ConvergenceWarning, match="no linear rule does better than none"),
    ):
        DSOSelector(1).fit(*exclusive_or)


@pytest.mark.parametrize("p", [1.0, 0.5])
@pytest.mark.parametrize("C", ["auto", None])
@pytest.mark.parametrize("share", [0.1, 0.03])
def test_a_rare_class_is_not_left_to_the_bias(p, C, share):
    """Where few samples are of one class, the bias alone is right about most of them; the user wants features."""
    X, y = rare_class(share)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fit = DSOSelector(1, p=p, C=C).fit(X, y)
    assert top(fit, 1) == {3}
    assert np.abs(fit.coef_).max() > 1e-3 * np.abs(fit.intercept_)


@pytest.mark.parametrize("parameters", [{"C": 0.02}, {"loss": "hinge"}])
@pytest.mark.parametrize("p", [1.0, 0.5])
def test_where_the_bias_alone_is_best_it_says_so(parameters, p):
    """Plain hinge slack, at any price, gives up a class as rare as this one."""
    X, y = rare_class(0.05)
    with pytest.warns(UserWarning, match=r"no feature has a weight|cannot be separated"):
        fit = DSOSelector(1, p=p, **parameters).fit(X, y)
    assert top(fit, 1) == {3}


def rare_class(share):
    rng = np.random.default_rng(0)
    y = (np.arange(300) < share * 300).astype(int)
    X = rng.normal(size=(300, 8))
    X[:, 3] += 1.5 * y
    return X, y


def test_zero_weights_are_told_and_are_zero():
    X, y = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (5, 1)), [0, 1, 1, 0] * 5
    with pytest.warns(ConvergenceWarning, match="W = 0 is the best"):
        fit = DSOSelector(1, p=0.5, C=1.0).fit(X, y)
    assert fit.status_ == "zero"
    assert not fit.coef_.any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("p", [0.3, 0.7, 1.0, 1.5])
def test_the_objective_of_zero_weights_is_that_of_the_coefficients(p, loss):
    """Every slack is 1 then."""
    X, y = random_data(1, 30, 40, 3)
    fit = DSOClassifier(p=p, C=1e-4, loss=loss).fit(X, y)
    if fit.status_ == "zero":
        assert not fit.coef_.any()
        assert fit.objective_ == pytest.approx(p * 1e-4 * 30 * 3 * (1 if loss == "hinge" else 0.5), rel=1e-12)
    assert p >= 1 or fit.status_ == "zero"


def test_without_a_linear_rule_that_is_better_than_none_hard_margins_end_at_zero():
    X, y = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (5, 1)), [0, 1, 1, 0] * 5
    with pytest.warns(UserWarning, match=r"cannot be separated|no linear rule does better than none"):
        fit = DSOClassifier(p=0.5).fit(X, y)
    assert fit.status_ == "zero"
    assert fit.stationarity_ == 0
    assert not fit.coef_.any()


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_with_groups_the_number_to_select_counts_groups(wanted, data):
    X, y = data
    groups = np.arange(150) // 5
    fit = DSOSelector(wanted, feature_groups=groups).fit(X, y)
    chosen = groups[fit.get_support()]
    assert np.unique(chosen, return_counts=True)[1].tolist() == [5] * wanted
    assert sorted(fit.ranking_[fit.get_support()]) == list(range(1, 5 * wanted + 1))
    with pytest.warns(UserWarning, match="X has only 30 groups of features"):
        DSOSelector(31, feature_groups=groups).fit(X, y)


def test_groups_of_many_features_do_not_make_x_dense():
    X, y = random_data(0, 100, 20_000, 3)
    X = X.astype(np.float32)
    tracemalloc.start()
    DSOSelector(p=1.0, feature_groups=np.arange(20_000) % 20, memory_limit=2**23).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.size


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_bias_does_not_set_the_price_of_slack_for_features_in_other_units(unit):
    """Without standardising, and with classes of equal size, which tell nothing about the bias."""
    X, y = random_data(0, 40, 60, 2)
    fit = DSOSelector(3, p=1.0, standardize=False).fit(X * unit, y)
    margins = np.where(y == 1, 1, -1) * (X @ fit.coef_[0] * unit + fit.intercept_)
    assert np.median(margins) > 0.5


def test_a_power_in_single_precision_is_as_good(data):
    X, y = data
    fit = DSOSelector(p=np.float32(0.85)).fit(X, y)
    assert fit.history_["objective"].dtype == np.float64


@pytest.mark.parametrize("C", [1e12, 1e15])
def test_an_enormous_price_of_slack_is_no_traceback(C):
    X, y = random_data(0, 320, 8, 2, informative=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(DSOSelector(3, C=C).fit(X, y).coef_).all()


def test_a_constant_column_of_many_samples_gets_no_weight():
    rng = np.random.default_rng(0)
    y = (np.arange(1000) < 200).astype(int)
    X = rng.normal(size=(1000, 5)) + 0.5 * y[:, None]
    X[:, 0] = 0.1
    fit = DSOSelector(2).fit(X, y)
    assert fit.ranking_[0] == 5
    assert not fit.coef_[:, 0].any()


def test_verbose_prints_a_line_per_step(data, capsys):
    X, y = data
    fit = DSOSelector(verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 1 + fit.n_iter_


def test_classes_that_cannot_be_separated_warn_and_rank():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :10], y[:200]
    with pytest.warns(UserWarning, match=r"cannot be separated: \d+ samples contradict each other \(conflicts_\)"):
        fit = DSOSelector(3, C=None).fit(X, y)
    assert fit.status_ == "converged_with_slack"
    assert len(fit.conflicts_) >= 2
    assert np.isfinite(fit.scores_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert DSOClassifier().fit(X, y).score(X, y) > 0.9


def test_constant_columns_come_last(data):
    X, y = data
    X = X.copy()
    X[:, [3, 70]] = [5.0, 0.0]
    fit = DSOSelector(p=0.5).fit(X, y)
    assert set(fit.ranking_[[3, 70]]) == {149, 150}
    np.testing.assert_array_equal(fit.scores_[[3, 70]], 0.0)
    np.testing.assert_array_equal(fit.coef_[:, [3, 70]], 0.0)


def test_feature_groups_are_kept_together(data):
    X, y = data
    labels = np.array([f"block {i // 5}" for i in range(150)])
    fit = DSOSelector(p=0.5, feature_groups=labels).fit(X, y)
    alive = np.any(fit.coef_ != 0, axis=0).reshape(30, 5)
    assert (alive.all(axis=1) | ~alive.any(axis=1)).all()
    assert 0 < alive.any(axis=1).sum() < 30
    ranks = np.sort(fit.ranking_.reshape(30, 5), axis=1)
    assert (ranks[:, -1] - ranks[:, 0] == 4).all()


def test_class_weight_moves_the_slack():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    plain = DSOClassifier(C=0.1).fit(X, y).predict(X).mean()
    heavy = DSOClassifier(C=0.1, class_weight={0: 1, 1: 20}).fit(X, y).predict(X).mean()
    assert heavy > plain + 0.1


def test_weights_of_classes_that_are_digits_in_text():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    numbers, texts = (DSOClassifier(C=0.1, class_weight={label: 20}) for label in (1, "1"))
    np.testing.assert_array_equal(texts.fit(X, y.astype(str)).coef_, numbers.fit(X, y).coef_)


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_in_and_out(library):
    X, y = load_digits(return_X_y=True)
    frame = FRAMES[library]({f"pixel {i}": X[:60, i] for i in range(64)})
    fit = DSOSelector(4).fit(frame, y[:60]).set_output(transform=library)
    out = fit.transform(frame)
    assert isinstance(out, FRAMES[library])
    assert list(out.columns) == list(fit.get_feature_names_out())
    assert list(fit.feature_names_in_) == list(frame.columns)
    assert top(fit, 4) == top(DSOSelector(4).fit(X[:60], y[:60]), 4)


def test_in_pipelines_and_searches(data):
    X, y = data
    pipeline = make_pipeline(DSOSelector(10), LogisticRegression())
    search = GridSearchCV(pipeline, {"dsoselector__p": [0.5, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    selected = SelectFromModel(DSOClassifier(), max_features=7).fit_transform(X, y)
    assert selected.shape[1] <= 7


def test_refit_clone_and_pickle_are_identical(data):
    X, y = data
    fit = DSOSelector(p=0.7).fit(X, y)
    for other in (clone(fit).fit(X, y), pickle.loads(pickle.dumps(fit)), DSOSelector(p=0.7).fit(X, y).fit(X, y)):
        np.testing.assert_array_equal(other.ranking_, fit.ranking_)
        np.testing.assert_array_equal(other.coef_, fit.coef_)


def test_sparse_formats_give_the_same_ranking():
    X, y = random_data(4, 40, 120, 3)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.4)
    dense = DSOSelector(tol=1e-5).fit(X, y)
    support = np.count_nonzero(np.any(dense.coef_ != 0, axis=0))
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.coo_array):
        fit = DSOSelector(tol=1e-5).fit(kind(X), y)
        assert top(fit, support) == top(dense, support)
        np.testing.assert_allclose(fit.coef_, dense.coef_, atol=1e-6)


def test_planted_features_are_found():
    hits = {1.0: 0, 0.5: 0}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.arange(200) % 2
        X = rng.normal(size=(200, 3000))
        X[:, :10] += 1.5 * np.where(y == 1, 1, -1)[:, None]
        for p in hits:
            hits[p] += len(top(DSOSelector(p=p).fit(X, y), 10) & set(range(10))) >= 9
    assert all(count == 8 for count in hits.values())


@pytest.mark.parametrize("name", ["tox_171", "ar", "leukemia_mll", "brain_tumor_1", "umist", "orl"])
def test_certificate_on_real_data(name):
    X, y = real_data(name)
    fit = DSOSelector(100, p=1.0, C=None, tol=1e-3).fit(X, y)
    assert fit.status_ == "converged"
    assert fit.duality_gap_ <= 1e-3


@pytest.mark.parametrize("estimator", [DSOSelector, DSOClassifier, DSOSelectorCV])
def test_plain_hinge_is_deprecated_and_works(estimator):
    X, y = random_data(0, 20, 30, 2)
    with pytest.warns(FutureWarning, match="stall.*ten times as long.*Use loss='squared_hinge', the default") as caught:
        assert estimator(loss="hinge").fit(X, y).status_.startswith("converged")
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("estimator", [DSOSelector, DSOClassifier])
def test_n_jobs_without_effect_is_deprecated(estimator):
    X, y = random_data(0, 20, 30, 2)
    with pytest.warns(FutureWarning, match=rf"The 'n_jobs' parameter of {estimator.__name__} has no effect.*0\.2"):
        asked = estimator(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(asked.coef_, estimator().fit(X, y).coef_)
