"""The permutation test: labels that may change places, and what their number allows to show."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest

from dsofs import METHODS, DSOSelector
from dsofs.examination.examine import examine
from dsofs.report import render
from dsofs.report.verdict import headline


def patients(n=20, size=4, apart=2.0, seed=0):
    """Patients with several samples each, of one label per patient, and three features that show it."""
    groups = np.repeat(np.arange(n), size)
    y = groups % 2
    X = np.random.default_rng(seed).normal(size=(n * size, 100))
    X[:, :3] += apart * y[:, None]
    return X, y, groups


def test_permutation_with_one_mixed_group_has_power():
    X, y, groups = patients()
    y[5] = 1 - y[5]
    found = examine(X, y, DSOSelector(5), groups=groups, n_permutations=19)
    assert found.accuracy.at_k > 0.8
    assert found.permutation.p_value == 1 / 20
    assert "no better than chance" not in render(found)


@pytest.mark.parametrize("n_mixed", [0, 3, 10, 20])
def test_permutation_finds_a_strong_signal_whatever_the_mixture_of_labels_within_groups(n_mixed):
    X, y, groups = patients(apart=0.0)
    y = np.where(groups < n_mixed, np.arange(80) % 2, y)
    X[:, :3] += 3 * y[:, None]
    found = examine(X, y, METHODS["f_test"](3), groups=groups, n_resamples=4, n_permutations=19)
    assert found.permutation.p_value == 1 / 20


def test_permutation_of_few_groups_says_that_it_cannot_rule_out_chance():
    X, y, groups = patients(6, 10, apart=4.0)
    found = examine(X, y, METHODS["f_test"](3), groups=groups, n_resamples=6, n_permutations=39)
    page = render(found)
    assert found.permutation.smallest == pytest.approx(2 / 20)  # 20 labellings of 6 patients; two names of classes
    assert "The permutation test cannot rule out chance" in page
    assert "no better than chance" not in page
    assert "too few samples, or groups of them, to rule out chance" in headline(found)


def all_labellings(codes, groups):
    """By brute force: every vector of labels that keeps groups pure or mixed, and what they hold."""
    of_groups = [codes[groups == g] for g in np.unique(groups)]

    def signature(parts):
        pure = Counter(part[0] for part in parts if len(set(part)) == 1)
        return pure, Counter(tuple(sorted(part)) for part in parts if len(set(part)) > 1)

    def kind(part):
        return len(set(part)) == 1 or len(part)

    for labels in product(range(codes.max() + 1), repeat=len(codes)):
        parts = [np.array(labels)[groups == g] for g in np.unique(groups)]
        if [kind(p) for p in parts] == [kind(p) for p in of_groups] and signature(parts) == signature(of_groups):
            yield labels


@pytest.mark.parametrize(
    ("codes", "groups"),
    [
        ([0, 0, 1, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3]),
        ([0, 1, 0, 0, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1, 2, 3]),
        ([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2]),
        ([0, 1, 0, 1, 1, 1, 0], [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_permutation_reaches_every_labelling_of_groups_and_no_other(codes, groups):
    from dsofs.examination.resampling import shuffle_labels, smallest_p

    codes, groups, rng = np.array(codes), np.array(groups), np.random.default_rng(0)
    expected = set(all_labellings(codes, groups))
    drawn = Counter(tuple(shuffle_labels(codes, groups, rng).tolist()) for _ in range(60 * len(expected)))
    assert set(drawn) == expected
    assert max(drawn.values()) < 4 * min(drawn.values())  # each as likely as any other
    renamed = [tuple(np.array(names)[codes].tolist()) for names in permutations(range(codes.max() + 1))]
    assert smallest_p(codes, groups) == pytest.approx(sum(labels in expected for labels in renamed) / len(expected))


def test_permutation_of_single_samples_counts_class_sizes():
    from dsofs.examination.resampling import smallest_p

    assert smallest_p(np.repeat([0, 1], 3), None) == pytest.approx(2 / 20)
    assert smallest_p(np.repeat([0, 1], [2, 4]), None) == pytest.approx(1 / 15)
    assert smallest_p(np.arange(1000) % 2, None) < 1e-100


def test_permutation_p_values_of_grouped_noise_are_not_too_small():
    p_values = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(16), rng.integers(2, 5, 16))
        y = np.where(groups < 5, rng.integers(0, 2, len(groups)), (groups % 2))
        X = (rng.normal(size=(len(y), 30)) + rng.normal(size=(16, 30))[groups])[:, rng.permutation(30)]
        options = {"ks": [3], "n_resamples": 2, "n_permutations": 19, "random_state": seed}
        p_values.append(examine(X, y, METHODS["f_test"](3), groups=groups, **options).permutation.p_value)
    assert np.mean(np.array(p_values) <= 0.1) <= 0.27  # above three standard errors more than 0.1
    assert 0.3 < np.mean(p_values) < 0.75


def test_permutation_says_that_few_shuffles_cannot_show_less():
    X, y, _ = patients(apart=4.0)
    found = examine(X, y, METHODS["f_test"](3), n_resamples=4, n_permutations=19)
    assert found.accuracy.at_k > 0.95
    assert "p = 0.05, the smallest that 19 shuffles allow" in render(found)
