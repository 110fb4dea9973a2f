"""Every kind of design gives the products of the matrix it stands for."""

import array_api_strict
import numpy as np
import pytest
from scipy import sparse

from dsofs.design import Block, as_design, moments
from dsofs.design import budget as memory
from dsofs.design import interface as design
from dsofs.design.backends.dense import DenseDesign
from dsofs.design.backends.sparse import SparseDesign
from tests.problems import standardised

C = 3
SHAPES = {"wide": (13, 700), "tall": (700, 13)}


@pytest.fixture(params=SHAPES)
def X(request):
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, size=SHAPES[request.param]) * (rng.random(SHAPES[request.param]) < 0.7)
    X[:, 5] = 4.0
    X[:, 9] = 0.0
    return X


KINDS = {
    "dense": lambda X: X,
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
}


@pytest.fixture(params=["in one block", "in pieces"])
def block_size(request, monkeypatch):
    if request.param == "in pieces":
        monkeypatch.setattr(design, "block_bytes", lambda m, n: 8 * 13 * 50)
        monkeypatch.setattr(design, "CHUNK_BYTES", 8 * 13 * 20)
        monkeypatch.setattr(design, "MIN_CHUNK_COLUMNS", 7)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_operations_equal_those_of_the_matrix(X, kind, bias, block_size):
    given = KINDS[kind](X)
    stats = moments(given)
    assert set(np.flatnonzero(stats.constant)) == {5, 9}
    Z = standardised(np.delete(np.asarray(given.toarray() if sparse.issparse(given) else given, float), [5, 9], 1))
    Z = np.column_stack([Z, np.ones(len(Z))]) if bias else Z
    operations = as_design(given, stats, standardize=True, bias=bias)
    rng = np.random.default_rng(1)
    d, W, B = rng.random(Z.shape[1]), rng.normal(size=(Z.shape[1], C)), rng.normal(size=(len(Z), C))
    some = np.sort(rng.permutation(Z.shape[1])[:40])
    few = rng.permutation(len(Z))[:11]
    everything = operations.compact()
    whole = slice(None)
    for view, use in [(operations, whole), (everything, whole), (everything.take(some), some)]:
        matrix = Z[:, use]
        np.testing.assert_allclose(view.gram(d[use]), matrix * d[use] @ matrix.T, atol=1e-9)
        np.testing.assert_allclose(view.gram(np.ones(matrix.shape[1])), matrix @ matrix.T, atol=1e-9)
        np.testing.assert_allclose(view.dot(W[use]), matrix @ W[use], atol=1e-9)
        np.testing.assert_allclose(view.tdot(B), matrix.T @ B, atol=1e-9)
        np.testing.assert_allclose(view.samples(few).Z, matrix[few], atol=1e-9)
        np.testing.assert_allclose(view.column_norms(), np.linalg.norm(matrix, axis=0), atol=1e-9)
    np.testing.assert_allclose(everything.block(some).Z, Z[:, some], atol=1e-9)
    assert (view.gram(d[some]) == view.gram(d[some]).T).all()


@pytest.mark.parametrize(
    "change", [lambda X: X, lambda X: X + 1e5, lambda X: 1e-150 * X, lambda X: X.astype(np.float32)]
)
def test_products_with_x_as_it_is_are_those_of_the_standardised_one(X, change):
    given = change(np.delete(X, [5, 9], axis=1))
    view = as_design(given, moments(given), standardize=True, bias=True)
    Z = view.materialise().Z
    rng = np.random.default_rng(1)
    W, B = rng.normal(size=(Z.shape[1], C)), rng.normal(size=(len(Z), C))
    np.testing.assert_allclose(view.dot(W), Z @ W, atol=1e-9)
    np.testing.assert_allclose(view.tdot(B), Z.T @ B, atol=1e-9)


def test_columns_become_a_block_only_when_they_fit(X, monkeypatch):
    stats = moments(X)
    view = as_design(X, stats, standardize=True, bias=True)
    assert isinstance(view.compact(), Block)
    monkeypatch.setattr(design, "block_bytes", lambda m, n: 8 * len(X) * 10)
    assert isinstance(view.compact(), DenseDesign)
    assert isinstance(view.take(np.arange(11)), DenseDesign)
    assert isinstance(view.take(np.arange(10)), Block)
    assert isinstance(as_design(sparse.csr_array(X), stats, standardize=True, bias=True).compact(), SparseDesign)


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


def test_a_sparse_column_far_from_zero_costs_no_digits(X, monkeypatch):
    monkeypatch.setattr(memory, "BLOCK_BYTES", 1)
    X = X.copy()
    X[:, 0] += 1e7
    stats = moments(X)
    d = np.random.default_rng(1).random(np.count_nonzero(~stats.constant))
    Z = as_design(X, stats, standardize=True, bias=False).materialise().Z
    K = as_design(sparse.csc_array(X), moments(sparse.csc_array(X)), standardize=True, bias=False).gram(d)
    np.testing.assert_allclose(K, (Z * d) @ Z.T, atol=1e-6)


def test_block_follows_the_array_api(X):
    Z = standardised(np.delete(X, [5, 9], axis=1))
    block, strict = Block(Z), Block(array_api_strict.asarray(Z))
    rng = np.random.default_rng(2)
    d, W, B = rng.random(Z.shape[1]), rng.normal(size=(Z.shape[1], C)), rng.normal(size=(len(Z), C))
    some = np.array([3, 1, 8])
    np.testing.assert_allclose(strict.gram(d), block.gram(d))
    np.testing.assert_allclose(strict.dot(W), block.dot(W))
    np.testing.assert_allclose(strict.tdot(B), block.tdot(B))
    np.testing.assert_allclose(strict.take(some).tdot(B), block.take(some).tdot(B))


def test_refusal_names_the_bytes():
    needed = memory.fit_bytes(10_000, 20_000, 2)
    with pytest.raises(MemoryError, match=rf"Thing needs about .* MiB \({needed} bytes\) beyond X.*'memory_limit'"):
        memory.refuse_if_too_big(needed, 10**9, "Thing")
    memory.refuse_if_too_big(needed, needed, "Thing")


def test_free_memory_is_the_limit_where_the_system_tells():
    free = memory.available_bytes()
    if free is None:
        pytest.skip("this system does not tell its free memory")
    with pytest.raises(MemoryError, match="free memory"):
        memory.refuse_if_too_big(100 * free, None, "Thing")
