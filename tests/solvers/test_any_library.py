"""Every variant of the problem gives the same answer whatever library holds the design."""

from dataclasses import replace
from itertools import product

import array_api_strict
import numpy as np
import pytest

from dsofs.design import Block
from dsofs.design.copies import Copies
from dsofs.problem import Problem
from dsofs.ranking import RANKINGS, rank_features
from dsofs.solvers import solve
from tests.problems import label_columns, random_data, standardised

VARIANTS = list(
    product([0.85, 1.0, 1.5], ["hard", "squared"], [2, 3], ["margin", "equality"], [(24, 60), (90, 12)], [False, True])
)


@pytest.fixture(params=["CPU_DEVICE", "device1"])
def library(request):
    """An array library with no more than the standard has, on two devices; NumPy refuses arrays of the second."""
    device = array_api_strict.Device(request.param)
    return lambda Z: array_api_strict.asarray(Z, device=device)


@pytest.mark.filterwarnings("ignore:.*cannot be")
@pytest.mark.parametrize(("p", "margins", "classes", "constraint", "shape", "grouped"), VARIANTS)
def test_same_objective_and_ranking(p, margins, classes, constraint, shape, grouped, library):
    X, y = random_data(1, *shape, classes, informative=4)
    Z, Y = np.column_stack([standardised(X), np.ones(len(X))]), label_columns(y)
    C = None if margins == "hard" else np.full(Y.shape, 0.3)
    groups = np.append(np.arange(shape[1]) // 2, shape[1]) if grouped else None
    groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
    plain = Problem(Block(Z), Y, p, constraint, C, groups=groups, bias=True)
    other = replace(plain, X=Block(library(Z)))
    expected, found = solve(plain), solve(other)
    assert found.status is expected.status
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    for ranking in RANKINGS:
        ranks = [
            rank_features(problem, solution, ranking, np.arange(shape[1]), Copies.none(), shape[1])[1]
            for problem, solution in ((plain, expected), (other, found))
        ]
        first = ranks[0] <= 5
        np.testing.assert_array_equal(ranks[1][first], ranks[0][first])
