"""Below p = 1: rows whose removal lowers the objective.

A row of zeros is always a local optimum there, and the loop can come to rest at a point where removing one row, and
letting the others take over, lowers the objective. With the weights d kept, removing row i changes the bound that the
loop minimises by

    cost - gain  =  1/2 d_i g_i^2 / (1 - h_i)  -  (1/p - 1/2) ||w_i||^p,        h_i = d_i sum_j g_ij^2 P_jii / g_i^2,

where P is the ``Curvature`` of the samples on the margin. Rows for which that may be negative are tried, each with an
exact inner step. With hard margins removing a row changes which samples are on the margin, and the estimate says
nothing: the smallest rows are tried first.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.ranking import descending
from dsofs.solvers.acceleration.newton import DIRECT, curvature_matrix
from dsofs.solvers.loop.point import Point, Step

WORTHWHILE = 1e-6  # relative descent; less is no other optimum, or rounding
MAX_FAILURES = 3  # in a row, of the most promising removals: the others will not pay either
LIKELY = 2.0  # a removal is tried if so many times its gain exceed its cost, an estimate as samples may change sides


def without_superfluous_rows(problem: Problem, step: Step, point: Point) -> Point | None:
    """A point without some of the rows whose objective is lower; None if no single row can go."""
    if len(np.flatnonzero(point.weights)) > DIRECT or point.curvature is None:
        return None
    best, failures = point, 0
    for group in _candidates(problem, point):
        weights = problem.penalty.weights(best.norms)
        weights[group] = 0.0
        candidate = step(weights, best) if weights.any() else None
        if candidate is not None and candidate.objective < (1 - WORTHWHILE) * best.objective:
            best, failures = candidate, 0
        else:
            failures += 1
        if failures == MAX_FAILURES:
            break
    return None if best is point else best


def _candidates(problem: Problem, point: Point) -> Ints:
    """Groups whose removal may pay, the most promising first; of equal ones the last, so that the first stays."""
    groups = np.flatnonzero(point.weights)
    worth = -point.norms[groups]
    if problem.slack is not None and problem.soft_columns.all():
        cost, gain = _estimates(problem, point, groups)
        likely = LIKELY * gain > cost
        groups, worth = groups[likely], (gain - cost)[likely]
    return groups[np.lexsort((-groups, descending(worth)))]


def _estimates(problem: Problem, point: Point, groups: Ints) -> tuple[Floats, Floats]:
    """The cost and the gain of removing each group."""
    d, p, info = point.weights[groups], problem.powers[groups], np.finfo(np.float64)
    M = curvature_matrix(problem, point, point.X, point.rows, point.G, groups)
    g2 = problem.norms(point.G, point.rows)[groups] ** 2
    left = np.maximum(1 - d * M.diagonal() / np.maximum(g2, info.tiny), info.eps)
    return 0.5 * d * g2 / left, (1 / p - 0.5) * point.norms[groups] ** p
