"""Equal and opposite columns are found in any format; what is merely similar is not taken for them."""

import numpy as np
import pytest
from scipy import sparse

from dsofs.design import Budget, as_design, moments
from dsofs.design.standard import probe, without_copies

DEFAULT = Budget()


def found(X, groups=None, standardize=True, budget=DEFAULT):
    stats = moments(X, probe(X.shape[0]), budget)
    made = as_design(X, stats, standardize=standardize, bias=True, budget=budget)
    products = stats.targets if standardize else stats.targets * stats.scale[:, None]
    distinct, copies = without_copies(made, products[made.kept], groups)
    assert distinct.n_columns == len(distinct.kept) + 1
    assert set(distinct.kept) | set(copies.features) == set(made.kept)
    return dict(zip(copies.features.tolist(), copies.originals.tolist(), strict=True)), copies.grouped.tolist()


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 8))
    X[:, 5], X[:, 6], X[:, 7] = 3 - 2 * X[:, 1], X[:, 1], 10 * X[:, 2] + 1e-3 * rng.normal(size=30)
    return X


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, np.float32])
def test_copies_are_equal_up_to_sign_and_units(X, kind):
    assert found(kind(X))[0] == {5: 1, 6: 1}


def test_without_standardising_other_units_are_other_columns(X):
    assert found(X, standardize=False)[0] == {6: 1}


def test_a_group_is_searched_for_copies_of_its_own(X):
    """And so are all features that are no part of a group of several."""
    assert found(X, np.array([0, 1, 2, 3, 4, 1, 5, 6])) == ({5: 1}, [True])
    assert found(X, np.arange(8)) == ({5: 1, 6: 1}, [False, False])


def test_many_copies_in_small_pieces():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(20, 6))
    original = rng.integers(0, 6, size=50)
    X = columns[:, original] * rng.choice([-1.0, 1.0], size=50)
    first = {kind: int(np.flatnonzero(original == kind)[0]) for kind in np.unique(original)}
    assert found(X, budget=Budget(chunk=1, fewest=2))[0] == {
        i: first[kind] for i, kind in enumerate(original) if first[kind] != i
    }
