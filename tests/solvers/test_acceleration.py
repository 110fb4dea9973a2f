"""Newton's step for weights that may be zero, and how fast the loop is with it; below p = 1 no row is superfluous."""

from dataclasses import replace

import numpy as np
import pytest

from dsofs.solvers import solve
from dsofs.solvers.acceleration import WORKING_SET, BoundedNewton, Proposals
from dsofs.solvers.inner.equality import EqualityStep
from dsofs.solvers.inner.margin import MarginStep
from dsofs.solvers.joint import costs
from dsofs.solvers.loop.point import curvature_matrix
from tests.problems import random_problem


def point_at(problem, weights):
    return MarginStep(problem)(weights, None)


def optimal_weights(problem):
    return problem.norms(solve(problem, tol=1e-12).W)


def phi(problem, weights):
    """1/2 sum(A) + 1/2 sum(d), which the weights are to minimise."""
    return (np.sum(problem.Y * point_at(problem, weights).B) + np.sum(weights)) / 2


@pytest.mark.parametrize("seed", range(5))
def test_a_solution_is_left_as_it_is(seed):
    problem = random_problem(seed, 20, 60, 3, p=1.0)
    weights = optimal_weights(problem)
    present = np.flatnonzero(weights)
    proposal = BoundedNewton().propose(problem, point_at(problem, weights), present)
    np.testing.assert_allclose(proposal, weights[present], rtol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_those_that_violate_the_dual_constraint_return_and_others_do_not(seed):
    problem = random_problem(seed, 20, 60, 3, p=1.0)
    weights = optimal_weights(problem)
    removed = int(np.argmin(np.where(weights > 0, weights, np.inf)))
    idle = int(np.flatnonzero(weights == 0)[0])
    weights[removed] = 0.0
    groups = np.sort([*np.flatnonzero(weights), removed, idle])
    proposal = np.zeros_like(weights)
    proposal[groups] = BoundedNewton().propose(problem, point_at(problem, weights), groups)
    assert proposal[removed] > 0
    assert proposal[idle] == 0
    assert phi(problem, proposal) < phi(problem, weights)


def test_a_failure_makes_it_cautious_and_successes_bold_again():
    problem = random_problem(0, 20, 60, 3, p=1.0)
    weights = optimal_weights(problem) * np.random.default_rng(0).uniform(0.8, 1.2, problem.n_groups)
    point, groups = point_at(problem, weights), np.flatnonzero(weights)
    newton = BoundedNewton()

    def length():
        return np.linalg.norm(newton.propose(problem, point, groups) - weights[groups])

    first = length()
    newton.learn(accepted=False)
    assert length() < first
    newton.learn(accepted=True)
    newton.learn(accepted=True)
    assert length() == first


def test_without_curvature_weights_grow_where_they_should():
    """All multipliers are at their upper bound: phi is linear."""
    problem = random_problem(0, 20, 60, 3, p=1.0, C=np.full((20, 3), 0.3), loss="hinge")
    point = point_at(problem, np.full(61, 1e-4))
    g = problem.norms(point.G)
    assert (np.abs(point.B) == 0.3).all()
    proposal = BoundedNewton().propose(problem, point, np.arange(61))
    np.testing.assert_array_equal(proposal > 1e-4, g > 1)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("options", [{}, {"groups": np.arange(301) // 3}, {"C": np.full((40, 3), 10.0)}])
def test_the_gap_falls_quadratically_in_the_end(seed, options):
    problem = random_problem(seed, 40, 300, 3, p=1.0, **options)
    gap = np.array(solve(problem, tol=1e-9).history.gap)
    assert gap[-1] <= 1e-9
    assert np.count_nonzero(gap < 1e-3) <= 6  # by a factor of ten a step it would take seven and more


@pytest.mark.parametrize(
    "options",
    [{}, {"C": np.full((30, 3), 10.0)}, {"constraint": "equality"}, {"C": np.full((150, 3), 10.0), "m": 150, "n": 23}],
    ids=["hard", "slack", "equality", "features"],
)
def test_the_curvature_of_groups_is_that_of_their_rows_added_up(options):
    options = {"m": 30, "n": 79, "c": 3, **options}
    rows = np.arange(options["n"] + 1)
    chosen = np.arange(len(rows) // 4)
    groups = np.random.default_rng(0).permutation(rows % len(chosen))
    weights = np.random.default_rng(1).uniform(0.5, 2, len(chosen))
    step = EqualityStep if "constraint" in options else MarginStep

    def matrix(problem, weights, groups):
        point = step(problem)(weights, None)
        return curvature_matrix(problem, point, point.X, rows, point.G, groups)

    of_rows = matrix(random_problem(1, **options), weights[groups], rows)
    of_groups = matrix(random_problem(1, groups=groups, **options), weights, chosen)
    member = groups[:, None] == chosen
    np.testing.assert_allclose(of_groups, member.T @ of_rows @ member, atol=1e-9 * np.abs(of_rows).max())


def test_the_weights_of_the_first_working_set_add_up_to_those_of_all():
    problem = random_problem(0, 20, 400, 3, p=1.0, C=np.full((20, 3), 1.0))
    point = point_at(problem, np.ones(problem.n_groups))
    plain = problem.penalty.weights(point.norms)
    weights = Proposals(problem, warm=False).propose(point, plain, None)
    assert np.count_nonzero(weights) == WORKING_SET * 20
    assert weights.sum() == pytest.approx(plain.sum())
    assert MarginStep(problem)(weights, point).objective < MarginStep(problem)(plain * (weights > 0), point).objective


@pytest.mark.parametrize("C", [None, 10.0])
def test_going_on_from_a_neighbour_is_shorter_and_ends_as_low(C):
    """With the survival of p = 1 the loop goes on; without, it only starts from the same weights."""
    steps, objectives = [], []
    for seed in range(6):
        problem = random_problem(seed, 40, 80, 3, p=1.0)
        problem = problem if C is None else problem.with_C(costs(problem, C))
        convex, below = solve(problem), replace(problem, p=0.5)
        weights = below.penalty.weights(problem.norms(convex.W))
        pair = [solve(below, weights=weights, survival=survival) for survival in (convex.survival, None)]
        for solution in pair:
            history = np.array(solution.history.objective)
            assert solution.certificate <= 1e-3
            assert (np.diff(history) <= 1e-10 * history[0]).all()
        steps.append([solution.n_iter for solution in pair])
        objectives.append(np.log(pair[0].objective / pair[1].objective))
    assert np.sum(steps, axis=0)[0] < np.sum(steps, axis=0)[1]
    assert np.mean(objectives) < 0.01
