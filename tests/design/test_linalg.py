import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dsofs import lrp_norm
from dsofs.design import group_norms, row_norms

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
