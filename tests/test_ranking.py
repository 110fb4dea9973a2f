import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f as f_distribution
from sklearn.linear_model import Ridge

from dsofs import DSOSelector
from dsofs.design import Block
from dsofs.ranking import FORWARD_FIRST, MOST_BACKWARD, RIDGE, best, ranks, turns_of_elimination, unexplained

from .problems import label_columns, random_data, standardised


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=20))
def test_ranks_are_the_inverse_permutation_of_the_order(rows):
    scores, ties, last = (np.array(column) for column in zip(*rows, strict=True))
    ranking = ranks(scores.astype(float), last.astype(int), -ties)
    assert sorted(ranking) == list(range(1, len(rows) + 1))
    expected = sorted(range(len(rows)), key=lambda i: (rows[i][2], -rows[i][0], -rows[i][1], i))
    assert list(np.argsort(ranking)) == expected


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 15))
def test_the_best_are_the_first_of_all_in_order(values, count):
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:count]
    rounded = np.array(values, dtype=float) * (1 + 1e-12 * np.arange(len(values)))
    assert list(best(rounded, count)) == expected


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


def test_where_fewer_than_six_are_alive_the_others_come_by_backward_elimination():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([4 * y + rng.normal(size=60), rng.normal(size=(60, 40))])
    fits = {rule: DSOSelector(p=0.5, ranking=rule).fit(X, y) for rule in ("forward", "backward", "forward_backward")}
    order = {rule: list(np.argsort(fit.ranking_)) for rule, fit in fits.items()}
    alive = int(np.count_nonzero(fits["forward"].scores_ >= 1))
    assert 0 < alive < FORWARD_FIRST
    first = order["forward"][:alive]
    assert order["forward_backward"] == first + [feature for feature in order["backward"] if feature not in first]


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
    few = np.zeros(12)
    few[order[:4]] = parts[order[:4]]
    np.testing.assert_array_equal(unexplained(Block(Z), Y, np.ones(12), count=4), few)
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


def refitted(Z, Y, groups):
    """The turns by fitting scikit-learn's ridge regression again after every elimination."""
    left, turns = list(np.unique(groups)), np.empty(groups.max() + 1, dtype=int)
    lam = RIDGE * len(Z) * Z.var(axis=0).max()
    model = Ridge(lam, solver="cholesky")
    df = [trace_ratio(by_chance(Z, lam)[np.ix_(groups == group, groups == group)]) for group in left]
    for turn in range(len(left)):
        columns = np.flatnonzero(np.isin(groups, left))
        A, own = Z[:, columns], [groups[columns] == group for group in left]
        W = np.atleast_2d(model.fit(A, Y).coef_).T
        norms = [np.linalg.norm(W[F]) if F.sum() == 1 else single(A, Y, W, F, lam, df[group])
                 for group, F in zip(left, own, strict=True)]  # fmt: skip
        turns[left.pop(int(np.argmin(norms)))] = turn
    return turns


def by_chance(A, lam):
    """The covariances of the weights if Y is noise of variance 1."""
    A = A - A.mean(axis=0)
    weights = np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T)
    return weights @ weights.T


def single(A, Y, W, F, lam, df):
    """The weight of a single column, uncorrelated with the others, that is as unlikely by chance as that of F."""
    A, Y, c = A - A.mean(axis=0), Y - Y.mean(axis=0), Y.shape[1]
    hat = A @ np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T)
    noise = np.sum((Y - hat @ Y) ** 2) / c / (len(Y) - 1 - np.trace(hat))
    alone = by_chance(np.array([[1.0], [-1.0]]) * np.sqrt(lam / RIDGE / 2), lam).item()
    chi2 = np.sum(W[F] ** 2) / noise / np.trace(by_chance(A, lam)[np.ix_(F, F)]) * df
    z = ((chi2 / (df * c)) ** (1 / 3) - (1 - 2 / (9 * df * c))) / np.sqrt(2 / (9 * df * c))
    return np.sqrt(noise * alone * c * max(1 - 2 / (9 * c) + z * np.sqrt(2 / (9 * c)), 0) ** 3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("m", "c"), [(60, 2), (15, 3)])
def test_each_goes_that_has_the_smallest_weight_when_fitted_again(seed, m, c):
    X, y = random_data(seed, m=m, n=25, c=c, correlated=True)
    Z, Y, each = standardised(X) + 3, label_columns(y), np.arange(25)
    np.testing.assert_array_equal(turns_of_elimination(Block(Z), Y, np.ones(25)), refitted(Z, Y, each))


@pytest.mark.parametrize("seed", range(5))
def test_groups_go_as_when_fitted_again(seed):
    """Among the groups one whose columns are dependent."""
    X, y = random_data(seed, m=40, n=20)
    X[:, 4] = X[:, 2] + X[:, 3]
    groups, Y = np.array([0, 0, 1, 1, 1, 1, *range(2, 16)]), label_columns(y)
    X[:, groups < 2] /= 2
    np.testing.assert_array_equal(turns_of_elimination(Block(X), Y, np.ones(16), groups), refitted(X, Y, groups))


def trace_ratio(K):
    return np.trace(K) ** 2 / np.sum(K**2)


def test_of_equal_columns_the_lower_score_goes_first_then_the_last():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30))
    Y = np.sign(a + b)[:, None]
    Z = Block(np.column_stack([a, a, b, b]))
    turns = turns_of_elimination(Z, Y, np.ones(4))
    assert turns[0] > turns[1]
    assert turns[2] > turns[3]
    assert turns_of_elimination(Z, Y, np.array([1.0, 2, 1, 1]))[1] > 1


@pytest.mark.parametrize("seed", range(3))
def test_the_ranking_does_not_depend_on_the_order_of_samples_and_features_nor_on_copies_of_samples(seed):
    X, y = random_data(seed, m=40, n=150, correlated=True)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(40), rng.permutation(150)
    ranking = DSOSelector(ranking="backward").fit(X, y).ranking_
    shuffled = DSOSelector(ranking="backward").fit(X[np.ix_(rows, columns)], y[rows]).ranking_
    doubled = DSOSelector(ranking="backward").fit(np.tile(X, (2, 1)), np.tile(y, 2)).ranking_
    first = MOST_BACKWARD // 2  # the solution, and so where the others died, is known to ``tol`` only
    assert list(columns[np.argsort(shuffled)[:first]]) == list(np.argsort(ranking)[:first])
    assert list(np.argsort(doubled)[:first]) == list(np.argsort(ranking)[:first])


def test_the_first_by_survival_are_put_in_another_order_and_the_others_stay():
    X, y = random_data(0, m=40, n=150)
    survival, backward = (np.argsort(DSOSelector(ranking=rule).fit(X, y).ranking_) for rule in ("survival", "backward"))
    assert set(backward[:MOST_BACKWARD]) == set(survival[:MOST_BACKWARD])
    assert list(backward[:MOST_BACKWARD]) != list(survival[:MOST_BACKWARD])
    np.testing.assert_array_equal(backward[MOST_BACKWARD:], survival[MOST_BACKWARD:])


def test_one_sample_in_a_class_is_enough():
    X, y = random_data(0, m=30, n=60)
    y[y == 2] = 0
    y[0] = 2
    ranking = DSOSelector(ranking="backward").fit(X, y).ranking_
    assert sorted(ranking) == list(range(1, 61))


def test_groups_stand_together_after_backward_elimination():
    X, y = random_data(1, m=40, n=60)
    groups = np.repeat(np.arange(15), 4)
    order = np.argsort(DSOSelector(3, ranking="backward", feature_groups=groups).fit(X, y).ranking_)
    assert np.count_nonzero(np.diff(groups[order])) == 14


@pytest.mark.parametrize("seed", range(3))
def test_ties_in_small_tables_do_not_depend_on_the_order_of_samples(seed):
    """Of zeros and ones, where many features are as good as each other."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (12, 40)).astype(float), np.arange(12) % 2
    rows = rng.permutation(12)
    ranking = DSOSelector(ranking="backward").fit(X, y).ranking_
    np.testing.assert_array_equal(DSOSelector(ranking="backward").fit(X[rows], y[rows]).ranking_, ranking)


@pytest.mark.parametrize("size", [3, 10])
def test_large_groups_of_noise_have_no_advantage(size):
    """They are on average placed about where single columns are: at 14.5 of 30."""
    groups = np.concatenate([np.arange(20), np.repeat(np.arange(20, 30), size)])
    places = []
    for seed in range(10):
        X, y = random_data(seed, m=200, n=len(groups), c=3, informative=0)
        order = np.argsort(DSOSelector(3, ranking="backward", feature_groups=groups).fit(X, y).ranking_)
        in_order = list(dict.fromkeys(groups[order]))
        places.append(np.mean([in_order.index(group) for group in range(20, 30)]))
    assert 10 < np.mean(places) < 19


@pytest.mark.parametrize("levels", [2, 5, 20])
def test_a_category_of_noise_is_kept_as_often_as_a_number(levels):
    """Ten of 31: one in three; whatever the columns of the category are divided by."""
    kept = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        category = (rng.integers(0, levels, 200)[:, None] == np.arange(levels)).astype(float)
        X = standardised(np.hstack([category, rng.normal(size=(200, 30))]))
        X[:, :levels] /= 1 + seed % 3
        groups = np.append(np.zeros(levels, dtype=int), np.arange(1, 31))
        kept.append(turns_of_elimination(Block(X), label_columns(rng.integers(0, 2, 200)), np.ones(31), groups)[0] > 20)
    assert 0.2 < np.mean(kept) < 0.45


def test_the_ranking_does_not_depend_on_units_without_standardising():
    X, y = random_data(0, m=40, n=30)
    turns = [turns_of_elimination(Block(scale * X), label_columns(y), np.ones(30)) for scale in (1.0, 1024.0)]
    np.testing.assert_array_equal(*turns)


def test_columns_that_are_given_stay_without_a_penalty():
    """As if they had been regressed out of X and Y."""
    X, y = random_data(0, m=40, n=30)
    F, Y = X[:, :2] + X[:, 5:7], label_columns(y)
    A = np.column_stack([F, np.ones(40)])
    left_of_X, left_of_Y = (B - A @ np.linalg.lstsq(A, B, rcond=None)[0] for B in (standardised(X), Y))
    model, left, turns = Ridge(RIDGE * 40, solver="cholesky"), list(range(30)), np.empty(30, dtype=int)
    for turn in range(30):
        W = model.fit(left_of_X[:, left], left_of_Y).coef_
        turns[left.pop(int(np.argmin(np.linalg.norm(W, axis=0))))] = turn
    np.testing.assert_array_equal(turns_of_elimination(Block(standardised(X)), Y, np.ones(30), given=F), turns)


def test_a_costly_feature_goes_earlier():
    X, y = random_data(0, m=60, n=20)
    best = int(np.argmax(turns_of_elimination(Block(standardised(X)), label_columns(y), np.ones(20))))
    divisor = np.where(np.arange(20) == best, 10.0, 1.0)
    turns = turns_of_elimination(Block(standardised(X) / divisor), label_columns(y), np.ones(20), divisor=divisor)
    assert turns[best] < 10
