"""MRMRSelector against brute force, and as a user meets it."""

import tracemalloc

import numpy as np
import pytest
from sklearn.feature_selection import f_classif

from dsofs import MRMRSelector
from dsofs.methods.mrmr import SCHEMES, by_deviation, by_quantile
from tests.problems import random_data
from tests.reference import mrmr as oracle

K = 8


def problem(seed):
    """Correlated features, two to six classes of different sizes."""
    rng = np.random.default_rng(seed)
    c = int(rng.integers(2, 7))
    X, y = random_data(seed, int(rng.integers(60, 90)), int(rng.integers(30, 40)), c, correlated=True)
    return X, np.where(rng.random(len(y)) < 0.3, 0, y)


def assert_equals_oracle(fit, columns, y, scheme):
    relevance, steps = oracle.mrmr([list(column) for column in columns], list(y), K, scheme)
    np.testing.assert_allclose(fit.relevance_, relevance, rtol=1e-9, atol=1e-9)
    assert list(np.argsort(fit.ranking_)[:K]) == [feature for feature, _ in steps]
    np.testing.assert_allclose([fit.criterion_[j] for j, _ in steps], [value for _, value in steps], atol=1e-9)


@pytest.mark.parametrize("seed", range(50))
def test_equals_brute_force(seed):
    """Redundancy weighs 1/|S|: a fixed weight in its place chooses other features."""
    X, y = problem(seed)
    scheme = list(SCHEMES)[seed % 4]
    if scheme.startswith("FC"):
        fit, columns = MRMRSelector(K, scheme=scheme).fit(X, y), X.T
    elif seed % 3 == 0:
        fit = MRMRSelector(K, scheme=scheme, discretize="quantile", n_bins=4).fit(X, y)
        columns = [oracle.states_by_quantile(column, 4) for column in X.T]
    elif seed % 3 == 1:
        codes = np.random.default_rng(seed).integers(-2, 4, X.shape) + 5 * (y[:, None] % 2) * (X > 1)
        fit, columns = MRMRSelector(K, scheme=scheme, discretize=None).fit(codes, y), codes.T
    else:
        fit = MRMRSelector(K, scheme=scheme).fit(X, y)
        columns = [oracle.states_by_deviation(column) for column in X.T]
    assert_equals_oracle(fit, columns, y, scheme)


def test_relevance_of_continuous_data_is_the_f_statistic_of_scikit_learn():
    X, y = random_data(0, 50, 40, 4)
    np.testing.assert_allclose(MRMRSelector(5, scheme="FCD").fit(X, y).relevance_, f_classif(X, y)[0])


def test_a_balanced_binary_feature_keeps_its_information():
    """All of its values lie exactly one standard deviation from the mean."""
    y = np.arange(40) % 2
    X = np.column_stack([np.random.default_rng(0).normal(size=(40, 3)), 0.1 * y + 0.7])
    fit = MRMRSelector(1).fit(X, y)
    assert fit.ranking_[3] == 1
    assert fit.relevance_[3] == pytest.approx(np.log(2))
    np.testing.assert_array_equal(by_deviation(X[:, 3:], 3)[:, 0], 2 * y)  # beyond the cuts on both sides


def test_a_copy_of_the_best_feature_is_not_chosen_second():
    X, y = random_data(1, 60, 30, 2)
    best = int(np.argmin(MRMRSelector(1).fit(X, y).ranking_))
    fit = MRMRSelector(2).fit(np.column_stack([X, X[:, best]]), y)
    assert fit.ranking_[30] > 2


def test_fewer_features_after_the_fit_are_the_first_of_those_chosen_and_more_the_most_relevant():
    X, y = random_data(2, 60, 50, 3)
    many, few = MRMRSelector(10).fit(X, y), MRMRSelector(4).fit(X, y)
    np.testing.assert_array_equal(many.ranking_ <= 4, few.ranking_ <= 4)
    rest = np.argsort(few.ranking_)[4:]
    assert (np.diff(few.relevance_[rest]) <= 0).all()
    np.testing.assert_array_equal(np.isnan(few.criterion_), few.ranking_ > 4)


def test_exactly_independent_features_do_not_divide_by_zero():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 2)
    y = X[:, 0] | X[:, 1]
    fit = MRMRSelector(3, scheme="MIQ", discretize=None).fit(X, y)
    assert np.isfinite(fit.criterion_).all()
    assert fit.ranking_[2] == 3


def test_features_that_tell_the_classes_apart_without_error_are_equals():
    """What rounding leaves within the classes does not rank them."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = y[:, None] * rng.normal(size=6) + rng.normal(size=6)
    fit = MRMRSelector(1, scheme="FCD").fit(X, y)
    np.testing.assert_allclose(fit.relevance_, fit.relevance_[0], rtol=1e-3)
    assert fit.ranking_[0] == 1


def test_many_quantiles_take_little_memory():
    x = np.random.default_rng(0).normal(size=(2000, 20))
    tracemalloc.start()
    codes = by_quantile(x, 200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * x.nbytes
    np.testing.assert_array_equal(np.bincount(codes[:, 0]), 10)


def test_memory_is_refused_before_it_is_taken():
    with pytest.raises(MemoryError, match="MRMRSelector needs about"):
        MRMRSelector(3, memory_limit=100).fit(*random_data(0, 40, 100, 3))


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"scheme": "MIX"}, "The 'scheme' parameter of MRMRSelector must be 'MID' or 'MIQ' or 'FCD' or 'FCQ'."),
        ({"discretize": "mean"}, "must be 'std' or 'quantile' or None. Got 'mean' instead."),
        ({"n_bins": 1}, "must be an int of at least 2. Got 1 instead."),
    ],
)
def test_bad_parameters(parameter, message):
    with pytest.raises(ValueError, match=message):
        MRMRSelector(**parameter).fit(*random_data(0))
