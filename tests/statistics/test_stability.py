import numpy as np
import pytest
from scipy.stats import norm

from dsofs.statistics.stability import stability


def random_sets(seed, M, d, k):
    rng = np.random.default_rng(seed)
    return [rng.choice(d, k, replace=False) for _ in range(M)]


def test_equal_sets_are_stable_and_their_order_does_not_matter():
    result = stability([[3, 1, 7], [7, 3, 1], [1, 3, 7]], 20)
    assert result.index == pytest.approx(1)
    assert result.low == pytest.approx(1)
    assert result.high == pytest.approx(1)


def test_random_sets_are_worth_nothing_on_average():
    values = [stability(random_sets(seed, 10, 200, 20), 200).index for seed in range(200)]
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(len(values)) + 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_sets_of_one_size_give_kuncheva_s_index(seed):
    """Where all sets have k features the index is the mean of Kuncheva's over all pairs (their Theorem 4)."""
    d, k = 30, 8
    sets = random_sets(seed, 6, d, k)
    pairs = [
        (len(set(a) & set(b)) - k**2 / d) / (k - k**2 / d) for i, a in enumerate(sets) for b in sets[:i]
    ]  # fmt: skip
    assert stability(sets, d).index == pytest.approx(np.mean(pairs))


def test_the_interval_covers_the_truth():
    """Features are chosen independently, each with its own probability, so the true index is known."""
    rng = np.random.default_rng(0)
    probability = np.concatenate([np.full(10, 0.8), np.full(90, 0.05)])
    q = probability.mean()
    truth = 1 - np.mean(probability * (1 - probability)) / (q * (1 - q))
    hits = 0
    for _ in range(300):
        sets = [np.flatnonzero(rng.random(100) < probability) for _ in range(50)]
        result = stability(sets, 100)
        hits += result.low <= truth <= result.high
    assert abs(hits / 300 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 300) + 0.01


def test_the_interval_grows_with_confidence():
    sets = random_sets(1, 8, 40, 9)
    wide, narrow = stability(sets, 40, confidence=0.99), stability(sets, 40, confidence=0.9)
    ratio = (wide.high - wide.index) / (narrow.high - narrow.index)
    assert ratio == pytest.approx(norm.ppf(0.995) / norm.ppf(0.95))


def test_what_is_not_defined():
    assert np.isnan(stability([[0, 1], [0, 1]], 2).index)
    with pytest.raises(ValueError, match="at least 2 sets of features"):
        stability([[1]], 3)
