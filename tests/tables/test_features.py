"""What is odd about the features of a table."""

import numpy as np
import pytest
from scipy import sparse

from dsofs.tables.features import copied_samples, first_alike

FORMS = [np.asarray, sparse.csr_array, sparse.csc_array]
SIXTY = np.arange(60.0).reshape(5, 12)
TWICE = [0, 1, 2, 3, 4] * 3


@pytest.mark.parametrize("form", FORMS)
def test_samples_that_agree_in_all_features(form):
    assert first_alike(form(SIXTY[[4, 0, 4, 1, 0]])).tolist() == [0, 1, 0, 3, 1]
    assert first_alike(form(SIXTY)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("X", "noted"), [
    (SIXTY[[0, 1, 2, 3, 0]], True),  # more features than samples
    (SIXTY[TWICE] / 8, True),  # measured
    (SIXTY[TWICE], False),  # counts, of fewer features than samples
    (SIXTY[TWICE, :5] / 8, False),  # few features
    (SIXTY, False),
])  # fmt: skip
def test_copies_of_samples_are_noted_where_they_are_no_chance(form, X, noted):
    assert [note.groups for note in copied_samples(form(X))] == ["values in all features"] * noted


def test_few_copies_cannot_change_an_accuracy_much():
    X = np.random.default_rng(0).normal(size=(60, 100))
    X[40] = X[3]
    (note,) = copied_samples(X)
    assert note.groups is None
    assert note.sentence == (
        "1 sample repeats the values of another one in all features, as sample 41 those of sample 4: leave out copies; "
        "if such samples belong together, say so (--sample-groups)."
    )
