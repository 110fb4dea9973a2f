"""Selectors of scikit-learn and pipelines of them, examined like our own."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFpr,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from dsofs import DSOSelector, DSOSelectorCV
from dsofs.examination.examine import examine
from dsofs.report import Findings, render
from dsofs.statistics.samples import Samples
from tests.examination.test_examine import FEW, planted

SELECTORS = {
    "SelectKBest": SelectKBest(k=4),
    "RFE": RFE(LinearSVC(), n_features_to_select=4, step=0.2),
    "RFECV": RFECV(LinearSVC(), step=5, cv=3),
    "SelectFromModel": SelectFromModel(LinearSVC(), max_features=4, threshold=-np.inf),
    "SelectFpr": SelectFpr(alpha=1e-3),
    "scaled": make_pipeline(VarianceThreshold(), StandardScaler(), SelectKBest(k=4)),
    "in turn": make_pipeline(SelectKBest(k=12), StandardScaler(), RFE(LinearSVC(), n_features_to_select=4)),
    "nested": make_pipeline(StandardScaler(), make_pipeline(SelectKBest(k=12), DSOSelector(4))),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_any_selector_can_be_examined(name):
    X, y = planted(m=60, n=30)
    found = examine(X, y, SELECTORS[name], **FEW)
    assert {feature.index for feature in found.chosen} & set(range(4))
    assert found.accuracy.at_k > 0.9
    assert len(found.accuracy.ks) > 1
    assert Findings.from_json(found.to_json()) == found
    assert "chosen features" in render(found)
    fitted = SELECTORS[name].fit(X, y)
    chosen = X[:, sorted(feature.index for feature in found.chosen)]
    assert np.allclose(StandardScaler().fit_transform(fitted.transform(X)), StandardScaler().fit_transform(chosen))
    assert examine(X, y, fitted, **FEW).chosen == found.chosen


def test_any_selector_is_ranked_by_its_own_scores():
    X, y = planted(n=30)
    fitted = SelectKBest(k=6).fit(X, y)
    found = examine(X, y, fitted, **FEW)
    assert [f.index for f in found.chosen] == np.argsort(-fitted.scores_)[:6].tolist()
    assert [f.score for f in found.chosen] == pytest.approx(np.sort(fitted.scores_)[::-1][:6].tolist())


def test_any_selector_with_a_mask_alone_is_measured_at_its_own_number():
    X, y = planted(n=8)
    selector = SequentialFeatureSelector(LogisticRegression(), n_features_to_select=3, cv=2)
    found = examine(X, y, selector, n_resamples=2, n_permutations=2)
    assert found.accuracy.ks == [3]
    assert all(feature.score is None for feature in found.chosen)
    assert any("not which of them are better" in warning for warning in found.warnings)
    render(found)


def test_any_selector_may_choose_nothing_in_a_resample():
    X, y = np.random.default_rng(0).normal(size=(40, 20)), np.arange(40) % 2
    X[:, 0] += 1.1 * y
    found = examine(X, y, SelectFpr(alpha=0.002), n_resamples=6, n_permutations=3)
    assert len(found.chosen) >= 1
    assert found.chosen[0].frequency < 1  # chosen anew in every resample, or nothing is
    render(found)
    with pytest.raises(ValueError, match="chose no feature"):
        examine(X, y, SelectFpr(alpha=1e-15), **FEW)


def test_what_is_no_selector_is_refused_with_what_is_needed():
    X, y = planted(n=10)
    for selector, message in (
        (
            LogisticRegression(),
            "must be a selector with the methods fit and get_support.* Got LogisticRegression instead",
        ),
        (make_pipeline(SelectKBest(k=3), SVC()), "last step of the Pipeline is SVC, which predicts: leave it out"),
        (make_pipeline(PCA(5), SelectKBest(k=3)), "The step PCA makes other columns"),
        (make_pipeline(StandardScaler()), "Got Pipeline instead"),
        (DSOSelector, r"Got the class DSOSelector: make one of it, DSOSelector\(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            examine(X, y, selector, **FEW)


def test_folds_given_as_cv_are_made_anew_in_every_resample():
    """Folds of all samples index others in a resample: beyond its end, or those of both sides."""
    X, y = planted(m=60, n=20)
    folds = list(KFold(3).split(X))
    options = {"ps": (1.0,), "Cs": ("auto",), "ks": (1, 4)}
    found = examine(X, y, DSOSelectorCV(4, cv=folds, **options), **FEW)
    assert any("each resample makes 3 of its own" in warning for warning in found.warnings)
    assert not any("of its own" in w for w in examine(X, y, DSOSelectorCV(4, cv=3, **options), **FEW).warnings)
    nested = make_pipeline(StandardScaler(), RFECV(LinearSVC(), step=5, cv=folds))
    assert any("'rfecv__cv'" in warning for warning in examine(X, y, nested, **FEW).warnings)


def test_folds_made_anew_keep_groups_together():
    from dsofs.examination.resampling import with_own_folds

    groups = np.repeat(np.arange(12), 5)
    data = Samples(np.zeros((60, 2)), groups % 2, groups)
    train = np.flatnonzero(groups < 8)
    selector = with_own_folds(DSOSelectorCV(cv=[(np.arange(30), np.arange(30, 60))] * 4), data.take(train))
    assert len(selector.cv) == 4
    for learnt, tested in selector.cv:
        assert not set(groups[train][learnt]) & set(groups[train][tested])
    assert sorted(np.concatenate([tested for _, tested in selector.cv])) == list(range(len(train)))


def test_folds_that_can_be_read_once_are_refused():
    X, y = planted(n=10)
    with pytest.raises(ValueError, match="'cv' parameter of the 'selector' of examine must be an int, a splitter or a"):
        examine(X, y, DSOSelectorCV(2, cv=iter([])), **FEW)
