import numpy as np
import pytest
from scipy.stats import f as f_distribution

from dsofs.design import Block
from dsofs.forward import unexplained


@pytest.mark.parametrize("seed", range(5))
def test_forward_selection_takes_what_explains_most(seed):
    """Against least squares with every column that could come next; a copy of a column is never taken."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(40, 12)) + 3
    Z[:, 7] = Z[:, 3]
    Y = rng.normal(size=(40, 3)) + Z[:, [3, 5, 8]]
    parts = unexplained(Block(Z), Y, np.ones(12))
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
    np.testing.assert_allclose(
        unexplained(Block(Z + offset), Y, np.ones(8)), unexplained(Block(Z), Y, np.ones(8)), rtol=1e-3, atol=1e-6
    )


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_taken_by_the_p_value_of_the_f_test(seed):
    """Against least squares with every group that could come next, among them one whose columns are dependent."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 6, 60)
    Z = np.column_stack([level[:, None] == np.arange(6), rng.normal(size=(60, 7))])
    groups = np.array([0] * 6 + [1, 2, 2, 2, 3, 4, 5])
    Y = rng.normal(size=(60, 2)) + Z[:, [1, 6]] + 0.5 * Z[:, [8, 10]]
    parts = unexplained(Block(Z), Y, np.ones(6), groups)
    order = list(np.argsort(-parts, kind="stable"))
    for place, group in enumerate(order):
        before = np.isin(groups, order[:place])
        p_values = {g: p_value(Z[:, before], Z[:, before | (groups == g)], Y) for g in order[place:]}
        assert p_values[group] <= min(p_values.values()) * (1 + 1e-9)
        assert parts[group] == pytest.approx(misfit(Z[:, before], Y))


def test_a_tie_goes_to_the_larger_norm_then_to_the_first():
    Z = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 0]])
    Y = np.array([[1.0], [1], [1], [-1]])  # every column explains a third of it
    assert unexplained(Block(Z), Y, np.ones(3)).argmax() == 0
    assert unexplained(Block(Z), Y, np.array([1.0, 1 + 1e-12, 1])).argmax() == 0
    assert unexplained(Block(Z), Y, np.array([1.0, 1, 2])).argmax() == 2


def p_value(A, with_group, Y):
    """Of the F-test for the columns that ``with_group`` has more than A, over all columns of Y together."""
    rank = [np.linalg.matrix_rank(Z - Z.mean(axis=0)) if Z.size else 0 for Z in (A, with_group)]
    before, after = misfit(A, Y), misfit(with_group, Y)
    df, rest = rank[1] - rank[0], len(Y) - 1 - rank[1]
    return f_distribution.sf((before - after) / df / (after / rest), df * Y.shape[1], rest * Y.shape[1])


def misfit(A, Y):
    """The part of Y that is left by least squares with an intercept."""
    A, Y = A - A.mean(axis=0), Y - Y.mean(axis=0)
    return np.sum((Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]) ** 2) / np.sum(Y**2)
