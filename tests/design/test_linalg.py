import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dsofs import lrp_norm
from dsofs.design import group_norms, row_norms
from dsofs.design.linalg import MIRRORED, factorise, places_in, symmetric, with_border

matrices = arrays(np.float64, (4, 3), elements=st.integers(-1000, 1000).map(lambda i: i / 10))


@given(matrices, st.floats(0.2, 4), st.floats(0.2, 4))
def test_lrp_norm_is_equation_1(A, r, p):
    rows = [sum(abs(a) ** r for a in row) ** (1 / r) for row in A]
    expected = sum(row**p for row in rows) ** (1 / p)
    assert lrp_norm(A, r, p) == pytest.approx(expected, rel=1e-9, abs=1e-250)


@given(matrices)
def test_lrp_norm_of_2_2_is_frobenius(A):
    assert lrp_norm(A, 2, 2) == pytest.approx(np.linalg.norm(A), rel=1e-12)


@given(matrices, st.floats(1e-3, 1e3), st.floats(0.2, 2))
def test_lrp_norm_is_homogeneous(A, factor, p):
    assert lrp_norm(factor * A, 2, p) == pytest.approx(factor * lrp_norm(A, 2, p), rel=1e-9, abs=1e-250)


def test_lrp_norm_neither_over_nor_underflows():
    A = np.array([[3.0, 4.0]])
    assert lrp_norm(A * 1e300, 2, 0.1) == pytest.approx(5e300)
    assert lrp_norm(A * 1e-300, 2, 0.1) == pytest.approx(5e-300)


@pytest.mark.parametrize(("r", "p"), [(0, 1), (1, 0), (-1, 1)])
def test_lrp_norm_refuses_powers_that_are_not_positive(r, p):
    with pytest.raises(ValueError, match="needs r > 0 and p > 0"):
        lrp_norm(np.ones((2, 2)), r, p)


def test_group_norms_add_up_the_rows_of_a_group():
    W = np.arange(12.0).reshape(4, 3)
    groups = np.array([1, 0, 1, 2])
    expected = [np.linalg.norm(W[groups == g]) for g in range(3)]
    np.testing.assert_allclose(group_norms(W, groups, 3), expected)
    np.testing.assert_allclose(group_norms(W, None, 4), row_norms(W))
    np.testing.assert_array_equal(row_norms(-W[:, :1]), W[:, 0])


@pytest.mark.parametrize("n", [1, MIRRORED, MIRRORED + 1, 3 * MIRRORED - 1])
def test_symmetric_from_the_upper_triangle(n):
    A = np.random.default_rng(n).normal(size=(n, n))
    np.testing.assert_array_equal(symmetric(A.copy()), np.triu(A) + np.triu(A, 1).T)


@pytest.mark.parametrize("index", [[], [2], [2, 9], [2, 5, 9], [3], [10], [2, 4], [2, 5, 9, 11]])
def test_places_in_a_sorted_index(index):
    among, index = np.array([2, 5, 9]), np.array(index, dtype=np.intp)
    place = places_in(among, index)
    if np.isin(index, among).all():
        np.testing.assert_array_equal(among[place], index)
    else:
        assert place is None


@pytest.mark.parametrize("n_part", [12, 7, 3, 1])
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("dependent", [False, True])
def test_factor_of_a_matrix_with_a_border(n_part, q, dependent):
    rng = np.random.default_rng(n_part)
    X, F, rhs = rng.normal(size=(12, 5)), rng.normal(size=(12, q)), rng.normal(size=(n_part, 4))
    if dependent:
        F[:n_part, -1] = F[:n_part, 0] if q > 1 else 0.0  # but not on the other samples
    K, part = X @ X.T, np.arange(12 + q) < n_part
    part[12:] = True
    factor = factorise(with_border(K, F), 0.5, part, n_border=q)
    np.testing.assert_array_equal(factor.inner, np.arange(n_part))
    M, F = K[:n_part, :n_part] + 0.5 * np.eye(n_part), F[:n_part]
    system = np.block([[M, F], [F.T, np.zeros((q, q))]])
    inverse = np.linalg.pinv(system, rcond=1e-10)[:n_part, :n_part]
    np.testing.assert_allclose(factor.solve(rhs), inverse @ rhs, atol=1e-9)
    padded = np.vstack([rhs, np.zeros((q, 4))])
    half, sign = factor.half_solve(padded), np.where(np.arange(n_part + q) < n_part, 1.0, -1.0)
    np.testing.assert_allclose((half.T * sign) @ half, rhs.T @ inverse @ rhs, atol=1e-9)
    both = factor.solve(padded)
    np.testing.assert_allclose(M @ both[:n_part] + F @ both[n_part:], rhs, atol=1e-9)
    np.testing.assert_allclose(F.T @ both[:n_part], 0, atol=1e-9)
