import numpy as np
import pytest
from scipy.stats import chi2, norm, wilcoxon

from dsofs.statistics.significance import compare_with_first, holm, mean_ranks, stability


def test_holm_on_a_textbook_case():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.9, 0.8])), [1, 1])


def test_differences_have_the_sign_of_the_first_less_the_other():
    scores = np.random.default_rng(0).random((9, 3))
    result = compare_with_first(scores)
    np.testing.assert_allclose(result.differences, scores[:, 0].mean() - scores[:, 1:].mean(axis=0))
    assert result.p_values[0] == pytest.approx(wilcoxon(scores[:, 0], scores[:, 1]).pvalue)
    assert (result.corrected >= result.p_values).all()


def test_a_method_against_itself_does_not_differ():
    column = np.random.default_rng(1).random(8)
    np.testing.assert_array_equal(compare_with_first(np.column_stack([column, column])).corrected, [1.0])


def test_the_example_of_demsar():
    """Table 6 of Demsar (2006): C4.5 and three variants on 14 data sets.

    A tie that the paper's ranks break is broken in the third decimal.
    """
    scores = np.array([
        [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.976, 0.975], [0.957, 0.978, 0.946, 0.970],
    ])  # fmt: skip
    result = mean_ranks(scores)
    np.testing.assert_allclose(result.mean, [3.143, 2.000, 2.893, 1.964], atol=1e-3)
    assert result.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    # The statistic printed is 9.28; SciPy corrects it for ties: one of four and three of two.
    tied = ((4**3 - 4) + 3 * (2**3 - 2)) / (14 * 4 * (4**2 - 1))
    assert result.p_value == pytest.approx(chi2.sf(9.28 / (1 - tied), df=3), rel=1e-2)


def test_methods_that_always_tie():
    result = mean_ranks(np.ones((5, 3)))
    np.testing.assert_array_equal(result.mean, [2, 2, 2])
    assert result.p_value == 1.0


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
