import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dsofs.ranking import ranks


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=20))
def test_ranks_are_the_inverse_permutation_of_the_order(rows):
    scores, ties, last = (np.array(column) for column in zip(*rows, strict=True))
    ranking = ranks(scores.astype(float), ties.astype(float), last)
    assert sorted(ranking) == list(range(1, len(rows) + 1))
    expected = sorted(range(len(rows)), key=lambda i: (rows[i][2], -rows[i][0], -rows[i][1], i))
    assert list(np.argsort(ranking)) == expected
