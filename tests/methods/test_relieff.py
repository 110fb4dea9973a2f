"""ReliefFSelector against the textbook in plain Python, and as a user meets it."""

import tracemalloc
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dsofs import ReliefFSelector
from dsofs.design import Budget
from dsofs.methods.relieff import differences, kernels, selector
from tests.problems import random_data
from tests.reference.relief import relieff, rrelieff


@pytest.fixture(params=["numpy", "numba"])
def kernel(request, monkeypatch):
    """Runs the test with the loops of NumPy, and with the compiled ones where numba is installed."""
    if request.param == "numba":
        pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    monkeypatch.setattr(kernels, "COMPILED_WORK", 0 if request.param == "numba" else np.inf)


def mixed_problem(seed):
    """Numbers in many units and categories, values missing at random, classes of very different sizes."""
    rng = np.random.default_rng(seed)
    m, n, c = int(rng.integers(60, 75)), int(rng.integers(30, 36)), [2, 3, 5, 12][seed % 4]
    X, _ = random_data(seed, m, n, 2)
    y = np.minimum(rng.geometric(0.4, m) - 1, c - 1)  # the last classes have a few samples or one
    y[:c] = np.arange(c)
    X[:, : n // 2] += rng.normal(size=(c, n // 2))[y]
    categorical = rng.random(n) < (0.3 if seed % 3 else 0.0)
    X[:, categorical] = np.round(X[:, categorical])
    X = X * np.where(categorical, 1, 10.0 ** rng.integers(-3, 4, n))
    if seed % 2:
        X[rng.random((m, n)) < 0.1] = np.nan
        X[y == c - 1, 0] = np.nan  # a class without a known value
    return X, y, categorical


def as_rows(X):
    return [[None if np.isnan(x) else x for x in row] for row in X]


@cache
def textbook_scores(seed):
    X, y, categorical = mixed_problem(seed)
    return relieff(as_rows(X), y.tolist(), 5, set(np.flatnonzero(categorical)))


@pytest.mark.parametrize("seed", range(50))
def test_equals_the_textbook(seed, kernel):
    X, y, categorical = mixed_problem(seed)
    fit = ReliefFSelector(n_neighbors=5, categorical_features=categorical).fit(X, y)
    np.testing.assert_allclose(fit.scores_, textbook_scores(seed), atol=1e-9, rtol=0)


@pytest.mark.parametrize("seed", range(12))
def test_regression_equals_the_textbook(seed, kernel):
    X, _, categorical = mixed_problem(seed)
    y = np.nan_to_num(X[:, 0] / np.nanmax(np.abs(X[:, 0]))) + np.random.default_rng(seed).normal(size=len(X))
    fit = ReliefFSelector(n_neighbors=7, task="regression", categorical_features=categorical, sigma=3.0).fit(X, y)
    expected = rrelieff(as_rows(X), y.tolist(), 7, 3.0, set(np.flatnonzero(categorical)))
    np.testing.assert_allclose(fit.scores_, expected, atol=1e-9, rtol=0)


def test_a_small_sigma_is_the_nearest_neighbour_alone(kernel):
    X, y = random_data(0, 40, 6, 2)
    target = X[:, 0] + 0.1 * y
    narrow = ReliefFSelector(3, n_neighbors=7, task="regression", sigma=0.01).fit(X, target)
    nearest = ReliefFSelector(3, n_neighbors=1, task="regression").fit(X, target)
    np.testing.assert_allclose(narrow.scores_, nearest.scores_)


def test_ties_equal_the_textbook(kernel):
    """Whole numbers only: most distances are equal to many others."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (60, 30)), rng.integers(0, 3, 60)
    fit = ReliefFSelector(n_neighbors=4).fit(X, y)
    np.testing.assert_allclose(fit.scores_, relieff(X.tolist(), y.tolist(), 4), atol=1e-9, rtol=0)


def test_sampled_instances_equal_the_textbook():
    X, y, categorical = mixed_problem(3)
    fit = ReliefFSelector(n_neighbors=5, n_samples=20, random_state=7, categorical_features=categorical).fit(X, y)
    sampled = np.random.RandomState(7).permutation(len(X))[:20].tolist()
    expected = relieff(as_rows(X), y.tolist(), 5, set(np.flatnonzero(categorical)), sampled)
    np.testing.assert_allclose(fit.scores_, expected, atol=1e-9, rtol=0)
    assert not np.allclose(
        fit.scores_, ReliefFSelector(n_neighbors=5, categorical_features=categorical).fit(X, y).scores_
    )


def test_missing_values_are_accepted_in_every_kind_of_array():
    X, y, _ = mixed_problem(1)
    dense = ReliefFSelector(5).fit(X, y)
    np.testing.assert_allclose(ReliefFSelector(5).fit(sparse.csr_array(X), y).scores_, dense.scores_, atol=1e-12)
    frame = pd.DataFrame(X).rename(columns=str)
    np.testing.assert_array_equal(ReliefFSelector(5).fit(frame, y).ranking_, dense.ranking_)
    assert dense.transform(X).shape == (len(X), 5)
    with pytest.raises(ValueError, match="contains infinity: column 2, row 1"):
        ReliefFSelector().fit(np.where(np.arange(X.size).reshape(X.shape) == X.shape[1] + 2, np.inf, X), y)


def test_values_may_be_missing_in_every_feature():
    X, y = random_data(5, 60, 30, 3)
    X[np.arange(30), np.arange(30)] = np.nan
    fit = ReliefFSelector(n_neighbors=5).fit(X, y)
    np.testing.assert_allclose(fit.scores_, relieff(as_rows(X), y.tolist(), 5), atol=1e-9, rtol=0)


def test_a_feature_without_values_comes_last():
    X, y = random_data(5, 40, 20, 2)
    X[:, 4], X[:, 9], X[3:, 9] = np.nan, np.nan, 2.0
    fit = ReliefFSelector().fit(X, y)
    assert set(fit.ranking_[[4, 9]]) == {19, 20}
    np.testing.assert_array_equal(fit.scores_[[4, 9]], -1)


def test_categories_may_be_named_numbered_or_masked():
    X, y, _ = mixed_problem(0)
    X = np.round(X)
    chosen = [3, 11]
    frame = pd.DataFrame(X).rename(columns="gene {}".format)
    mask = np.isin(np.arange(X.shape[1]), chosen)
    expected = ReliefFSelector(categorical_features=chosen).fit(X, y).scores_
    np.testing.assert_array_equal(ReliefFSelector(categorical_features=mask).fit(X, y).scores_, expected)
    named = ReliefFSelector(categorical_features=["gene 3", "gene 11"]).fit(frame, y)
    np.testing.assert_array_equal(named.scores_, expected)
    assert not np.allclose(ReliefFSelector().fit(X, y).scores_, expected)
    for wrong in (["gene 3"], [40], [0.5], mask[:3]):
        with pytest.raises(ValueError, match="The 'categorical_features' parameter of ReliefFSelector must be a mask"):
            ReliefFSelector(categorical_features=wrong).fit(X, y)


@pytest.mark.parametrize("seed", [1, 2])
def test_blocks_and_threads_do_not_change_the_result(seed, kernel, monkeypatch):
    X, y, categorical = mixed_problem(seed)
    plain = ReliefFSelector(categorical_features=categorical).fit(X, y)
    small = Budget(block=8 * 7 * len(X), chunk=1, fewest=4)
    monkeypatch.setattr(selector, "Differences", partial(differences.Differences, budget=small))
    monkeypatch.setattr(differences, "CACHE_BYTES", 1)
    monkeypatch.setattr(differences, "FEWEST_COLUMNS", 4)
    pieces = ReliefFSelector(categorical_features=categorical, n_jobs=3).fit(X, y)
    np.testing.assert_allclose(pieces.scores_, plain.scores_, atol=1e-12)


def test_categories_of_many_states_take_bounded_memory():
    """Their indicators would take 43 MB at once."""
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.permutation(300) for _ in range(60)]), np.arange(300) % 2
    tracemalloc.start()
    try:
        ReliefFSelector(categorical_features=np.arange(60)).fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def test_huge_and_tiny_numbers():
    X, y = random_data(6, 40, 20, 2)
    expected = ReliefFSelector().fit(X, y).ranking_
    for factor in (2.0**1020, 2.0**-1000):
        np.testing.assert_array_equal(ReliefFSelector().fit(X * factor, y).ranking_, expected)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"n_neighbors": 0}, "The 'n_neighbors' parameter of ReliefFSelector must be an int of at least 1."),
        ({"task": "auto"}, "must be 'classification' or 'regression'. Got 'auto' instead."),
        ({"n_samples": 1.5}, "The 'n_samples' parameter .* Got 1.5 instead."),
        ({"sigma": 0}, "The 'sigma' parameter .* Got 0 instead."),
    ],
)
def test_bad_parameters(parameter, message):
    with pytest.raises(ValueError, match=message):
        ReliefFSelector(**parameter).fit(*random_data(0))


def test_a_target_that_does_not_vary_is_refused():
    with pytest.raises(ValueError, match="needs a target that varies; all values of y are 2"):
        ReliefFSelector(task="regression").fit(random_data(0)[0], np.full(40, 2))
