"""The outer loop: descent, certificates, and the lemmas it rests on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dsofs.design import Block, as_design, moments, row_norms
from dsofs.problem import Penalty, Problem, Status
from dsofs.solvers import SOLVERS, solve
from dsofs.solvers.inner.equality import EqualityStep
from dsofs.solvers.inner.margin import MarginStep, objective_at_zero
from dsofs.solvers.loop.reweight import reweight
from tests.problems import label_columns, random_data, random_problem
from tests.reference.oracles import fewest_rows

POWERS = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.5]
vectors = arrays(np.float64, 3, elements=st.floats(-10, 10))
any_seed = st.integers(0, 2**32 - 1)


@given(vectors, vectors, st.floats(0.01, 0.99))
def test_lemma_1(a, b, theta):
    """(1-t) |a|^2 + t |b|^2 >= |a|^(2-2t) |b|^(2t), with equality where |a| = |b| (the paper says a = b)."""
    x, y = np.linalg.norm(a), np.linalg.norm(b)
    left, right = (1 - theta) * x**2 + theta * y**2, x ** (2 - 2 * theta) * y ** (2 * theta)
    assert left >= right * (1 - 1e-12)
    assert (1 - theta) * x**2 + theta * x**2 == pytest.approx(x ** (2 - 2 * theta) * x ** (2 * theta), rel=1e-9)


@settings(max_examples=30)
@given(any_seed, st.floats(0.05, 1.95), st.sampled_from(["margin", "equality"]))
def test_lemma_2(seed, p, constraint):
    """The optimum of the reweighted problem has no larger l_{2,p} norm than any feasible point it was weighted by."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, 12, 30, 3, p=p, constraint=constraint)
    step = MarginStep if constraint == "margin" else EqualityStep
    step = step(problem)
    start = step(rng.uniform(0.1, 10, problem.n_groups), None)
    following = step(Penalty(p).weights(start.norms), start)
    assert following.objective <= start.objective * (1 + 1e-10)


@settings(max_examples=8)
@given(any_seed, st.sampled_from([2, 3, 5]))
@pytest.mark.parametrize("p", POWERS)
def test_the_objective_never_rises(p, seed, c):
    problem = random_problem(seed, 25, 70, c, p=p)
    objective = np.array(solve(problem, max_iter=100).history.objective)
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()


@settings(max_examples=3)
@given(any_seed)
@pytest.mark.parametrize("p", POWERS)
def test_the_objective_of_the_alternation_never_rises(p, seed):
    problem = random_problem(seed, 15, 40, 3, p=p)
    objective = np.array(solve(problem, "alternating", max_iter=60).history.objective)
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("seed", range(5))
def test_converged_means_that_the_certificate_holds(seed, p):
    """Checked from W and B alone, with nothing of the loop."""
    tol = 1e-3
    problem = random_problem(seed, 40, 120, 4, p=p)
    solution = solve(problem, tol=tol)
    X, Y, W, B = problem.X.Z, problem.Y, solution.W, solution.B
    assert solution.status is Status.CONVERGED
    assert (Y * (X @ W)).min() >= 1 - 1e-9
    assert (Y * B).min() >= 0
    norms, g = row_norms(W), row_norms(X.T @ B)
    objective = np.sum(norms**p)
    assert solution.objective == pytest.approx(objective)
    if p == 1:
        assert np.sum(Y * B) / g.max() >= (1 - tol) * objective
    elif p > 1:
        # sum(A) - sum (p-1) (g/p)^(p/(p-1)) for multipliers of sum ||w||^p, which are p times those of (1/p) sum
        A, q = p * Y * B, p / (p - 1)
        bound = A.sum() - np.sum((p - 1) * (p * g / p) ** q)
        assert bound <= objective * (1 + 1e-12)
        assert bound >= objective * (1 - 10 * tol)
    else:
        support = norms > 0
        fixed = norms[support, None] ** (p - 2) * W[support]
        violation = row_norms(X.T[support] @ B - fixed) / row_norms(fixed)
        assert violation.max() <= tol * 1.01
        complementarity = np.sum(Y * B * (Y * (X @ W) - 1)) / np.sum(Y * B)
        assert complementarity <= 1e-6


@pytest.mark.parametrize("p", [1.0001, 1.01, 1.9])
def test_any_p_below_two(p):
    solution = solve(random_problem(0, 30, 90, 3, p=p))
    assert solution.status is Status.CONVERGED
    assert 0 <= solution.certificate <= 1e-3


def test_smaller_p_keeps_fewer_rows():
    rows = {p: [] for p in (1.0, 0.7, 0.3)}
    for seed in range(5):
        for p in rows:
            solution = solve(random_problem(seed, 40, 150, 3, p=p))
            rows[p].append(np.count_nonzero(row_norms(solution.W)))
    means = [np.mean(counts) for counts in rows.values()]
    assert means[0] > means[1] > means[2]


@pytest.mark.parametrize("seed", range(10))
def test_p_towards_zero_against_all_subsets(seed):
    """The paper's closing claim: small p approaches the fewest rows. It comes closer than p = 1, seldom all the way."""
    problem = random_problem(seed, 8, 11, 2, p=0.05, bias=False)
    found = np.count_nonzero(row_norms(solve(problem).W))
    at_p_1 = np.count_nonzero(row_norms(solve(random_problem(seed, 8, 11, 2, bias=False), tol=1e-6).W))
    assert fewest_rows(problem.X.Z, problem.Y) <= found <= at_p_1


def test_two_classes_by_one_column_or_by_two():
    """The second column is the negative of the first, along the iterates, for any p."""
    one = random_problem(3, 30, 80, 2, p=0.5)
    Y = np.column_stack([-one.Y, one.Y])
    two = type(one)(one.X, Y, 0.5)
    a, b = solve(one), solve(two)
    np.testing.assert_allclose(b.W[:, 0], -b.W[:, 1], atol=1e-9)
    np.testing.assert_allclose(b.W[:, 1], a.W[:, 0], atol=1e-6)


def test_groups_of_one_change_nothing_and_groups_live_and_die_together():
    problem = random_problem(5, 30, 60, 3, p=0.5)
    alone = type(problem)(problem.X, problem.Y, 0.5, groups=np.arange(61))
    np.testing.assert_allclose(solve(alone).W, solve(problem).W, atol=1e-8)
    groups = np.append(np.arange(60) // 4, 15)
    W = solve(type(problem)(problem.X, problem.Y, 0.5, groups=groups)).W
    alive = row_norms(W) > 0
    for g in range(16):
        assert len(set(alive[groups == g])) == 1
    assert alive.sum() < 60


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_free", [0, 2])
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
def test_multipliers_bound_the_objective_of_zero_below_p_1(seed, n_free, C):
    free = np.random.default_rng(seed).normal(size=(40, n_free)) if n_free else None
    problem = random_problem(seed, 40, 60, 3, p=0.5, C=np.full((40, 3), C), free=free)
    at_zero, _ = objective_at_zero(problem)
    solution = solve(problem, tol=1e-6)
    assert problem.lower_bound(solution.B, np.empty(0)) <= (1 + 1e-9) * at_zero
    assert solution.objective <= (1 + 1e-9) * at_zero * problem.unit


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_is_a_status_and_not_a_crash(solver):
    solution = solve(random_problem(0), solver, tol=1e-12, max_iter=3)
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter == 3
    assert all(len(values) == 3 for values in solution.history.as_arrays().values())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("p", [1.0, 0.5])
def test_joint_started_from_the_alternation_is_no_higher(seed, p):
    problem = random_problem(seed, 30, 80, 3, p=p)
    alternating = solve(problem, "alternating")
    joint = solve(problem, weights=Penalty(p).weights(row_norms(alternating.W)))
    assert joint.objective <= alternating.objective * (1 + 1e-9)
    if p == 1:
        assert solve(problem).objective <= alternating.objective * (1 + 1e-3)


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_an_objective_is_not_a_number_if_a_norm_is_not(p):
    problem = random_problem(0, p=p)
    assert problem.penalty.value(np.array([0.0, 4.0, 1.0])) == pytest.approx((4**p + 1) / p)
    assert np.isnan(problem.penalty.value(np.array([0.0, 4.0, np.nan])))


@pytest.mark.parametrize("groups", [None, np.arange(81) // 2], ids=["rows", "groups"])
def test_below_p_1_leaving_out_rows_of_zeros_changes_nothing(groups):
    neighbour = random_problem(0, 30, 80, 3, p=1.0, groups=groups)
    solved = solve(neighbour)
    problem = replace(neighbour, p=0.7)
    weights = Penalty(0.7).weights(problem.norms(solved.W))
    assert 0 < np.count_nonzero(weights) < problem.n_groups
    start = {"weights": weights, "survival": solved.survival}
    without = solve(problem, **start)
    among_all = reweight(problem, MarginStep(problem), tol=1e-3, max_iter=300, **start)
    assert without.status is among_all.status is Status.CONVERGED
    np.testing.assert_allclose(without.W, among_all.W, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(without.survival.step, among_all.survival.step)
    np.testing.assert_allclose(without.survival.share, among_all.survival.share, rtol=1e-6, atol=1e-9)
    assert without.survival.now == among_all.survival.now


def test_columns_larger_than_the_gram_matrix_are_released_once_the_next_step_has_its_own():
    X, y = random_data(0, m=30, n=200)
    step = MarginStep(Problem(as_design(X, moments(X), standardize=True, bias=1.0), label_columns(y), 1.0))
    weights = np.ones(201)
    weights[::2] = 0.0
    point = step(weights, None)
    fewer = weights * (np.arange(201) > 20)
    assert isinstance(point.X, Block)
    assert isinstance(step(fewer, point).X, Block)
    assert not isinstance(point.X, Block)
    np.testing.assert_allclose(step(weights, point).W, point.W)  # they can be had again
