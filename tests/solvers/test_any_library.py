"""Every variant of the problem gives the same answer from every kind of X, none of which is turned into NumPy."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from dsofs.design import Budget, as_design, moments
from dsofs.design.standard import Copies
from dsofs.problem import Problem
from dsofs.ranking import RANKINGS, rank_features
from dsofs.solvers import solve
from dsofs.solvers.rfs.general import Term, minimise_terms
from tests.arrays import KINDS, LIBRARIES, never_as_numpy
from tests.problems import label_columns, random_data

SHAPES = {"wide": (24, 60), "tall": (90, 12)}
VARIANTS = list(product([0.85, 1.0, 1.5], ["hard", "squared"], [2, 3], ["margin", "equality"], SHAPES))
IN_PIECES = Budget(block=8 * 24 * 20, tall_block=8 * 90 * 5, chunk=8 * 24 * 8, fewest=5)


@cache
def data(classes, shape):
    X, y = random_data(1, *SHAPES[shape], classes, informative=4)
    return X.astype(np.float32).astype(np.float64), label_columns(y)  # float32 holds the same numbers


def design(X, budget):
    return as_design(X, moments(X, budget=budget), standardize=True, bias=True, budget=budget).compact()


def solved(X, Y, p, margins, constraint, budget, solver="joint"):
    """The solution, and the ranks by every rule."""
    C = None if margins == "hard" else np.full(Y.shape, 0.3)
    problem = Problem(design(X, budget), Y, p, constraint, C, bias=True)
    solution, n = solve(problem, solver), X.shape[1]
    ranks = [rank_features(problem, solution, rule, np.arange(n), Copies.none(), n)[1] for rule in RANKINGS]
    return solution, np.stack(ranks)


@cache
def expected(p, margins, classes, constraint, shape, solver="joint"):
    X, Y = data(classes, shape)
    return solved(X, Y, p, margins, constraint, Budget(), solver)


def assert_same(found, wanted):
    (solution, ranks), (plain, plain_ranks) = found, wanted
    assert solution.status is plain.status
    assert solution.objective == pytest.approx(plain.objective, rel=1e-6)
    first = plain_ranks <= 5
    np.testing.assert_array_equal(ranks[first], plain_ranks[first])


@pytest.mark.filterwarnings("ignore:.*cannot be")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("p", "margins", "classes", "constraint", "shape"), VARIANTS)
def test_same_objective_and_ranking(p, margins, classes, constraint, shape, kind, tmp_path, monkeypatch):
    X, Y = data(classes, shape)
    given = KINDS[kind](X, tmp_path)
    if kind in LIBRARIES:
        never_as_numpy(given, monkeypatch)
    variant = p, margins, classes, constraint, shape
    assert_same(solved(given, Y, p, margins, constraint, IN_PIECES), expected(*variant))


@pytest.mark.parametrize("kind", KINDS)
def test_the_papers_algorithm(kind, tmp_path):
    X, Y = data(3, "wide")
    found = solved(KINDS[kind](X, tmp_path), Y, 1.0, "hard", "margin", IN_PIECES, "alternating")
    assert_same(found, expected(1.0, "hard", 3, "margin", "wide", "alternating"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_rfs(kind, shape, tmp_path):
    X, Y = data(3, shape)
    plain, found = (
        minimise_terms([Term(design(A, budget), -Y, 1.0)], lam=1.0)
        for A, budget in ((X, Budget()), (KINDS[kind](X, tmp_path), IN_PIECES))
    )
    assert found.status is plain.status
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)
