from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dsofs import METHODS
from dsofs.experiments.cells import ALL_FEATURES, REFERENCE, Cell, Tuned, run_cell, tune
from dsofs.experiments.protocols import CLEAN, CLEAN_QUICK, MANY_SAMPLES, PAPER, PAPER_QUICK
from dsofs.experiments.results import chosen_features
from dsofs.methods import Method
from dsofs.statistics.classifier import svm_scores
from dsofs.statistics.samples import Samples
from tests.problems import random_data


def samples(seed=0, m=60, n=30, c=3):
    return Samples(*random_data(seed, m, n, c))


class Counting:
    """The F-test, or noise; counts fits."""

    fits = 0

    def __init__(self, k, good):
        self.inner, self.good = METHODS["f_test"](k), good

    def fit(self, X, y):
        Counting.fits += 1
        self.inner.fit(X, y)
        self.ranking_ = self.inner.ranking_ if self.good else len(self.inner.ranking_) + 1 - self.inner.ranking_
        return self


def counting(k, seed=0, good=True):
    return Counting(k, good)


def test_tuning_agrees_with_grid_search():
    """The F-test ranks as SelectKBest does, so scikit-learn's own machinery is the judge."""
    data = samples(3)
    protocol = replace(CLEAN, svm_Cs=(1e-3, 1e-1, 1e1))
    (choice,) = tune(METHODS["f_test"], {}, protocol, data, trial=4, ks=[5])
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=5), SVC(kernel="linear"))
    cv = StratifiedKFold(3, shuffle=True, random_state=4)
    search = GridSearchCV(pipeline, {"svc__C": [1e-3, 1e-1, 1e1]}, cv=cv).fit(data.X, data.y)
    assert choice.svm_C == search.best_params_["svc__C"]
    assert choice.accuracy == pytest.approx(search.best_score_)
    assert choice.parameters == {}


def test_a_ranking_is_shared_by_all_svms_and_the_better_parameter_wins():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 40))
    X[:, :3] += 4 * np.eye(3)[y]
    Counting.fits = 0
    choices = tune(Method(counting, {"good": (False, True)}), {}, CLEAN, Samples(X, y), trial=0, ks=[3, 5])
    assert [choice.parameters for choice in choices] == [{"good": True}] * 2
    assert Counting.fits == 2 * 3  # parameters x folds, not times the values of C and the numbers of features


def test_each_number_of_features_is_tuned_by_itself():
    data, method = samples(2), METHODS["lasso"]
    together = tune(method, {}, CLEAN, data, trial=0, ks=[2, 5, 20])
    assert together == [tune(method, {}, CLEAN, data, trial=0, ks=[k])[0] for k in (2, 5, 20)]
    assert len({choice.accuracy for choice in together}) > 1
    assert tune(method, {}, replace(CLEAN, tuned_at=5), data, trial=0, ks=[2, 5, 20]) == [together[1]] * 3


def test_parameters_that_differ_with_k_select_each_for_itself(monkeypatch):
    """Rows of the same parameters share a selection, and the last of them has its features."""
    chosen = [Tuned({"good": k > 4}, 1.0) for k in (2, 4, 6, 8)]
    monkeypatch.setattr("dsofs.experiments.cells.tune", lambda *_: chosen)
    Counting.fits = 0
    data = samples()
    rows = run_cell(Cell("made", "counting", 0, (2, 4, 6, 8)), CLEAN, Method(counting, {"good": (False, True)}), data)
    assert Counting.fits == 2
    assert [row.k for row in rows if "features" in row.values] == [4, 8]
    order = np.argsort(CLEAN.split(data, 0).training.fit(METHODS["f_test"](8)).ranking_)
    (best,), (worst,) = chosen_features(rows, 6).values(), chosen_features(rows, 2).values()
    np.testing.assert_array_equal(best, order[:6])
    np.testing.assert_array_equal(worst, order[::-1][:2])


def test_the_paper_tunes_once_at_100_features():
    assert PAPER.tuning_ks([10, 50, 100], 500) == [100] * 3
    assert PAPER.tuning_ks([10, 30], 60) == [60] * 2
    assert PAPER.tuning_ks([500], 500) == [500]
    assert CLEAN.tuning_ks([10, 50, 100], 500) == [10, 50, 100]


def test_settings_that_share_their_work_choose_the_same():
    """The Lasso solves its values of lam as one path."""
    data = samples(5)
    alone = Method(lambda k, seed=0, **given: Alone(METHODS["lasso"](k, **given)), METHODS["lasso"].grid)
    assert tune(METHODS["lasso"], {}, CLEAN, data, 1, [5]) == tune(alone, {}, CLEAN, data, 1, [5])


class Alone:
    """Hides what a selector can do beyond fitting."""

    def __init__(self, selector):
        self.selector = selector

    def fit(self, X, y):
        self.ranking_ = self.selector.fit(X, y).ranking_
        return self


def test_without_tuning_the_defaults_are_taken():
    (choice,) = tune(METHODS["dso"], {}, CLEAN_QUICK, samples(), trial=0, ks=[5])
    assert (choice.parameters, choice.svm_C, choice.accuracy) == ({}, 1.0, None)


@pytest.mark.parametrize(("protocol", "m", "expected"), [
    (PAPER, MANY_SAMPLES - 1, 3), (PAPER, MANY_SAMPLES, 8), (CLEAN, 60, 3), (CLEAN, 240, 8),
])  # fmt: skip
def test_number_of_folds(protocol, m, expected):
    assert len(list(protocol.folds(samples(m=m, n=5), trial=0))) == expected


def test_a_class_that_folds_lack_does_no_harm():
    """Unstratified folds may leave a class, or all but one, out of the training part."""
    y = np.array([0] * 12 + [1] * 12 + [2])
    data = Samples(np.random.default_rng(0).normal(size=(25, 20)), y)
    assert tune(METHODS["f_test"], {}, PAPER, data, trial=0, ks=[5])[0].accuracy is not None
    two = Samples(data.X[:13], y[:13])
    assert len(list(PAPER.folds(two, trial=0))) == 2  # the third has nothing to learn


def test_the_clean_protocol_scales_by_training_samples_alone():
    data = samples()
    spoilt = Samples(data.X.copy(), data.y)
    split = CLEAN.split(CLEAN.prepare(data), trial=1)
    np.testing.assert_allclose(split.training.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.training.X.std(axis=0), 1)
    test_rows = [i for i in range(60) if not (np.isin(i, _training_rows(data, 1)))]
    spoilt.X[test_rows] *= 100
    np.testing.assert_array_equal(CLEAN.split(CLEAN.prepare(spoilt), trial=1).training.X, split.training.X)
    leaked = PAPER.split(PAPER.prepare(data), trial=1)
    everything = np.concatenate([leaked.training.X, leaked.test.X])
    np.testing.assert_allclose(everything.mean(axis=0), 0, atol=1e-12)
    assert abs(leaked.training.X.mean(axis=0)).max() > 1e-3


def _training_rows(data, trial):
    numbered = Samples(np.arange(len(data))[:, None].astype(float), data.y)
    return replace(CLEAN, leaky_scaling=True).split(numbered, trial).training.X.ravel().astype(int)


def test_protocols_demand_only_what_methods_take():
    for protocol in (PAPER, PAPER_QUICK, CLEAN):
        for name, fixed in protocol.fixed.items():
            assert METHODS[name](5, **fixed).get_params().items() >= fixed.items()


def test_of_equal_settings_the_first_is_taken_whatever_the_order_of_the_folds(monkeypatch):
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point."""
    scores = iter([[0.3, 0.1], [0.2, 0.2], [0.1, 0.3]])
    monkeypatch.setattr("dsofs.experiments.cells._accuracies", lambda *_: next(scores))
    protocol = replace(CLEAN, svm_Cs=(1.0, 10.0))
    assert tune(METHODS["f_test"], {}, protocol, samples(), trial=0, ks=[5])[0].svm_C == 1.0


def test_without_a_fold_to_learn_from_nothing_is_tuned():
    lonely = Samples(np.random.default_rng(0).normal(size=(2, 4)), np.array([0, 1]))
    (choice,) = tune(METHODS["f_test"], {}, CLEAN, lonely, trial=0, ks=[2])
    assert (choice.svm_C, choice.accuracy) == (CLEAN.svm_C, None)


def test_all_features_are_tuned_with_all_features():
    """Not with the first hundred columns, which may say nothing: those at the edge of a picture."""
    data = samples(n=150)
    seen = set()

    def judged(split, features, C, max_iter):
        seen.add(len(features))
        return svm_scores(split, features, C, max_iter)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dsofs.experiments.cells.svm_scores", judged)
        run_cell(Cell("made", ALL_FEATURES, 0, (None,)), CLEAN, REFERENCE[ALL_FEATURES], data)
    assert seen == {150}
