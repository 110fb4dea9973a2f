"""Two classes at p = 1 are a linear program: the interior-point method against HiGHS, and against the loop."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from dsofs import DSOSelectorCV
from dsofs.design import Block
from dsofs.problem import Problem, Status
from dsofs.solvers import joint, solve
from dsofs.solvers.joint import suits_interior
from dsofs.solvers.linear_programs.interior import MIN_WORKING_SET, solve_interior
from tests.problems import random_data, random_problem

KINDS = ("normal", "counts", "zeros and ones", "doubled columns", "columns of all sizes", "repeated samples")
TOL = 1e-6


def problem_of(kind, seed, *, hinge):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(4, 60), rng.integers(2, 90)
    X, y = rng.normal(size=(m, n)), np.where(rng.random(m) < 0.4, 1.0, -1.0)
    if kind == "counts":
        X = np.round(X)
    elif kind == "zeros and ones":
        X = (X > 0.5).astype(float)
    elif kind == "doubled columns":
        X = np.repeat(X, 2, axis=1)
    elif kind == "columns of all sizes":
        X *= 10.0 ** rng.integers(-4, 4, size=n)
    elif kind == "repeated samples":
        X, y = np.vstack([X, X[: m // 2]]), np.append(y, y[: m // 2])
    C = 10 ** rng.uniform(-2, 2) * rng.uniform(0.5, 2, size=(len(X), 1)) if hinge else None
    return Problem(Block(np.column_stack([X, np.ones(len(X))])), y[:, None], 1.0, C=C, loss="hinge")


def by_highs(problem):
    """The optimum and w; None if there is no solution."""
    Z, m = problem.Y * problem.X.Z, len(problem.Y)
    cost, rows = np.ones(2 * Z.shape[1]), np.hstack([-Z, Z])
    if problem.C is not None:
        cost, rows = np.append(cost, problem.C), np.hstack([rows, -np.eye(m)])
    found = linprog(cost, A_ub=rows, b_ub=-np.ones(m))
    positive, negative = found.x[: 2 * Z.shape[1]].reshape(2, -1) if found.success else (None, None)
    return (found.fun, positive - negative) if found.success else None


def check_solution(problem, solution, optimum):
    """The objective, the margins and the certificate, from W and B alone."""
    margins = problem.Y * (problem.X.Z @ solution.W)
    cost = 0.0 if problem.C is None else float(np.sum(problem.C * np.maximum(1 - margins, 0)))
    assert np.abs(solution.W).sum() + cost == pytest.approx(solution.objective)
    assert solution.objective == pytest.approx(optimum, rel=2 * TOL)
    if problem.C is None:
        assert margins.min() >= 1 - 1e-9
    A = problem.Y * solution.B
    assert A.min() >= 0
    assert problem.C is None or (A <= problem.C).all()
    bound = A.sum() / max(1, np.abs(problem.X.Z.T @ solution.B).max())
    assert (solution.objective - bound) / solution.objective == pytest.approx(solution.certificate, abs=TOL)
    assert solution.certificate <= TOL


def by_interior(problem, tol=TOL):
    return solve_interior(problem, tol=tol, max_iter=1000)


@pytest.mark.parametrize("hinge", [False, True], ids=["hard", "hinge"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_reaches_the_optimum(kind, hinge):
    separable = 0
    for seed in range(10):
        problem = problem_of(kind, seed, hinge=hinge)
        known = by_highs(problem)
        if known is None:  # the classes overlap
            assert by_interior(problem) is None
        else:
            check_solution(problem, by_interior(problem), known[0])
            separable += 1
    assert separable == 10 if hinge else separable >= 3


@pytest.mark.parametrize("shape", [(30, 3000), (60, 1200), (150, 4000)], ids=str)
@pytest.mark.parametrize("C", [None, 1.0])
def test_features_join_the_working_set_and_the_support_is_exact(shape, C):
    m, n = shape
    problem = random_problem(7, m, n, 2, C=None if C is None else np.full((m, 1), C), loss="hinge")
    optimum, w = by_highs(problem)
    solution = by_interior(problem)
    check_solution(problem, solution, optimum)
    assert max(solution.history.active) > MIN_WORKING_SET
    np.testing.assert_array_equal(solution.W[:, 0] != 0, np.abs(w) > 1e-9)


@pytest.mark.parametrize("shape", [(150, 30), (400, 60), (400, 250)], ids=str)
@pytest.mark.parametrize("C", [None, 0.02, 1.0])
def test_more_samples_than_features(shape, C):
    m, n = shape
    problem = random_problem(5, m, n, 2, C=None if C is None else np.full((m, 1), C), loss="hinge")
    known = by_highs(problem)
    if known is None:
        assert by_interior(problem) is None
    else:
        check_solution(problem, by_interior(problem), known[0])


def test_features_that_separate_are_found_though_others_know_the_labels_better():
    """The first working set cannot separate the classes: all its columns are one and the same."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    alike = np.where(np.arange(40) < 4, -y, y)
    Z = np.column_stack([np.tile(alike[:, None], (1, 600)), rng.normal(size=(40, 300)), np.ones(40)])
    problem = Problem(Block(Z), y[:, None], 1.0)
    check_solution(problem, by_interior(problem), by_highs(problem)[0])


@pytest.mark.parametrize("seed", [0, 5])
def test_counts_of_words_that_few_features_cannot_separate(seed):
    """Rare words, short and long texts: the words that tell most about the classes leave some texts together."""
    rng, m, n = np.random.default_rng(seed), 160, 3000
    y, frequencies = rng.integers(2, size=m), np.tile(1 / np.arange(1, n + 1), (2, 1))
    for topic in frequencies:
        topic[rng.choice(n // 2, 40, replace=False)] *= rng.uniform(1, 3, size=40)
        topic /= topic.sum()
    lengths = np.maximum(5, (80 * np.exp(rng.normal(0, 0.8, size=m))).astype(int))
    X = np.array([rng.multinomial(length, frequencies[k]) for length, k in zip(lengths, y, strict=True)])
    X = X[:, np.count_nonzero(X, axis=0) >= 2]
    Z = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(m)])
    problem = Problem(Block(Z), np.where(y > 0, 1.0, -1.0)[:, None], 1.0)
    solution = by_interior(problem)
    check_solution(problem, solution, by_highs(problem)[0])
    assert solution.n_iter <= 60


def test_the_loop_finds_the_same(monkeypatch):
    problem = random_problem(3, 50, 400, 2)
    fast = solve(problem, tol=TOL)
    monkeypatch.setattr(joint, "suits_interior", lambda problem: False)
    slow = solve(problem, tol=TOL)
    assert fast.objective == pytest.approx(slow.objective, rel=2 * TOL)
    assert fast.n_iter < slow.n_iter
    np.testing.assert_allclose(fast.W, slow.W, atol=1e-3 * np.abs(slow.W).max())


@pytest.mark.parametrize("spread", [0.0, 1.0], ids=["one cost", "a cost for each sample"])
def test_no_feature_pays_where_slack_is_cheap(spread):
    C = 1e-4 * (1 + spread * np.arange(40.0)[:, None])
    problem = random_problem(0, 40, 120, 2, C=C, loss="hinge")
    solution = by_interior(problem)
    assert solution.status is Status.ZERO
    assert not solution.W.any()
    check_solution(problem, solution, C.sum())


def test_slack_that_costs_too_much_to_be_used():
    hard = random_problem(2, 30, 200, 2)
    costly = replace(hard, C=np.full((30, 1), 1e8), loss="hinge")
    check_solution(costly, by_interior(costly), by_highs(hard)[0])


def test_labels_that_no_feature_knows_of():
    """Exclusive or: all samples together prove that the classes overlap, and W = 0 is the best whatever slack costs."""
    X = np.array([[-1.0, -1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, 1]])
    problem = Problem(Block(X), np.array([[-1.0], [1], [1], [-1]]), 1.0)
    assert by_interior(problem) is None
    soft = replace(problem, C=np.full((4, 1), 1e3), loss="hinge")
    assert by_interior(soft).status is Status.ZERO


def test_the_history_says_how_it_got_there():
    problem = random_problem(1, 40, 3000, 2)
    solution = by_interior(problem, tol=1e-3)
    history = solution.history.as_arrays()
    assert (np.diff(history["objective"]) <= 0).all()
    assert (np.diff(history["gap"]) <= 0).all()
    assert history["gap"][0] > 1e-3 >= history["gap"][-1]
    assert (np.diff(history["active"]) >= 0).all()
    assert history["active"][-1] < 3001
    assert solution.objective == pytest.approx(history["objective"][-1], rel=1e-3)


def test_too_few_steps_are_left_to_the_loop():
    problem = random_problem(1, 40, 400, 2)
    assert solve_interior(problem, tol=TOL, max_iter=5) is None
    assert solve(problem, tol=TOL, max_iter=5).status is Status.MAX_ITER


def test_features_outside_the_support_are_ranked_too():
    problem = random_problem(1, 40, 3000, 2)
    survival = by_interior(problem).survival
    assert (survival.share[:-1] > 0).all()
    assert len(np.unique(survival.step)) > 5


@pytest.mark.parametrize("size", [1.0, 1e5])
def test_it_hands_over_to_the_loop_along_a_path(size):
    """Units of X are no reason for the loop, which goes on from here, to take W for zero."""
    X, y = random_data(0, 40, 200, 2)
    fit = DSOSelectorCV(5, ps=(1.0, 0.8), Cs=(None, 1.0), cv=2, standardize=False).fit(size * X, y)
    assert {step["status"] for step in fit.path_} == {"converged"}


def test_what_it_is_not_for():
    problem = random_problem(0, 40, 120, 2)
    assert suits_interior(problem)
    squared, hinge = np.full((40, 1), 1.0), replace(problem, C=np.full((40, 1), 1.0), loss="hinge")
    assert suits_interior(hinge)
    others = [
        random_problem(0, 40, 120, 3),
        random_problem(0, 200, 20, 2),  # more samples than features
        replace(problem, p=0.9),
        replace(problem, p=1.1),
        replace(problem, constraint="equality"),
        replace(problem, C=squared),
        replace(hinge, C=np.where(np.arange(40)[:, None] < 3, np.inf, 1.0)),  # some margins are hard
        replace(hinge, C=np.where(np.arange(40)[:, None] < 3, 0.0, 1.0)),  # some samples do not count
        replace(problem, groups=np.arange(121) // 2),
    ]
    assert not any(suits_interior(other) for other in others)
