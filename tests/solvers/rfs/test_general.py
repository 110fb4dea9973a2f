"""Sums of l_{2,p} terms (Eqns. 31 and 32): CVXPY as judge for p >= 1, descent and stationarity for all powers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsofs.design import Block, lrp_norm, row_norms
from dsofs.design.residuals import WithResiduals
from dsofs.problem import Status
from dsofs.solvers.rfs.general import Term, minimise_terms
from tests.problems import label_columns, random_data, standardised
from tests.reference.oracles import terms_optimum

POWERS = [0.1, 0.5, 1.0, 1.5, 2.0]
any_seed = st.integers(0, 2**32 - 1)


def random_terms(seed, shape, powers, *, c=1.0):
    """A term for every power, each with m rows, over the same n rows of Z."""
    rng = np.random.default_rng(seed)
    m, n, columns = shape
    Z = rng.normal(size=(n, columns)) * (rng.random((n, 1)) < 0.3)
    return [
        Term(A, -A @ Z - 0.5 * rng.standard_t(2, size=(m, columns)), p, c * 2.0**i)
        for i, p in enumerate(powers)
        for A in [rng.normal(size=(m, n))]
    ]


def value(terms, lam, p, Z):
    return sum(t.c * np.sum(row_norms(t.A @ Z + t.B) ** t.p) for t in terms) + lam * np.sum(row_norms(Z) ** p)


# rows of each term, rows of Z, columns; power of Z; powers of the terms
SUMS = [
    ((15, 60, 3), 1.0, (1.0, 1.0)),
    ((40, 20, 2), 1.0, (1.0, 1.0)),
    ((15, 60, 2), 1.0, (1.0, 2.0)),
    ((30, 25, 3), 1.5, (1.0, 1.5)),
    ((12, 50, 2), 2.0, (1.0, 1.5)),
    ((15, 70, 2), 1.0, (1.0, 1.5, 2.0)),
    ((30, 20, 3), 1.0, (1.0, 1.0, 1.0)),
    ((20, 40, 1), 1.5, (2.0, 1.0, 1.2)),
]


@pytest.mark.parametrize("lam", [0.5, 5.0])
@pytest.mark.parametrize(("shape", "p", "powers"), SUMS)
def test_several_terms_reach_the_global_optimum(shape, p, powers, lam):
    terms = random_terms(sum(shape), shape, powers)
    solution = minimise_terms(terms, lam=lam, p=p, tol=1e-5)
    optimum = terms_optimum(terms, lam, p)
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(optimum, rel=1e-4)
    assert solution.objective == pytest.approx(value(terms, lam, p, solution.W), rel=1e-9)
    assert solution.objective * (1 - solution.certificate) <= optimum * (1 + 1e-6)


def test_eqn_31_equals_eqn_32_at_p_1_only():
    """Eqn. 31 sums norms, Eqn. 32 is one norm; what is minimised is the p-th power of Eqn. 32, lambda^p being lam."""
    rng = np.random.default_rng(0)
    A, B, Z = rng.normal(size=(2, 6, 4)), rng.normal(size=(2, 6, 3)), rng.normal(size=(4, 3))
    for p in (1.0, 0.5):
        terms = [Term(A[i], B[i], p) for i in range(2)]
        sum_of_norms = sum(lrp_norm(t.A @ Z + t.B, p=p) for t in terms) + 0.7 * lrp_norm(Z, p=p)
        one_norm = lrp_norm(np.vstack([*(t.A @ Z + t.B for t in terms), 0.7 * Z]), p=p)
        assert value(terms, 0.7**p, p, Z) == pytest.approx(one_norm**p)
        assert (abs(sum_of_norms - one_norm) < 1e-9) == (p == 1.0)


@pytest.mark.parametrize("shape", [(20, 60, 3), (50, 20, 2)], ids=["wide", "tall"])
@pytest.mark.parametrize("q", POWERS)
@pytest.mark.parametrize("p", POWERS)
@settings(max_examples=3)
@given(seed=any_seed, lam=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_objective_never_rises(p, q, shape, seed, lam):
    solution = minimise_terms(random_terms(seed, shape, (q,)), lam=lam, p=p, tol=1e-6, max_iter=100)
    objective = np.array(solution.history.objective)
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()
    assert len(objective) > 1 or min(p, q) == 2 or solution.status is Status.CONVERGED


@pytest.mark.parametrize("shape", [(20, 60, 3), (60, 20, 3)], ids=["wide", "tall"])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.5, 1.0), (0.5, 2.0), (1.0, 0.5), (1.5, 0.7)])
def test_stationarity_holds(shape, p, q):
    """Checked from Z and the multipliers alone: they are the gradients of both terms, wherever these have one."""
    (term,) = terms = random_terms(1, shape, (q,))
    lam, tol = 2.0, 1e-4
    solution = minimise_terms(terms, lam=lam, p=p, tol=tol)
    assert solution.status is Status.CONVERGED
    Z, M, R = solution.W, solution.B, -(term.A @ solution.W + term.B)
    for rows, multipliers, power, cost in [(Z, term.A.T @ M, p, lam), (R, M, q, 1.0)]:
        norms = row_norms(rows)
        used = norms > 1e-5 * max(norms.max(), np.abs(term.B).max() * (rows is R))
        assert used.any() or rows is R
        gradient = cost * power * norms[used, None] ** (power - 2) * rows[used]
        assert (row_norms(multipliers[used] - gradient) <= 2 * tol * row_norms(gradient)).all()
        if power == 1:
            assert row_norms(multipliers[~used]).max(initial=0.0) <= cost * (1 + 1e-3)


@pytest.mark.parametrize("shape", [(30, 80, 3), (80, 30, 3)], ids=["wide", "tall"])
def test_units_of_the_targets_do_not_matter(shape):
    (term,) = random_terms(2, shape, (1.0,))
    plain = minimise_terms([term], lam=1.0, tol=1e-6)
    for factor in (1e-150, 1e-6, 1e6, 1e150):
        scaled = minimise_terms([Term(term.A, factor * term.B)], lam=1.0, tol=1e-6)
        assert scaled.objective == pytest.approx(factor * plain.objective, rel=1e-9)
        np.testing.assert_allclose(scaled.W / factor, plain.W, atol=1e-6)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5), (2.0, 1.0)])
def test_targets_that_are_met_exactly_but_for_outliers(p, q):
    """Most residuals are zero, many times as many as there are columns: robust fits recover Z to the last digit."""
    rng = np.random.default_rng(3)
    A, Z = rng.normal(size=(600, 20)), np.zeros((20, 2))
    Z[:4] = rng.normal(size=(4, 2))
    B = -A @ Z
    B[:60] += 30 * rng.normal(size=(60, 2))
    solution = minimise_terms([Term(A, B, q)], lam=1.0, p=p)
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(solution.W, Z, atol=1e-8)


def test_all_residuals_may_leave_while_no_row_can():
    """p = 1.5 keeps all rows; at a small lam every residual is zero."""
    (term,) = random_terms(11693, (20, 60, 3), (1.0,))
    solution = minimise_terms([term], lam=0.1, p=1.5, tol=1e-6)
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(term.A @ solution.W + term.B, 0, atol=1e-9)


def test_targets_of_zero():
    solution = minimise_terms([Term(np.eye(4), np.zeros((4, 2)))], lam=1.0)
    assert solution.status is Status.CONVERGED
    assert solution.objective == 0
    assert not solution.W.any()


def test_a_price_beyond_all_numbers_is_refused():
    with pytest.raises(ValueError, match="lam = 1e-09 is out of range"):
        minimise_terms([Term(np.eye(4), np.ones((4, 2)), 0.05)], lam=1e-9, p=0.05)


@pytest.mark.parametrize(
    ("term", "options", "message"),
    [
        ({"p": 2.5}, {}, r"powers in \(0, 2\]. Got 2.5"),
        ({}, {"p": 0}, r"powers in \(0, 2\]. Got 0"),
        ({}, {"lam": -1.0}, "positive lam and positive c. Got -1.0"),
        ({"c": 0}, {}, "positive lam and positive c. Got 0"),
    ],
)
def test_bad_powers_and_prices(term, options, message):
    with pytest.raises(ValueError, match=message):
        minimise_terms([Term(np.eye(4), np.ones((4, 2)), **term)], **{"lam": 1.0, **options})


def test_design_with_residuals_gives_the_products_of_the_matrix_it_stands_for():
    rng = np.random.default_rng(4)
    A, v = rng.normal(size=(9, 13)), rng.uniform(1, 2, 9)
    whole, every = WithResiduals(Block(A), v), np.hstack([A, np.diag(v)])
    some = np.array([0, 3, 12, 14, 15, 20])
    few = np.array([2, 7, 1])
    for design, matrix in [(whole, every), (whole.take(some), every[:, some]), (whole.take(some[:3]), A[:, some[:3]])]:
        d, W = rng.random(matrix.shape[1]), rng.normal(size=(matrix.shape[1], 2))
        np.testing.assert_allclose(design.gram(d), matrix * d @ matrix.T)
        np.testing.assert_allclose(design.dot(W), matrix @ W)
        np.testing.assert_allclose(design.tdot(A), matrix.T @ A)
        np.testing.assert_array_equal(design.samples(few).Z, matrix[few])
        np.testing.assert_array_equal(design.block(np.arange(matrix.shape[1])).Z, matrix)


@pytest.mark.parametrize("seed", range(3))
def test_one_term_of_classes_is_robust_feature_selection(seed):
    """With p = 1: ||X_i'M|| <= lam and ||m_j|| <= 1, equal where the row or residual is not zero."""
    X, y = random_data(seed, 50, 90, 3)
    Z, Y, lam = standardised(X), label_columns(y), 3.0
    solution = minimise_terms([Term(Z, -Y)], lam=lam, tol=1e-6)
    pull, size = row_norms(Z.T @ solution.B), row_norms(solution.B)
    np.testing.assert_array_less(pull, lam * (1 + 1e-3))
    np.testing.assert_array_less(size, 1 + 1e-3)
    np.testing.assert_allclose(pull[row_norms(solution.W) > 1e-3], lam, rtol=1e-2)
    np.testing.assert_allclose(size[row_norms(Y - Z @ solution.W) > 1e-3], 1.0, rtol=1e-2)
    assert np.sum(Y * solution.B) == pytest.approx(solution.objective, rel=1e-4)
