"""DSOSelectorCV."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from dsofs import DSOSelector, DSOSelectorCV
from tests.problems import random_data


@pytest.fixture(scope="module")
def data():
    return random_data(0, 45, 100, 3)


def test_results_hold_every_setting_and_the_best_is_chosen(data):
    X, y = data
    fit = DSOSelectorCV(ps=(0.5, 1.0), ks=(2, 8), cv=3).fit(X, y)
    results = fit.cv_results_
    settings = set(zip(results["param_p"], results["param_k"], strict=True))
    assert settings == {(p, k) for p in (0.5, 1.0) for k in (2, 8)}
    assert results.split_scores.shape == (4, 3)
    np.testing.assert_allclose(results["mean_test_score"], results.split_scores.mean(axis=1))
    assert fit.best_score_ == results["mean_test_score"].max()
    assert fit.best_params_ == {"p": fit.best_p_, "C": "auto", "k": fit.best_k_} == results["params"][fit.best_index_]
    assert fit.transform(X).shape[1] == fit.best_k_
    assert [step["p"] for step in fit.path_] == [1.0, 0.5]
    assert all(step["status"] == "converged" for step in fit.path_)


def test_one_p_is_the_plain_selector(data):
    X, y = data
    tuned, plain = DSOSelectorCV(7, ps=(1.0,), cv=3).fit(X, y), DSOSelector(7, p=1.0).fit(X, y)
    np.testing.assert_array_equal(tuned.ranking_, plain.ranking_)
    np.testing.assert_array_equal(tuned.coef_, plain.coef_)
    tuned.n_features_to_select = 3
    assert tuned.transform(X).shape[1] == 3


def test_the_path_keeps_fewer_rows_as_p_falls(data):
    X, y = data
    rows = [step["n_rows"] for step in DSOSelectorCV(cv=2).fit(X, y).path_]
    assert rows == sorted(rows, reverse=True)


def test_one_standard_error_takes_fewer_features():
    settings = [(None, 1.0, 2), (None, 1.0, 5), (None, 1.0, 10), (None, 0.5, 5)]
    scores = np.array([[0.5, 0.5, 0.5], [0.8, 0.8, 0.8], [0.7, 0.9, 0.95], [0.79, 0.8, 0.8]])
    best, careful = DSOSelectorCV(rule="best"), DSOSelectorCV(rule="one_se")
    best._choose(settings, scores)
    careful._choose(settings, scores)
    assert (best.best_p_, best.best_k_) == (1.0, 10)
    assert (careful.best_p_, careful.best_k_) == (1.0, 5)
    assert careful.best_score_ == pytest.approx(0.8)


def test_cost_of_slack_is_tuned_too(data):
    X, y = data
    fit = DSOSelectorCV(ps=(1.0,), Cs=(0.01, 1.0, None), cv=3).fit(X, y)
    assert [step["C"] for step in fit.path_] == [None, 1.0, 0.01]
    for step in fit.path_:  # each starts where the one before ended, and reaches the same optimum as from afar
        assert step["objective"] == pytest.approx(DSOSelector(p=1.0, C=step["C"]).fit(X, y).objective_, rel=2e-3)
    assert len({step["objective"] for step in fit.path_}) == 3
    words = DSOSelectorCV(ps=(1.0,), Cs=("auto", 1.0, None), cv=2).fit(X, y)
    assert list(words.cv_results_["param_C"]) == [None, 1.0, "auto"]


def test_a_price_at_which_all_rows_are_zero_does_not_stop_the_path(data):
    X, y = data
    fit = DSOSelectorCV(ps=(1.0, 0.5), Cs=(1e-6, 1.0), cv=2).fit(X, y)
    assert [step["status"] for step in fit.path_] == ["converged", "converged", "converged", "zero"]


def test_scoring_estimator_splitter_and_jobs(data):
    X, y = data
    options = {"ps": (0.5, 1.0), "cv": StratifiedKFold(3), "estimator": LogisticRegression(), "scoring": "f1_macro"}
    serial, parallel = DSOSelectorCV(**options).fit(X, y), DSOSelectorCV(**options, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(serial.cv_results_["mean_test_score"], parallel.cv_results_["mean_test_score"])
    chance = DSOSelectorCV(**options | {"estimator": DummyClassifier()}).fit(X, y)
    assert chance.best_score_ < 0.2 < serial.best_score_


def test_scores_are_those_of_a_fit_on_each_training_fold(data):
    """Leak-free by construction: the same numbers by hand."""
    X, y = data
    folds = StratifiedKFold(3)
    fit = DSOSelectorCV(6, ps=(1.0,), cv=folds, estimator=LogisticRegression()).fit(X, y)
    by_hand = []
    for train, test in folds.split(X, y):
        chosen = DSOSelector(6, p=1.0).fit(X[train], y[train])
        model = LogisticRegression().fit(chosen.transform(X[train]), y[train])
        by_hand.append(model.score(chosen.transform(X[test]), y[test]))
    np.testing.assert_allclose(fit.cv_results_.split_scores[0], by_hand)


def test_sparse_groups_ensembles_and_given_splits(data):
    X, y = data
    splits = list(StratifiedKFold(2).split(X, y))
    groups = np.arange(100) // 4
    fit = DSOSelectorCV(
        8, ps=(0.5, 1.0), cv=splits, estimator=RandomForestClassifier(5, random_state=0), feature_groups=groups
    ).fit(sparse.csr_array(X), y)
    assert fit.transform(X).shape == (45, 8 * 4)  # it counts groups
    assert fit.cv_results_.split_scores.shape == (2, 2)


def test_the_chosen_number_gives_way_to_a_new_one(data):
    X, y = data
    fit = DSOSelectorCV(ps=(1.0,), ks=(3, 5), cv=2).fit(X, y)
    assert fit.transform(X).shape[1] == fit.best_k_
    fit.n_features_to_select = 7
    assert fit.transform(X).shape[1] == 7


def test_no_more_folds_than_the_smallest_class_has_samples(data):
    X, y = data
    few = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1), np.flatnonzero(y == 2)[:3]]
    for cv in (10, np.int64(10)):
        fit = DSOSelectorCV(ps=(1.0,), cv=cv).fit(X[few], y[few])
        assert fit.cv_results_.split_scores.shape[1] == 3


def test_a_fold_may_lack_a_class_that_has_a_weight(data):
    X, y = data
    lacking = [(np.flatnonzero(y != 2), np.flatnonzero(y == 2)), (np.flatnonzero(y == y), np.flatnonzero(y != 2))]
    fit = DSOSelectorCV(ps=(1.0,), cv=lacking, class_weight={2: 2.0}).fit(X, y)
    assert fit.cv_results_.split_scores.shape == (1, 2)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (
            {"ps": (1.0, 2.5)},
            r"Each entry of the 'ps' parameter of DSOSelectorCV must be a float in the range \(0, 2\)",
        ),
        ({"ps": ()}, "must not be empty"),
        ({"cv": 1}, "The 'cv' parameter of DSOSelectorCV must be at least 2. Got 1 instead."),
        ({"ks": (0.5,)}, "Each entry of the 'ks' parameter"),
        ({"ks": (0,)}, "Each entry of the 'ks' parameter"),
        ({"Cs": (-1.0,)}, "Each entry of the 'Cs' parameter"),
        ({"Cs": ("cheap",)}, "Each entry of the 'Cs' parameter"),
        ({"Cs": ([1.0],)}, "Each entry of the 'Cs' parameter"),
        ({"rule": "worst"}, "The 'rule' parameter of DSOSelectorCV must be 'best' or 'one_se'. Got 'worst' instead."),
    ],
)
def test_bad_settings(data, parameter, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        DSOSelectorCV(**parameter).fit(X, y)
