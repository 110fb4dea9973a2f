"""A sample of weight v counts as v equal samples: the reference is always a fit on repeated samples."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from dsofs import (
    DSOClassifier,
    DSOSelector,
    DSOSelectorCV,
    LassoSelector,
    MRMRSelector,
    ReliefFSelector,
    RFSSelector,
)
from dsofs.ranking import RANKINGS
from tests.methods.test_refused_first import Unreadable
from tests.problems import random_data

SHAPES = {
    "wide": (30, 80, 3),
    "wide, two classes": (30, 80, 2),
    "tall": (150, 20, 3),
    "tall, two classes": (150, 20, 2),
}
ESTIMATORS = (DSOSelector(), DSOClassifier(C=1.0), DSOSelectorCV(ps=(1.0,), cv=2), RFSSelector(), MRMRSelector())


def weighted_data(shape, seed=0, *, separable=False):
    """X, y, weights 0, 1, 2, 3 of its samples; and X, y of repeated samples."""
    m, n, c = SHAPES[shape]
    X, y = random_data(seed, m, n, c)
    X = X * (1 + np.arange(n) % 5) + 3
    if separable:
        X[:, :c] += 30 * (y[:, None] == np.arange(c))
    weights = np.random.default_rng(seed).integers(0, 4, m)
    return (X, y, weights), (X.repeat(weights, axis=0), y.repeat(weights))


def assert_equal_to_repeating(make, weighted, repeated, *, rtol=1e-6, convert=np.asarray, ranks=True):
    X, y, weights = weighted
    one, other = make().fit(convert(X), y, sample_weight=weights), make().fit(convert(repeated[0]), repeated[1])
    assert one.objective_ == pytest.approx(other.objective_, rel=rtol)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=rtol * np.abs(other.coef_).max())
    np.testing.assert_allclose(one.intercept_, other.intercept_, atol=rtol * np.abs(other.intercept_).max())
    if ranks:
        np.testing.assert_array_equal(one.ranking_, other.ranking_)


@pytest.mark.parametrize("C", ["auto", 1.0, None])
@pytest.mark.parametrize("p", [0.85, 1.0, 1.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_dso(shape, p, C):
    weighted, repeated = weighted_data(shape, separable=C is None)
    tol = 1e-7 if p < 1 else 1e-9
    rtol = 1e-3 if p > 1 else 1e-6  # there the objective is flat around its optimum
    assert_equal_to_repeating(lambda: DSOSelector(p=p, C=C, tol=tol, max_iter=1000), weighted, repeated, rtol=rtol)


@pytest.mark.filterwarnings("ignore:loss='hinge'.*is deprecated:FutureWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"loss": "hinge", "C": 0.1},
        {"constraint": "equality", "C": 1.0},
        {"constraint": "equality", "C": None},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 5.0}},
        {"standardize": False},
        {"fit_intercept": False},
        *({"ranking": ranking} for ranking in RANKINGS),
    ],
    ids=str,
)
def test_options_of_dso(options):
    weighted, repeated = weighted_data("wide, two classes", 1)
    assert_equal_to_repeating(lambda: DSOSelector(p=1.0, tol=1e-9, max_iter=1000, **options), weighted, repeated)


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("C", ["auto", None])
@pytest.mark.parametrize("shape", ["wide", "tall"])
def test_what_is_known_of_the_features(shape, C, ranking):
    """Covariates, costs and a bias that is not penalised: the model of these alone is weighted, too."""
    weighted, repeated = weighted_data(shape, 1, separable=C is None)
    known = {"penalty_factor": {5: 0.0, 6: 0.0, 7: 2.0}, "include": [8], "exclude": [9], "intercept_penalty": 0.0}
    assert_equal_to_repeating(
        lambda: DSOSelector(p=1.0, C=C, ranking=ranking, tol=1e-7, max_iter=1000, **known), weighted, repeated
    )


@pytest.mark.parametrize("size", [3, 40])  # of the groups: fewer and more features than there are samples
@pytest.mark.parametrize("p", [0.85, 1.0])
def test_groups_of_features(p, size):
    weighted, repeated = weighted_data("wide", 1)
    groups = np.arange(80) // size
    assert_equal_to_repeating(
        lambda: DSOSelector(2, p=p, feature_groups=groups, tol=1e-8, max_iter=1000),
        weighted,
        repeated,
    )
    weighted, repeated = weighted_data("tall", 1)
    assert_equal_to_repeating(
        lambda: DSOSelector(2, p=p, feature_groups=np.arange(20) // 4, tol=1e-8, max_iter=1000), weighted, repeated
    )


@pytest.mark.parametrize("shape", ["wide", "tall"])
def test_the_classifier(shape):
    weighted, repeated = weighted_data(shape, separable=True)
    assert_equal_to_repeating(lambda: DSOClassifier(tol=1e-9), weighted, repeated, ranks=False)


@pytest.mark.filterwarnings("ignore:.*duality gap:sklearn.exceptions.ConvergenceWarning")  # Algorithm 1 stops early
@pytest.mark.filterwarnings("ignore:.*stopped falling:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", ["wide", "tall"])
def test_algorithm_1(shape):
    weighted, repeated = weighted_data(shape, separable=True)
    assert_equal_to_repeating(
        lambda: DSOSelector(p=1.0, solver="alternating", max_iter=20), weighted, repeated, rtol=1e-4, ranks=False
    )


@pytest.mark.filterwarnings("ignore:.*the classes cannot be separated:UserWarning")
def test_classes_that_cannot_be_separated():
    """Slack of a default cost, which depends on the weights; samples of weight 0 are no part of the proof."""
    (X, y, weights), repeated = weighted_data("tall", 2)
    weights[:20] = 0
    weighted, repeated = (X, y, weights), (X.repeat(weights, axis=0), y.repeat(weights))
    assert_equal_to_repeating(lambda: DSOSelector(p=1.0, C=None, tol=1e-9, max_iter=1000), weighted, repeated)
    conflicts = DSOSelector(p=1.0, C=None).fit(X, y, sample_weight=weights).conflicts_
    assert len(conflicts)
    assert (weights[conflicts] > 0).all()


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("make", [DSOSelector, RFSSelector], ids=lambda make: make.__name__)
def test_kinds_of_X(make, convert):
    (X, y, weights), _ = weighted_data("wide")
    X = np.where(np.abs(X - 3) < 1, 0.0, X)
    repeated = X.repeat(weights, axis=0), y.repeat(weights)
    assert_equal_to_repeating(lambda: make(p=1.0, tol=1e-9), (X, y, weights), repeated, convert=convert)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (1.0, 2.0), (0.7, 1.0), (1.5, 1.5)])
@pytest.mark.parametrize("shape", ["wide", "tall, two classes"])
def test_rfs(shape, p, q):
    weighted, repeated = weighted_data(shape)
    assert_equal_to_repeating(
        lambda: RFSSelector(p=p, q=q, lam=2.0, tol=1e-9 if p >= 1 else 1e-7, max_iter=1000),
        weighted,
        repeated,
        rtol=1e-3 if p > 1 else 1e-6,
    )


@pytest.mark.parametrize("ranking", ["norm", "forward"])
def test_rfs_of_several_targets(ranking):
    (X, _, weights), _ = weighted_data("tall")
    Y = X[:, :2] @ [[1.0, 2.0], [0.0, -1.0]] + np.random.default_rng(0).normal(size=(len(X), 2))
    repeated = X.repeat(weights, axis=0), Y.repeat(weights, axis=0)
    assert_equal_to_repeating(
        lambda: RFSSelector(task="regression", ranking=ranking, lam=20.0, tol=1e-9, max_iter=1000),
        (X, Y, weights),
        repeated,
    )


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("discretize", ["std", "quantile", None])
@pytest.mark.parametrize("scheme", ["MID", "MIQ", "FCD", "FCQ"])
@pytest.mark.parametrize("shape", ["wide", "tall, two classes"])
def test_mrmr(shape, scheme, discretize, convert):
    (X, y, weights), _ = weighted_data(shape)
    X = np.round(X)
    make = MRMRSelector(scheme=scheme, discretize=discretize, n_bins=4)
    one = make.fit(convert(X), y, sample_weight=weights)
    relevance, ranking = one.relevance_, one.ranking_
    other = make.fit(convert(X.repeat(weights, axis=0)), y.repeat(weights))
    np.testing.assert_allclose(relevance, other.relevance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ranking, other.ranking_)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_weights_of_one_and_none(estimator):
    """Exactly equal to no weights; a missing value of a sample of weight 0 does no harm."""
    X, y = random_data(3, 40, 12, 2)
    plain = attributes(sklearn.clone(estimator).fit(X, y))
    assert_same(attributes(sklearn.clone(estimator).fit(X, y, sample_weight=np.ones(40))), plain)
    X, y = np.vstack([X, np.full((1, 12), np.nan)]), np.append(y, 2)
    assert_same(attributes(sklearn.clone(estimator).fit(X, y, sample_weight=[1] * 40 + [0])), plain)


def attributes(fitted):
    left_out = ("history_", "cv_results_", "path_")
    return {name: value for name, value in vars(fitted).items() if name.endswith("_") and name not in left_out}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DSOSelector(feature_groups=np.arange(80) // 3),
        lambda: MRMRSelector(scheme="FCD"),
        lambda: MRMRSelector(discretize="quantile"),
    ],
)
def test_weights_that_add_up_to_one_are_relative(make):
    """They rank features as weights that add up to the number of samples do."""
    (X, y, weights), _ = weighted_data("wide")
    mean_one = weights * np.count_nonzero(weights) / weights.sum()
    rankings = [make().fit(X, y, sample_weight=mean_one / size).ranking_ for size in (1, len(y), 1e6)]
    np.testing.assert_array_equal(rankings[1], rankings[0])
    np.testing.assert_array_equal(rankings[2], rankings[0])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(19), r"\(20\). Got shape \(19,\) instead"),
        (np.ones((20, 1)), r"Got shape \(20, 1\) instead"),
        (2.0, r"Got shape \(\) instead"),
        ([1.0] * 19 + [-1.0], "Got -1 for sample 19 instead"),
        ([np.nan] + [1.0] * 19, "Got nan for sample 0 instead"),
        ([1.0, np.inf] * 10, "Got inf for sample 1 instead"),
        (["heavy"] * 20, "Got .*heavy.* instead"),
        (np.zeros(20), "and not zero for all of them"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "weights",
)
def test_refused_before_X_is_read(estimator, weights, sentence):
    start = (
        f"The 'sample_weight' of {type(estimator).__name__}.fit must hold one finite number of at least 0 per sample"
    )
    with pytest.raises(ValueError, match=f"^{start}.*{sentence}"):
        sklearn.clone(estimator).fit(Unreadable(), np.arange(20) % 2, sample_weight=weights)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_a_class_without_weight_is_gone(estimator):
    X, y = random_data(0, 30, 12, 3)
    fitted = sklearn.clone(estimator).fit(X, y, sample_weight=y < 2)
    assert not hasattr(fitted, "classes_") or list(fitted.classes_) == [0, 1]
    with pytest.raises(
        ValueError, match=r"needs samples of at least 2 classes; only the class .*1.* has samples of pos"
    ):
        sklearn.clone(estimator).fit(X, y, sample_weight=y == 1)


def test_a_target_that_varies_by_samples_of_weight_zero_alone():
    X, _ = random_data(0, 20, 5, 2)
    y, weights = np.r_[np.zeros(15), np.arange(5)], np.r_[np.ones(15), np.zeros(5)]
    with pytest.raises(ValueError, match="needs a target that varies; all values of y are 0"):
        RFSSelector(2, task="regression").fit(X, y, sample_weight=weights)


# Cross-validation


@pytest.mark.parametrize("estimator", [None, GaussianNB(), make_pipeline(StandardScaler(), SVC())], ids=str)
def test_cross_validation_with_given_folds(estimator):
    """In all fits and in the scores: the same scores, choice and coefficients as with repeated samples."""
    (X, y, weights), (X_repeated, y_repeated) = weighted_data("wide")
    fold = np.arange(len(y)) % 3
    folds, of_repeated = (list(LeaveOneGroupOut().split(g, groups=g)) for g in (fold, fold.repeat(weights)))
    options = {"ps": (0.7, 1.0), "ks": (2, 5), "Cs": (1.0, "auto"), "tol": 1e-8, "max_iter": 1000}
    one = DSOSelectorCV(cv=folds, estimator=estimator, **options).fit(X, y, sample_weight=weights)
    other = DSOSelectorCV(cv=of_repeated, estimator=estimator, **options).fit(X_repeated, y_repeated)
    np.testing.assert_allclose(one.cv_results_.split_scores, other.cv_results_.split_scores)
    assert one.best_params_ == other.best_params_
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)


def test_a_fold_without_weight():
    X, y = random_data(0, 30, 12, 2)
    folds = [(np.arange(10, 30), np.arange(10)), (np.arange(20), np.arange(20, 30))]
    with pytest.raises(ValueError, match="has a fold without samples of positive weight"):
        DSOSelectorCV(ps=(1.0,), cv=folds).fit(X, y, sample_weight=np.arange(30) >= 10)


def test_a_metric_that_takes_no_weights():
    X, y = random_data(0, 30, 12, 2)
    weights = np.arange(30) % 4

    def metric(y, predicted):
        return accuracy_score(y, predicted)

    scores = DSOSelectorCV(ps=(1.0,), cv=3, scoring=make_scorer(metric)).fit(X, y, sample_weight=weights).best_score_
    assert 0 <= scores <= 1


def test_groups_of_samples_are_for_the_splitter():
    X, y = random_data(0, 40, 12, 2)
    groups, weights = np.repeat(np.arange(10), 4), np.arange(40) % 3
    fitted = DSOSelectorCV(ps=(1.0,), cv=GroupKFold(3)).fit(X, y, groups=groups)
    folds = list(GroupKFold(3).split(X, y, groups))
    given = DSOSelectorCV(ps=(1.0,), cv=folds).fit(X, y)
    np.testing.assert_array_equal(fitted.cv_results_.split_scores, given.cv_results_.split_scores)
    left = weights > 0
    both = DSOSelectorCV(ps=(1.0,), cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
    alone = DSOSelectorCV(ps=(1.0,), cv=GroupKFold(3)).fit(
        X[left], y[left], sample_weight=weights[left], groups=groups[left]
    )
    np.testing.assert_array_equal(both.cv_results_.split_scores, alone.cv_results_.split_scores)
    with pytest.raises(ValueError, match=r"The 'groups' of DSOSelectorCV.fit must hold one label per sample \(40\)"):
        DSOSelectorCV(cv=GroupKFold(3)).fit(X, y, groups=groups[:5])


# Metadata routing


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize(
    "selector", [DSOSelector(3), DSOSelectorCV(3, ps=(1.0,), cv=2), RFSSelector(3), MRMRSelector(3)], ids=str
)
def test_routing_in_a_pipeline(selector):
    X, y = random_data(0, 40, 12, 2)
    weights = np.arange(40) % 4
    alone = sklearn.clone(selector).fit(X, y, sample_weight=weights)
    tree = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=False)
    asked = make_pipeline(sklearn.clone(selector).set_fit_request(sample_weight=True), tree)
    asked.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(asked[0].ranking_, alone.ranking_)
    not_asked = make_pipeline(sklearn.clone(selector).set_fit_request(sample_weight=False), SVC())
    not_asked[1].set_fit_request(sample_weight=True)
    not_asked.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(not_asked[0].ranking_, sklearn.clone(selector).fit(X, y).ranking_)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make_pipeline(sklearn.clone(selector), tree).fit(X, y, sample_weight=weights)


@pytest.mark.usefixtures("routing")
def test_routing_in_searches():
    X, y = random_data(0, 40, 12, 2)
    weights = 1 + np.arange(40) % 4
    classifier = DSOClassifier(C=1.0).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    search = GridSearchCV(classifier, {"C": [0.1, 10.0]}, cv=3).fit(X, y, sample_weight=weights)
    best = sklearn.clone(classifier).set_params(**search.best_params_).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.coef_, best.coef_)
    folds = [(np.arange(10, 40), np.arange(10)), (np.arange(30), np.arange(30, 40))]
    found = cross_validate(
        classifier, X, y, params={"sample_weight": weights}, cv=folds, return_estimator=True, error_score="raise"
    )
    for fitted, (train, _) in zip(found["estimator"], folds, strict=True):
        expected = sklearn.clone(classifier).fit(X[train], y[train], sample_weight=weights[train])
        np.testing.assert_array_equal(fitted.coef_, expected.coef_)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("selector", [ReliefFSelector(3), LassoSelector(3)], ids=str)
def test_selectors_without_weights_are_asked_for_none(selector):
    X, y = random_data(0, 40, 12, 2)
    with pytest.raises(TypeError, match="sample_weight"):
        make_pipeline(selector, GaussianNB().set_fit_request(sample_weight=False)).fit(X, y, sample_weight=np.ones(40))
