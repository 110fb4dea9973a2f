"""Pieces of X, and what is put together from them."""

import numpy as np
import pytest

from dsofs.design import Moments, moments
from dsofs.design.backends.chunked import added, cuts_at
from dsofs.design.backends.on_disk import StoredArray
from dsofs.design.budget import Budget


def test_pieces_end_where_chunks_end_if_they_can():
    assert cuts_at(np.array([4, 8, 10]), 5) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert cuts_at(np.array([4, 8, 10]), 9) == [slice(0, 8), slice(8, 10)]
    assert cuts_at(np.array([7, 10]), 3) == [slice(0, 3), slice(3, 6), slice(6, 7), slice(7, 10)]
    assert cuts_at(np.array([3]), 0) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert cuts_at(np.array([0, 0]), 5) == []


def test_results_are_added_up():
    one, other = np.ones(2), [np.ones(1), (np.ones(1), None)]
    assert added(None, None) is None
    np.testing.assert_array_equal(added(added(None, one), np.ones(2)), [2, 2])
    total = added(other, [np.ones(1), (np.ones(1), None)])
    assert total == [2, (2, None)]


@pytest.mark.parametrize("shape", [(6, 20), (20, 6)])
def test_columns_that_are_held_are_not_read_again(shape):
    X = np.arange(120.0).reshape(shape)
    stored, budget = StoredArray(X), Budget(block=200)  # several pieces
    for columns, read in ([1, 3, 4], True), ([3], False), ([], False), ([1, 3, 4], False), ([3, 5], True):
        before, columns = stored.bytes_read, np.array(columns, dtype=np.intp)
        np.testing.assert_array_equal(stored.hold(columns, budget), X[:, columns])
        assert (stored.bytes_read > before) is read


@pytest.mark.parametrize("factor", [1.0, 1e300, 1e-300])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_moments_of_bands_are_those_of_all_samples(factor, shift):
    rng = np.random.default_rng(0)
    X, T = (rng.normal(size=(90, 5)) + shift) * factor, rng.normal(size=(90, 2))
    X[:, 1], X[:50, 2] = 0.3 * factor, X[0, 2]  # constant in all bands, and in some of them
    bands = [slice(0, 20), slice(20, 50), slice(50, 90)]
    with np.errstate(over="raise", invalid="raise"):
        parts = [moments(X[band], T[band]) for band in bands]
        found = Moments.of_all(parts, [20.0, 30.0, 40.0], [T[band].sum(axis=0) for band in bands])
    expected = moments(X, T)
    np.testing.assert_array_equal(found.constant, expected.constant)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-14)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-9)
    varies = ~expected.constant
    np.testing.assert_allclose(found.targets[varies], expected.targets[varies], atol=1e-7)
