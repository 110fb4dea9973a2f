"""Below p = 1: rows that the objective is better off without.

Every row of zeros is a local optimum there, and so is many a row that is not: the loop comes to rest although the
objective would fall if one row were removed and the others took over. With the weights d kept, removing row i changes
the bound that the loop minimises by

    1/2 d_i g_i^2 / (1 - h_i) - (1/p - 1/2) ||w_i||^p,        h_i = d_i sum_j g_ij^2 P_jii / g_i^2,

where P is the ``Curvature`` of the samples on the margin. Where that is about negative it is tried, with an exact step.
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.types import Ints
from dsofs.problem import Problem
from dsofs.solvers.newton import DIRECT, curvature_matrix
from dsofs.solvers.point import Point, Step, plain_weights

WORTHWHILE = 1e-6  # relative descent; less is no other optimum, or rounding
MAX_FAILURES = 3  # in a row, of the most promising removals: the others will not pay either
LIKELY = 2.0  # a removal is tried if it pays with this part of what it is expected to cost


def without_superfluous_rows(problem: Problem, step: Step, point: Point) -> Point | None:
    """A point without some of the rows whose objective is lower; None if no single row can go."""
    if len(np.flatnonzero(point.weights)) > DIRECT or point.curvature is None:
        return None
    best, failures = point, 0
    for group in _candidates(problem, point):
        weights = plain_weights(best.norms, problem.p)
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
    """Groups whose removal may pay, the most promising first."""
    groups = np.flatnonzero(point.weights)
    if problem.slack is None or not problem.soft_columns.all():
        return groups[np.argsort(point.norms[groups], kind="stable")]
    d = point.weights[groups]
    M = curvature_matrix(problem, point, point.X, point.rows, point.G, groups)
    g2 = problem.norms(point.G, point.rows)[groups] ** 2
    left = np.maximum(1 - d * M.diagonal() / np.maximum(g2, np.finfo(np.float64).tiny), np.finfo(np.float64).eps)
    cost = 0.5 * d * g2 / left
    p = problem.powers[groups]
    gain = (1 / p - 0.5) * point.norms[groups] ** p
    promising = np.flatnonzero(LIKELY * gain > cost)
    return groups[promising[np.argsort((cost - gain)[promising], kind="stable")]]
