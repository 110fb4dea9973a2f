"""Every kind of design gives the products of the matrix it stands for."""

import numpy as np
import pytest
from scipy import sparse

from dsofs.design import Block, Budget, NotFiniteError, as_design, moments
from dsofs.design import budget as memory
from dsofs.design.backends.dense import DenseDesign
from dsofs.design.backends.sparse import SparseDesign
from tests.arrays import KINDS, LIBRARIES
from tests.problems import standardised

C = 3
# More than 256, so that matrices are mirrored in pieces too.
SHAPES = {"wide": (13, 300), "tall": (300, 13)}
BUDGETS = {"in one block": Budget(), "in pieces": Budget(8 * 13 * 50, 8 * 13 * 50, 8 * 13 * 20, 7)}


@pytest.fixture(params=SHAPES)
def X(request):
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, size=SHAPES[request.param]) * (rng.random(SHAPES[request.param]) < 0.7)
    X[:, 5] = 4.0
    X[:, 9] = 0.0
    return X


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_operations_equal_those_of_the_matrix(X, kind, bias, budget, tmp_path):
    budget, given = BUDGETS[budget], KINDS[kind](X, tmp_path)
    rng = np.random.default_rng(1)
    T = rng.normal(size=(len(X), 2))
    stats = moments(given, T, budget)
    assert set(np.flatnonzero(stats.constant)) == {5, 9}
    whole_X = X.astype(np.float32).astype(float) if kind == "float32" else X
    Z = standardised(np.delete(whole_X, [5, 9], 1))
    np.testing.assert_allclose(np.delete(stats.targets, [5, 9], 0), Z.T @ T, atol=1e-9)
    Z = np.column_stack([Z, np.ones(len(Z))]) if bias else Z
    operations = as_design(given, stats, standardize=True, bias=bias, budget=budget)
    d, W, B = rng.random(Z.shape[1]), rng.normal(size=(Z.shape[1], C)), rng.normal(size=(len(Z), C))
    d[3] = 0.0
    some = np.sort(rng.permutation(Z.shape[1])[:40])
    few = np.sort(rng.permutation(len(Z))[:11])
    everything = operations.compact()
    whole = slice(None)
    for view, use in [(operations, whole), (everything, whole), (everything.take(some), some)]:
        matrix = Z[:, use]
        close = {"atol": 1e-9}
        np.testing.assert_allclose(view.gram(d[use]), matrix * d[use] @ matrix.T, **close)
        np.testing.assert_allclose(view.gram(np.ones(matrix.shape[1])), matrix @ matrix.T, **close)
        np.testing.assert_allclose(view.dot(W[use]), matrix @ W[use], **close)
        np.testing.assert_allclose(view.tdot(B), matrix.T @ B, **close)
        np.testing.assert_allclose(view.dual_norms(B), np.linalg.norm(matrix.T @ B, axis=1), **close)
        np.testing.assert_allclose(view.samples(few).on_host(), matrix[few], **close)
        np.testing.assert_allclose(view.samples(slice(2, 9)).on_host(), matrix[2:9], **close)
        np.testing.assert_allclose(view.column_norms(), np.linalg.norm(matrix, axis=0), **close)
        u, rough = np.arange(len(Z)), view.rough()
        results = ((rough.normal_matrix(u), matrix.T * u @ matrix), (rough.dot(W[use]), matrix @ W[use]))
        others = ((rough.tdot(B), matrix.T @ B), (rough.gram(d[use]), matrix * d[use] @ matrix.T))
        for result, exact in results + others:
            np.testing.assert_allclose(result, exact, atol=1e-6 * np.abs(exact).max())
        (H, h), (nothing, none) = view.normal_equations([(few, d[:11], B[few]), (few[:0], d[:0], B[:0])])
        np.testing.assert_allclose(H, matrix[few].T * d[:11] @ matrix[few], **close)
        np.testing.assert_allclose(h, matrix[few].T @ B[few], **close)
        np.testing.assert_array_equal(nothing, np.zeros_like(H))
        np.testing.assert_array_equal(none, np.zeros_like(h))
        for u in (d[:11] - 1, d[:11]):  # of both signs and of one
            H, h = view.normal_change(few, u, B[few])
            np.testing.assert_allclose(H, matrix[few].T * u @ matrix[few], **close)
            np.testing.assert_allclose(h, matrix[few].T @ B[few], **close)
        centred = matrix - matrix.mean(axis=0)
        G, b = view.covariances(B)
        np.testing.assert_allclose(G, centred.T @ centred, **close)
        np.testing.assert_allclose(b, centred.T @ B, **close)
    np.testing.assert_allclose(everything.block(some).on_host(), Z[:, some], atol=1e-9)
    assert (view.gram(d[some]) == view.gram(d[some]).T).all()


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_weight_counts_equal_samples(X, kind, standardize, budget, tmp_path):
    """Means, deviations, norms and covariances are those of a matrix whose rows are repeated."""
    budget, given = BUDGETS[budget], KINDS[kind](X, tmp_path)
    rng = np.random.default_rng(1)
    v, T = rng.integers(1, 4, len(X)), rng.normal(size=(len(X), 2))
    weighted, repeated = moments(given, T, budget, v.astype(float)), moments(X.repeat(v, axis=0))
    single = kind == "float32"
    close = {"rtol": 1e-6 if single else 1e-12, "atol": 1e-6 if single else 1e-12}
    np.testing.assert_allclose(weighted.mean, repeated.mean, **close)
    np.testing.assert_allclose(weighted.scale, repeated.scale, **close)
    np.testing.assert_array_equal(weighted.constant, repeated.constant)
    np.testing.assert_allclose(weighted.targets, (X - repeated.mean).T @ T / repeated.scale[:, None], atol=1e-3)
    options = {"standardize": standardize, "bias": True, "budget": budget}
    one = as_design(given, weighted, **options, sample_weight=v.astype(float))
    other = as_design(X.repeat(v, axis=0), repeated, **options)
    some, close = np.arange(4, 20, 2), {"rtol": 1e-5 if single else 1e-9, "atol": 1e-4 if single else 1e-9}
    some = some[some < one.n_columns]
    assert (one.total_weight, one.sample_size) == (other.total_weight, other.sample_size)
    for view in (one, one.compact(), one.take(some), one.block(some)):
        full = view.n_columns == one.n_columns
        reference = other if full else other.take(some)
        np.testing.assert_allclose(view.column_norms(), reference.column_norms(), **close)
        B = rng.normal(size=(len(X), C))
        np.testing.assert_allclose(view.tdot(view.weighted(B)), reference.tdot(B.repeat(v, axis=0)), **close)
        centred = view.centred(B)
        np.testing.assert_allclose(centred.repeat(v, axis=0), reference.centred(B.repeat(v, axis=0)), atol=1e-12)
        for found, expected in zip(
            view.covariances(centred), reference.covariances(centred.repeat(v, axis=0)), strict=True
        ):
            np.testing.assert_allclose(found, expected, **close)
    few = np.array([1, 3, 4])
    np.testing.assert_array_equal(one.samples(few).sample_weight, v[few])


def test_rough_norms_are_bounded_whatever_the_weights():
    """Norms in float32 are looked at again where they may be the largest, and weights below 1 hide no length."""
    rng = np.random.default_rng(0)
    X, v = rng.normal(2, 1, size=(20, 40_000)).astype(np.float32), np.exp(rng.normal(-6, 2, size=20))
    view = as_design(X, moments(X, sample_weight=v), standardize=True, bias=False, sample_weight=v)
    B = rng.normal(size=(20, 60))
    exact = np.linalg.norm(view.materialise().on_host().T @ B, axis=1)
    assert view.dual_norms(B).max() == pytest.approx(exact.max(), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found_on_the_way(X, kind, value, tmp_path):
    X[7, 3] = value
    with pytest.raises(NotFiniteError):
        moments(KINDS[kind](X, tmp_path))


@pytest.mark.parametrize("kind", LIBRARIES)
def test_blocks_stay_in_the_library_of_x(X, kind, tmp_path):
    given = KINDS[kind](X, tmp_path)
    block = as_design(given, moments(given), standardize=True, bias=True).compact()
    assert type(block.Z) is type(given)
    assert type(block.take(np.arange(3)).Z) is type(given)
    assert block.Z.device == given.device


@pytest.mark.parametrize(
    "change", [lambda X: X, lambda X: X + 1e5, lambda X: 1e-150 * X, lambda X: X.astype(np.float32)]
)
def test_products_with_x_as_it_is_are_those_of_the_standardised_one(X, change):
    given = change(np.delete(X, [5, 9], axis=1))
    view = as_design(given, moments(given), standardize=True, bias=True)
    Z = view.materialise().on_host()
    rng = np.random.default_rng(1)
    W, B = rng.normal(size=(Z.shape[1], C)), rng.normal(size=(len(Z), C))
    np.testing.assert_allclose(view.dot(W), Z @ W, atol=1e-9)
    np.testing.assert_allclose(view.tdot(B), Z.T @ B, atol=1e-9)


def test_columns_become_a_block_only_when_they_fit(X):
    stats = moments(X)
    assert isinstance(as_design(X, stats, standardize=True, bias=True).compact(), Block)
    small = Budget(8 * len(X) * 10, 8 * len(X) * 10)
    view = as_design(X, stats, standardize=True, bias=True, budget=small)
    assert isinstance(view.compact(), DenseDesign)
    assert isinstance(view.take(np.arange(11)), DenseDesign)
    assert isinstance(view.take(np.arange(10)), Block)
    sparse_view = as_design(sparse.csr_array(X), stats, standardize=True, bias=True, budget=small)
    assert isinstance(sparse_view.compact(), SparseDesign)


def test_without_standardising_columns_are_taken_as_they_are(X):
    view = as_design(X, moments(X), standardize=False, bias=False)
    np.testing.assert_array_equal(view.materialise().Z, np.delete(X, [5, 9], axis=1))


@pytest.mark.parametrize("factor", [1e300, 1e-300, 1e8])
def test_moments_of_extreme_columns(X, factor):
    with np.errstate(over="raise", invalid="raise"):
        stats = moments(X * factor)
    plain = moments(X)
    np.testing.assert_allclose(stats.mean, plain.mean * factor, rtol=1e-12)
    np.testing.assert_allclose(stats.scale[~plain.constant], plain.scale[~plain.constant] * factor, rtol=1e-12)
    np.testing.assert_array_equal(stats.constant, plain.constant)


def test_a_column_that_varies_by_rounding_only_is_constant():
    column = np.full(50, 0.1) + np.spacing(0.1) * np.resize([0, 1], 50)
    assert moments(column[:, None]).constant.all()


@pytest.mark.parametrize("value", [0.1, 0.3, 37.2, -1e5 / 3])
@pytest.mark.parametrize("shape", [(300, 300), (5000, 3), (100_000, 2)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_constant_column_is_constant_however_many_samples_there_are(value, shape, kind):
    """The sum of many equal numbers is rounded, so their mean is off, and they seem to vary."""
    X = np.random.default_rng(0).normal(size=shape).astype(kind)
    X[:, 0] = value
    assert list(np.flatnonzero(moments(X).constant)) == [0]


def test_moments_are_right_to_the_last_digits_far_from_zero():
    column = 1e6 + np.random.default_rng(0).normal(size=(200_000, 1))
    stats = moments(column)
    shifted = column - 1e6  # exact
    np.testing.assert_allclose(stats.mean - 1e6, shifted.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(stats.scale, shifted.std(axis=0), rtol=1e-12)


def test_a_sparse_column_far_from_zero_costs_no_digits(X):
    X = X.copy()
    X[:, 0] += 1e7
    stats = moments(X)
    d = np.random.default_rng(1).random(np.count_nonzero(~stats.constant))
    Z = as_design(X, stats, standardize=True, bias=False).materialise().Z
    K = as_design(sparse.csc_array(X), moments(sparse.csc_array(X)), standardize=True, bias=False).gram(d)
    np.testing.assert_allclose(K, (Z * d) @ Z.T, atol=1e-6)


def test_a_memory_limit_makes_blocks_smaller():
    assert Budget.within(None) == Budget()
    assert Budget.within(2**40) == Budget()
    small = Budget.within(2**20)
    assert small.block == small.tall_block == 2**17
    assert small.fit_bytes(100, 5000, 2) < Budget().fit_bytes(100, 5000, 2)


def test_refusal_names_the_bytes():
    needed = Budget().fit_bytes(10_000, 20_000, 2)
    with pytest.raises(MemoryError, match=rf"Thing needs about .* MiB \({needed} bytes\) beyond X.*'memory_limit'"):
        memory.refuse_if_too_big(needed, 10**9, "Thing")
    memory.refuse_if_too_big(needed, needed, "Thing")


def test_free_memory_is_the_limit_where_the_system_tells():
    free = memory.available_bytes()
    if free is None:
        pytest.skip("this system does not tell its free memory")
    with pytest.raises(MemoryError, match="free memory"):
        memory.refuse_if_too_big(100 * free, None, "Thing")


@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_rough_dual_norms_are_exact_where_they_may_be_the_largest(shift, monkeypatch):
    monkeypatch.setattr("dsofs.design.backends.dense.THREADED", 0)  # as if X were large
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 2000)) + shift).astype(np.float32)
    view = as_design(X, moments(X), standardize=True, bias=True, budget=Budget(1, 1))
    B = view.centred(rng.normal(size=(60, C)))
    exact, rough = view.dual_norms(B), view.dual_norms(B, rough=True)
    assert not np.array_equal(rough, exact)
    assert rough.argmax() == exact.argmax()
    assert rough.max() == pytest.approx(exact.max(), rel=1e-13)
    np.testing.assert_allclose(rough, exact, atol=1e-4 * exact.max() * (1 + shift))
