"""What must not change the result (up to the support; ranks may differ where scores agree)."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dsofs import DSOSelector
from dsofs.ranking import RANKINGS
from tests.problems import random_data

any_seed = st.integers(0, 2**32 - 1)


def fit(X, y, **options):
    return DSOSelector(tol=1e-4, **options).fit(X, y)


def support(selector):
    return set(np.flatnonzero(np.any(selector.coef_ != 0, axis=0)))


@settings(max_examples=10)
@given(any_seed)
def test_row_and_column_order(seed):
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, 30, 70, 3)
    plain = fit(X, y)
    rows, columns = rng.permutation(30), rng.permutation(70)
    shuffled = fit(X[rows][:, columns], y[rows])
    assert shuffled.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    np.testing.assert_allclose(shuffled.coef_, plain.coef_[:, columns], atol=2e-2)


@settings(max_examples=10)
@given(any_seed, st.integers(-8, 8))
def test_units(seed, power):
    X, y = random_data(seed, 25, 60, 3)
    plain = fit(X, y)
    np.testing.assert_array_equal(fit(X * 2.0 ** (3 * power), y).ranking_, plain.ranking_)
    single = X * np.where(np.arange(60) == 7, 2.0**20, np.where(np.arange(60) == 9, 2.0**-20, 1.0))
    np.testing.assert_array_equal(fit(single, y).ranking_, plain.ranking_)
    decimal = fit(X * 10.0**power, y)
    assert support(decimal) == support(plain)


@settings(max_examples=10)
@given(any_seed)
def test_names_of_the_classes(seed):
    X, y = random_data(seed, 25, 60, 3)
    names = np.array(["a", "b", "c"])
    np.testing.assert_array_equal(fit(X, names[y]).ranking_, fit(X, y).ranking_)
    two = y > 0
    np.testing.assert_array_equal(fit(X, two).ranking_, fit(X, two.astype(int)).ranking_)


@pytest.mark.parametrize("seed", range(5))
def test_float32(seed):
    X, y = random_data(seed, 40, 120, 3)
    k = 20
    single = set(np.flatnonzero(fit(X.astype(np.float32), y).ranking_ <= k))
    double = set(np.flatnonzero(fit(X, y).ranking_ <= k))
    assert len(single & double) / len(single | double) >= 0.95


def test_block_size_and_memory_map(tmp_path):
    X, y = random_data(7, 40, 900, 3)
    plain = fit(X, y)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    in_pieces = fit(mapped, y, memory_limit=2**19)
    assert support(in_pieces) == support(plain)
    np.testing.assert_allclose(in_pieces.coef_, plain.coef_, atol=1e-6)


def test_fits_in_threads_equal_serial_ones():
    problems = [random_data(seed, 30, 200, 3) for seed in range(8)]
    serial = [fit(*problem).ranking_ for problem in problems]
    with ThreadPoolExecutor(8) as pool:
        parallel = list(pool.map(lambda problem: fit(*problem).ranking_, problems))
    np.testing.assert_array_equal(parallel, serial)


@settings(max_examples=5)
@given(any_seed)
def test_every_sample_twice(seed):
    """Margins count once however often a sample occurs: fit on [X, X] equals fit on X."""
    X, y = random_data(seed, 20, 60, 3)
    once, twice = fit(X, y), fit(np.vstack([X, X]), np.r_[y, y])
    assert twice.objective_ == pytest.approx(once.objective_, rel=1e-3)


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("batch", range(3))
def test_ties_are_broken_alike_whatever_the_format_units_and_order_of_rows(ranking, batch):
    """Small tables of zeros and ones, where many columns are exactly as good as each other."""
    for seed in range(12 * batch, 12 * batch + 12):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(8, 30)), int(rng.integers(5, 60))
        X = (rng.random((m, n)) < rng.uniform(0.1, 0.5)).astype(float)
        X[0], X[1] = 0.0, 1.0
        y, rows = rng.permutation(np.arange(m) % 2), rng.permutation(m)
        options = {"n_features_to_select": 5, "p": [0.5, 0.85, 1.0][seed % 3], "ranking": ranking}
        plain = DSOSelector(**options).fit(X, y).ranking_
        first = plain <= 10
        for other, labels in (
            (sparse.csr_matrix(X), y),
            (X[rows], y[rows]),
            (X * rng.uniform(0.1, 10, n), y),
        ):
            np.testing.assert_array_equal(DSOSelector(**options).fit(other, labels).ranking_[first], plain[first])


@pytest.mark.parametrize("p", [0.5, 0.85, 1.0])
def test_a_duplicate_or_negated_column_changes_neither_the_objective_nor_the_order_of_the_others(p):
    X, y = random_data(3, 40, 60, 3)
    plain = fit(X, y, p=p)
    best = np.argsort(plain.ranking_)[:3]
    more = fit(np.hstack([X, X[:, best], 5 - 3 * X[:, best]]), y, p=p)
    assert more.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(more.ranking_[:60], plain.ranking_)
    np.testing.assert_array_equal(more.ranking_[60:], [61, 63, 65, 62, 64, 66])  # in the order of their originals
    assert not more.coef_[:, 60:].any()
