import numpy as np
import pytest

from dsofs.statistics.samples import Samples, folds, train_test


def grouped(seed, n_groups=40):
    """Groups of one to four samples, of one class each."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 5, n_groups))
    return Samples(rng.normal(size=(len(groups), 3)), (groups % 3).astype(np.intp), groups)


def ungrouped(seed):
    samples = grouped(seed)
    return Samples(samples.X, samples.y)


SAMPLES = {"single": ungrouped, "grouped": grouped}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_split_is_six_to_four_and_shares_nothing(kind, stratified, seed):
    samples = SAMPLES[kind](seed)
    training, test = train_test(samples, stratified=stratified, seed=seed)
    assert sorted([*training, *test]) == list(range(len(samples)))
    assert len(training) / len(samples) == pytest.approx(0.6, abs=0.01 if kind == "single" else 0.1)
    if stratified:
        shares = np.bincount(samples.y[training]) / np.bincount(samples.y)
        np.testing.assert_allclose(shares, 0.6, atol=0.03 if kind == "single" else 0.12)
    if kind == "grouped":
        assert not set(samples.groups[training]) & set(samples.groups[test])
    again, _ = train_test(samples, stratified=stratified, seed=seed)
    np.testing.assert_array_equal(training, again)
    assert set(training) != set(train_test(samples, stratified=stratified, seed=seed + 1)[0])


def test_groups_of_different_sizes_are_split_at_random_too():
    """Dealt out by size, the largest first, they would be on the same side for every seed."""
    groups = np.repeat(np.arange(30), np.arange(1, 31))
    samples = Samples(np.zeros((len(groups), 1)), (groups % 2).astype(np.intp), groups)
    tests = [frozenset(groups[train_test(samples, stratified=True, seed=seed)[1]]) for seed in range(40)]
    assert len(set(tests)) > 35
    times = np.array([sum(group in test for test in tests) for group in range(30)])
    assert times.min() > 0
    assert times.max() < 40


@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_a_few_groups_can_be_split(n_groups):
    groups = np.repeat(np.arange(n_groups), 6)
    samples = Samples(np.zeros((len(groups), 1)), np.arange(len(groups)) % 2, groups)
    training, test = train_test(samples, stratified=True, seed=0)
    assert len(training)
    assert len(test)


@pytest.mark.parametrize("seed", range(5))
def test_a_class_of_one_sample_is_learnt_from_with_its_group(seed):
    groups = np.repeat(np.arange(10), 3)
    y = np.r_[5, np.arange(29) % 2]
    training, test = train_test(Samples(np.zeros((30, 1)), y), stratified=True, seed=seed)
    assert 0 in training
    training, test = train_test(Samples(np.zeros((30, 1)), y, groups), stratified=True, seed=seed)
    assert {0, 1, 2} <= set(training)
    assert not set(groups[training]) & set(groups[test])


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("kind", SAMPLES)
def test_every_sample_is_in_one_fold(kind, stratified):
    samples = SAMPLES[kind](0)
    parts = folds(samples, 8, stratified=stratified, seed=1)
    assert len(parts) == 8
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(len(samples)))
    for training, test in parts:
        assert sorted([*training, *test]) == list(range(len(samples)))
        if kind == "grouped":
            assert not set(samples.groups[training]) & set(samples.groups[test])
        if stratified and kind == "single":
            np.testing.assert_allclose(np.bincount(samples.y[test]), np.bincount(samples.y) / 8, atol=1)


def test_the_smallest_class_limits_stratified_folds_only():
    y = np.array([0] * 20 + [1] * 3)
    samples = Samples(np.zeros((23, 1)), y)
    assert len(folds(samples, 8, stratified=True, seed=0)) == 3
    assert len(folds(samples, 8, stratified=False, seed=0)) == 8
    lonely = Samples(np.zeros((21, 1)), y[:21])
    assert len(folds(lonely, 8, stratified=True, seed=0)) == 2
    one_patient = Samples(np.zeros((23, 1)), y, np.append(np.arange(20), [20, 20, 21]))
    assert len(folds(one_patient, 8, stratified=True, seed=0)) == 2


def test_there_are_no_more_folds_than_groups():
    samples = Samples(np.zeros((12, 1)), np.arange(12) % 2, np.repeat(np.arange(3), 4))
    assert len(folds(samples, 8, stratified=False, seed=0)) == 3
