import numpy as np
import pytest
from scipy.stats import chi2

from dsofs import DSOSelector
from dsofs.design import Block
from dsofs.group_sizes import GroupSizes
from tests.problems import standardised


def one_hot(levels):
    return (levels[:, None] == np.unique(levels)).astype(float)


@pytest.mark.parametrize("n_targets", [1, 4])
def test_a_category_has_as_many_degrees_of_freedom_as_levels_less_one(n_targets):
    levels = np.arange(60) % 6
    Z = standardised(np.column_stack([one_hot(levels), np.random.default_rng(0).normal(size=(60, 3))]))
    sizes = GroupSizes.of(Block(Z), np.array([0] * 6 + [1, 2, 3]), n_targets)
    chance = chi2.isf(1 / 9, 5 * n_targets) / chi2.isf(1 / 9, n_targets)
    np.testing.assert_allclose(sizes.chance, [chance, 1, 1, 1])
    np.testing.assert_allclose(sizes.factor, [np.sqrt(6 / 5 * chance), 1, 1, 1])


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_degrees_of_freedom_of_correlated_columns_lie_between_one_and_all(shape):
    rng = np.random.default_rng(0)
    common = rng.normal(size=(shape[0], 1))
    columns = {"copies": np.repeat(common, shape[1], axis=1), "independent": rng.normal(size=shape)}
    columns["correlated"] = columns["independent"] + common
    chance = {
        name: GroupSizes.of(Block(standardised(Z)), np.zeros(shape[1], dtype=int), 1).chance[0]
        for name, Z in columns.items()
    }
    assert chance["copies"] == pytest.approx(1)
    assert 1 < chance["correlated"] < chance["independent"]


def test_a_pair_of_copies_costs_as_much_as_one_column():
    """A group of a column and its negative: the penalty of the effect, not of the coefficients."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x, others = rng.normal(size=(40, 1)) + y[:, None], rng.normal(size=(40, 4))
    alone = DSOSelector(2, p=1.5, feature_groups=[0, 1, 2, 3, 4]).fit(np.hstack([x, others]), y)
    pair = DSOSelector(2, p=1.5, feature_groups=[0, 0, 1, 2, 3, 4]).fit(np.hstack([x, 1 - 2 * x, others]), y)
    assert pair.objective_ == pytest.approx(alone.objective_, rel=1e-3)
    np.testing.assert_allclose(pair.penalty_factor_, [2**0.75, 2**0.75, 1, 1, 1, 1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("levels", [2, 5, 20])
def test_a_random_category_is_chosen_no_more_often_than_a_random_number(levels, n_classes):
    """Among 30 numbers without information it is among the first three about as often as each of them."""
    chosen = 0
    for seed in range(40):
        rng = np.random.default_rng([levels, n_classes, seed])
        y = rng.permutation(np.arange(100) % n_classes)
        category, numbers = one_hot(rng.integers(0, levels, 100)), rng.normal(size=(100, 30))
        groups = np.append(np.zeros(category.shape[1], dtype=int), np.arange(1, 31))
        fit = DSOSelector(3, feature_groups=groups).fit(np.hstack([category, numbers]), y)
        chosen += bool(fit.get_support()[0])
    assert chosen <= 11  # 3.9 are expected; more than 11 has a probability of 0.0005


def test_a_true_category_of_twenty_levels_is_found():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 20, 120)
    y = np.where(rng.random(120) < 0.9, levels % 2, 1 - levels % 2)
    X = np.hstack([rng.normal(size=(120, 500)), one_hot(levels)])
    groups = np.append(np.arange(500), np.full(20, 500))
    for ranking in ("forward", "survival", "norm"):
        fit = DSOSelector(1, ranking=ranking, feature_groups=groups).fit(X, y)
        assert np.flatnonzero(fit.get_support()).tolist() == list(range(500, 520))
