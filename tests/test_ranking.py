import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dsofs import DSOSelector
from dsofs.ranking import FORWARD_FIRST, ranks

from .problems import random_data


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=20))
def test_ranks_are_the_inverse_permutation_of_the_order(rows):
    scores, ties, last = (np.array(column) for column in zip(*rows, strict=True))
    ranking = ranks(scores.astype(float), last.astype(int), -ties)
    assert sorted(ranking) == list(range(1, len(rows) + 1))
    expected = sorted(range(len(rows)), key=lambda i: (rows[i][2], -rows[i][0], -rows[i][1], i))
    assert list(np.argsort(ranking)) == expected


def test_features_of_a_group_stand_next_to_each_other():
    """Even where two groups are as good as each other."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    pair = rng.normal(size=(40, 2)) + y[:, None]
    X = np.column_stack([pair, pair, rng.normal(size=(40, 2))])
    groups = np.array([0, 0, 1, 1, 2, 2])
    in_order = groups[np.argsort(DSOSelector(2, p=1.0, feature_groups=groups).fit(X, y).ranking_)]
    assert np.count_nonzero(np.diff(in_order)) == 2


def test_the_first_by_forward_selection_are_not_copies_of_each_other():
    """Two features that say the same, and one that says the rest: two by norm may be the copies."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    a, b = y % 2 + 0.3 * rng.normal(size=200), y // 2 + 0.3 * rng.normal(size=200)
    X = np.column_stack([a, a + 0.01 * rng.normal(size=200), b, rng.normal(size=(200, 20))])
    chosen = set(np.flatnonzero(DSOSelector(2).fit(X, y).get_support()))
    assert len(chosen & {0, 1}) == 1
    assert 2 in chosen


def test_forward_and_backward_puts_six_by_forward_selection_before_those_of_backward_elimination():
    X, y = random_data(0, m=40, n=150)
    forward, backward, both = (
        list(np.argsort(DSOSelector(ranking=rule).fit(X, y).ranking_))
        for rule in ("forward", "backward", "forward_backward")
    )
    assert both == forward[:FORWARD_FIRST] + [feature for feature in backward if feature not in forward[:FORWARD_FIRST]]
