"""RFSSelector against CVXPY, against least squares, and as a user meets it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dsofs import LassoSelector, RFSSelector
from dsofs.design import row_norms
from dsofs.ranking import RANKINGS
from dsofs.solvers.rfs.general import Term
from tests.problems import label_columns, random_data, standardised
from tests.reference.oracles import terms_optimum

any_seed = st.integers(0, 2**32 - 1)


def random_targets(seed, m=40, n=100, c=2):
    """Targets of a few features, far from 0, with heavy noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, 7 + X[:, :4] @ rng.normal(size=(4, c)) + 0.3 * rng.standard_t(2, size=(m, c))


def value(fit, X, Y):
    """The objective in the units of the formula, from nothing but the fitted model."""
    Z = X.std(axis=0)[:, None] * fit.coef_.T
    bias = fit.intercept_ + fit.coef_ @ X.mean(axis=0) - (Y.mean(axis=0) if fit.task == "regression" else 0)
    residual = X @ fit.coef_.T + fit.intercept_ - Y
    return np.sum(row_norms(residual) ** fit.q) + fit.lam * np.sum(row_norms(np.vstack([Z, bias])) ** fit.p)


# samples, features, classes or targets; p, q, lam
CONVEX = [
    (20, 60, 2, 1.0, 1.0, 1.0), (60, 20, 2, 1.0, 1.0, 1.0), (30, 90, 3, 1.0, 1.0, 5.0), (90, 30, 3, 1.0, 1.0, 5.0),
    (25, 80, 4, 1.0, 1.5, 1.0), (80, 25, 4, 1.0, 1.5, 3.0), (30, 70, 3, 1.0, 2.0, 2.0), (70, 30, 2, 1.0, 2.0, 9.0),
    (25, 50, 3, 1.5, 1.0, 1.0), (60, 30, 3, 1.5, 1.0, 0.3), (20, 50, 2, 1.5, 1.5, 4.0), (50, 20, 3, 1.5, 2.0, 1.0),
    (25, 50, 3, 2.0, 1.0, 1.0), (60, 30, 3, 2.0, 1.0, 8.0), (20, 50, 2, 2.0, 1.5, 4.0), (50, 20, 3, 2.0, 2.0, 1.0),
    (40, 39, 3, 1.0, 1.0, 0.1), (40, 40, 3, 1.0, 1.0, 0.1), (120, 40, 1, 1.0, 1.0, 20.0), (30, 200, 1, 1.0, 1.0, 0.2),
]  # fmt: skip


@pytest.mark.parametrize(("case", "shape"), list(enumerate(CONVEX)), ids=str)
def test_reaches_the_global_optimum(case, shape):
    m, n, c, p, q, lam = shape
    regression = case % 2 == 1 or c == 1
    X, y = random_targets(case, m, n, c) if regression else random_data(case, m, n, c)
    Y = y if regression else label_columns(y)
    task = "regression" if regression else "classification"
    fit = RFSSelector(lam=lam, p=p, q=q, task=task, tol=1e-5).fit(X, y)
    centred = Y - Y.mean(axis=0) if regression else Y
    optimum = terms_optimum([Term(np.column_stack([standardised(X), np.ones(m)]), -centred, q)], lam, p)
    assert fit.status_ == "converged"
    assert fit.objective_ == pytest.approx(optimum, rel=1e-4)
    assert fit.objective_ == pytest.approx(value(fit, X, Y), rel=1e-8)
    assert 0 <= fit.duality_gap_ <= 1e-5
    assert np.isnan(fit.stationarity_)


@pytest.mark.parametrize("shape", [(30, 80), (80, 30)])
def test_least_squares_is_the_multi_task_lasso(shape):
    X, y = random_data(1, *shape, 3)
    X -= X.mean(axis=0)
    plain = {"lam": 20.0, "fit_intercept": False}
    fit = RFSSelector(q=2.0, tol=1e-8, **plain).fit(X, y)
    lasso = LassoSelector(multi_task=True, tol=1e-12, max_iter=100_000, **plain).fit(X, y)
    np.testing.assert_allclose(fit.coef_, lasso.coef_, atol=1e-4)
    assert 0 < np.count_nonzero(lasso.coef_.any(axis=0)) < shape[1]


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.5, 0.5), (1.5, 1.5)])
def test_two_classes_by_one_column_or_by_two(p, q):
    """The second column is the negative of the first: norms grow by sqrt(2), which p = q takes out again."""
    X, y = random_data(2, 30, 60, 2)
    one = RFSSelector(p=p, q=q, tol=1e-6).fit(X, y)
    assert one.coef_.shape == (1, 60)
    Y = label_columns(y)
    options = {"p": p, "q": q, "tol": 1e-6, "task": "regression", "fit_intercept": False}
    column, both = (RFSSelector(**options).fit(X, targets) for targets in (Y, np.column_stack([-Y, Y])))
    np.testing.assert_allclose(both.coef_[0], -both.coef_[1], atol=1e-9)
    np.testing.assert_allclose(both.coef_[1], column.coef_[0], atol=1e-4)


@pytest.mark.parametrize("p", [0.5, 1.0])
@pytest.mark.parametrize("shape", [(30, 70), (70, 30)])
def test_sparse_and_float32_equal_dense(p, shape):
    X, y = random_data(3, *shape, 3)
    X = np.round(X * (np.random.default_rng(0).random(X.shape) < 0.4), 3)
    model = RFSSelector(p=p, tol=1e-7)
    dense = model.fit(X, y).coef_
    for kind in (sparse.csr_array, sparse.csc_matrix):
        np.testing.assert_allclose(model.fit(kind(X), y).coef_, dense, atol=1e-5)
    np.testing.assert_allclose(model.fit(X.astype(np.float32), y).coef_, dense, atol=1e-3)


@settings(max_examples=10)
@given(any_seed)
def test_what_must_not_change_the_result(seed):
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, 25, 60, 3)
    model = RFSSelector(tol=1e-5)
    plain = model.fit(X, y).coef_
    rows, columns = rng.permutation(25), rng.permutation(60)
    close = {"atol": 1e-2}
    np.testing.assert_allclose(model.fit(X[rows][:, columns], y[rows]).coef_, plain[:, columns], **close)
    np.testing.assert_allclose(model.fit(X, np.array(["a", "b", "c"])[y]).coef_, plain, **close)
    units = 10.0 ** rng.integers(-6, 7, 60)
    np.testing.assert_allclose(model.fit(X * units + 3, y).coef_ * units, plain, **close)


def test_every_sample_twice_is_half_the_price():
    X, y = random_data(4, 25, 60, 3)
    once = RFSSelector(lam=1.0, tol=1e-6).fit(X, y)
    twice = RFSSelector(lam=2.0, tol=1e-6).fit(np.vstack([X, X]), np.r_[y, y])
    assert twice.objective_ == pytest.approx(2 * once.objective_, rel=1e-5)
    np.testing.assert_allclose(twice.coef_, once.coef_, atol=1e-3)


def test_units_and_shift_of_the_targets():
    X, Y = random_targets(5)
    model = RFSSelector(task="regression", tol=1e-7)
    plain = model.fit(X, Y)
    coef, intercept = plain.coef_, plain.intercept_
    other = model.fit(X, 1e6 * Y + 1e9)
    np.testing.assert_allclose(other.coef_, 1e6 * coef, atol=1e6 * 1e-5)
    np.testing.assert_allclose(other.intercept_, 1e6 * intercept + 1e9, rtol=1e-6)


def test_block_size_and_memory_map(tmp_path):
    X, y = random_data(7, 40, 900, 3)
    plain = RFSSelector(tol=1e-6).fit(X, y)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    in_pieces = RFSSelector(tol=1e-6, memory_limit=2**19).fit(mapped, y)
    np.testing.assert_allclose(in_pieces.coef_, plain.coef_, atol=1e-6)


def test_outliers_do_less_harm_than_to_least_squares():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 50))
    y = X[:, :3] @ [3.0, -2.0, 1.0]
    y[:20] += 100 * rng.normal(size=20)
    robust, squares = (RFSSelector(3, q=q, task="regression").fit(X, y) for q in (1.0, 2.0))
    np.testing.assert_allclose(robust.coef_[0, :3], [3.0, -2.0, 1.0], atol=1e-6)
    assert set(np.flatnonzero(robust.get_support())) == {0, 1, 2}
    assert np.abs(squares.coef_[0, :3] - [3.0, -2.0, 1.0]).max() > 0.3


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
def test_ranking(p, ranking):
    X, y = random_data(9, 40, 150, 3)
    fit = RFSSelector(p=p, ranking=ranking).fit(X, y)
    assert sorted(fit.ranking_) == list(range(1, 151))
    norms = np.linalg.norm(fit.coef_ * X.std(axis=0), axis=0)
    support = np.count_nonzero(norms)
    assert support < 150 or p == 2
    if ranking == "norm":
        np.testing.assert_array_equal(np.argsort(fit.ranking_)[:support], np.argsort(-norms)[:support])
        np.testing.assert_allclose(fit.scores_[norms > 0], norms[norms > 0])


def test_smaller_p_keeps_fewer_rows():
    X, y = random_data(10, 40, 200, 3)
    rows = [np.count_nonzero(RFSSelector(p=p).fit(X, y).coef_.any(axis=0)) for p in (2.0, 1.0, 0.5)]
    assert rows[0] == 200
    assert rows[0] > rows[1] > rows[2] > 0


@pytest.mark.parametrize("targets", [1, 3])
def test_targets_in_columns(targets):
    X, Y = random_targets(11, c=targets)
    names = [f"gene {i}" for i in range(X.shape[1])]
    fit = RFSSelector(4, task="regression").fit(pd.DataFrame(X, columns=names), Y[:, 0] if targets == 1 else Y)
    assert fit.coef_.shape == (targets, X.shape[1])
    assert fit.intercept_.shape == (targets,)
    assert not hasattr(fit, "classes_")
    assert list(fit.get_feature_names_out()) == [names[i] for i in np.flatnonzero(fit.ranking_ <= 4)]


def test_without_intercept_there_is_none():
    X, y = random_data(12, 30, 60, 3)
    fit = RFSSelector(standardize=False, fit_intercept=False).fit(X, y)
    assert not fit.intercept_.any()
    assert fit.objective_ == pytest.approx(
        np.sum(row_norms(X @ fit.coef_.T - label_columns(y))) + np.sum(row_norms(fit.coef_.T)), rel=1e-8
    )


def test_history_and_printing(capsys):
    X, y = random_data(13, 30, 60, 3)
    fit = RFSSelector(verbose=1).fit(X, y)
    assert all(len(values) == fit.n_iter_ for values in fit.history_.values())
    assert fit.history_["objective"][-1] == fit.objective_
    assert len(capsys.readouterr().out.splitlines()) == fit.n_iter_ + 1


def test_a_price_that_leaves_nothing_is_told():
    with pytest.warns(ConvergenceWarning, match=r"misfit costs so little that W = 0 is the best.*Lower lam\."):
        assert RFSSelector(lam=1e3, p=0.5).fit(*random_data(0)).status_ == "zero"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.15, 0.2, 0.25])
@pytest.mark.parametrize("n", [5, 300])
def test_a_rare_class_is_certified_too(seed, share, n):
    """The bias alone fits most samples exactly: their multipliers are not unique, and not all of them certify it."""
    rng = np.random.default_rng(seed)
    y = (rng.random(120) < share).astype(int)
    X = rng.normal(size=(120, n)) + 0.5 * y[:, None]
    fit = RFSSelector(3).fit(X, y)
    assert fit.status_ == "converged"
    assert fit.duality_gap_ <= 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_targets_that_fit_exactly_but_for_outliers_are_certified(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 20))
    target = X[:, :3].sum(axis=1)
    target[:6] += 10
    assert RFSSelector(3, lam=0.1, task="regression").fit(X, target).status_ == "converged"


def test_too_few_steps_are_told():
    with pytest.warns(ConvergenceWarning, match=r"max_iter was reached.* after 2 steps: duality gap .*Raise max_iter"):
        assert RFSSelector(max_iter=2, tol=1e-9).fit(*random_data(0)).status_ == "max_iter"


def test_memory_is_refused_before_it_is_taken():
    with pytest.raises(MemoryError, match="RFSSelector needs about"):
        RFSSelector(memory_limit=100).fit(*random_data(0))


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"lam": 0}, r"The 'lam' parameter of RFSSelector must be a float in the range \(0, inf\). Got 0 instead."),
        ({"p": 2.1}, r"The 'p' parameter of RFSSelector must be a float in the range \(0, 2\]. Got 2.1 instead."),
        ({"q": 0.0}, r"The 'q' parameter .* Got 0.0 instead."),
        ({"task": "both"}, "The 'task' parameter .* must be 'classification' or 'regression'. Got 'both' instead."),
        ({"ranking": "luck"}, "The 'ranking' parameter .* Got 'luck' instead."),
        ({"tol": -1.0}, "The 'tol' parameter .* Got -1.0 instead."),
    ],
)
def test_bad_parameters(parameter, message):
    with pytest.raises(ValueError, match=message):
        RFSSelector(**parameter).fit(*random_data(0))


def test_bad_targets():
    X, Y = random_targets(0)
    with pytest.raises(ValueError, match="Unknown label type"):
        RFSSelector().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="needs a target that varies; all values of y are 3"):
        RFSSelector(task="regression").fit(X, np.full((40, 2), 3.0))
    with pytest.raises(ValueError, match="y contains NaN"):
        RFSSelector(task="regression").fit(X, np.where(Y > 8, np.nan, Y))
