import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsofs import DSOSelector
from dsofs.arrays import Block
from dsofs.ranking import ranks, unexplained


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=20))
def test_ranks_are_the_inverse_permutation_of_the_order(rows):
    scores, ties, last = (np.array(column) for column in zip(*rows, strict=True))
    ranking = ranks(scores.astype(float), last, -ties)
    assert sorted(ranking) == list(range(1, len(rows) + 1))
    expected = sorted(range(len(rows)), key=lambda i: (rows[i][2], -rows[i][0], -rows[i][1], i))
    assert list(np.argsort(ranking)) == expected


@pytest.mark.parametrize("seed", range(5))
def test_forward_selection_takes_what_explains_most(seed):
    """Against least squares with every column that could come next; a copy of a column is never taken."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(40, 12)) + 3
    Z[:, 7] = Z[:, 3]
    Y = rng.normal(size=(40, 3)) + Z[:, [3, 5, 8]]
    parts = unexplained(Block(Z), Y)
    order = [column for column in np.argsort(-parts, kind="stable") if parts[column] > 0]
    assert len(order) == 11
    assert parts[order[0]] == 1.0
    for taken in range(1, len(order)):
        before = order[: taken - 1]
        misfits = {column: misfit(Z[:, [*before, column]], Y) for column in set(range(12)) - {7, *before}}
        assert misfits[order[taken - 1]] <= min(misfits.values()) + 1e-9
        assert parts[order[taken]] == pytest.approx(misfits[order[taken - 1]])


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_forward_selection_does_not_depend_on_where_zero_is(offset):
    rng = np.random.default_rng(0)
    Z = np.round(rng.normal(size=(60, 8)), 3)
    Y = Z[:, [1, 4]] + 0.1 * rng.normal(size=(60, 2))
    np.testing.assert_allclose(unexplained(Block(Z + offset), Y), unexplained(Block(Z), Y), rtol=1e-3, atol=1e-6)


def test_features_of_a_group_stand_next_to_each_other():
    """Even where two groups are as good as each other."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    pair = rng.normal(size=(40, 2)) + y[:, None]
    X = np.column_stack([pair, pair, rng.normal(size=(40, 2))])
    groups = np.array([0, 0, 1, 1, 2, 2])
    in_order = groups[np.argsort(DSOSelector(2, p=1.0, feature_groups=groups).fit(X, y).ranking_)]
    assert np.count_nonzero(np.diff(in_order)) == 2


def misfit(A, Y):
    """The part of Y that is left by least squares with an intercept."""
    A, Y = A - A.mean(axis=0), Y - Y.mean(axis=0)
    return np.sum((Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]) ** 2) / np.sum(Y**2)


def test_the_first_by_forward_selection_are_not_copies_of_each_other():
    """Two features that say the same, and one that says the rest: two by norm may be the copies."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    a, b = y % 2 + 0.3 * rng.normal(size=200), y // 2 + 0.3 * rng.normal(size=200)
    X = np.column_stack([a, a + 0.01 * rng.normal(size=200), b, rng.normal(size=(200, 20))])
    chosen = set(np.flatnonzero(DSOSelector(2).fit(X, y).get_support()))
    assert len(chosen & {0, 1}) == 1
    assert 2 in chosen
