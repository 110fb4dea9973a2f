"""Inner step for margins, Eqn. 5:  min 1/2 sum ||w_i||^2 / d_i  subject to  Y o (X W) >= 1.

Column j is a hard-margin SVM without free offset on the features scaled by sqrt(d_j); its dual is a non-negative QP in
the Gram matrix K = X diag(d) X', which all classes share, and W = diag(d) X'(Y o A).
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.types import Floats
from dsofs.problem import Problem
from dsofs.solvers.nnqp import solve_nnqp
from dsofs.solvers.point import Point, active_columns, penalty, slack_price

# A QP solved no better than this (its constraints are then violated by as much) counts as not solved.
SOLVED = 1e-6


def margin_step(problem: Problem, weights: Floats, previous: Point | None) -> Point | None:
    rows, X = active_columns(problem, weights, previous)
    d = problem.expand(weights)[rows]
    K = X.gram(d)
    start = None if previous is None else previous.B
    try:
        inner = solve_nnqp(K, problem.Y, np.ones_like(problem.Y), start, problem.slack)
    except np.linalg.LinAlgError:
        return None
    if not inner.residual <= SOLVED:
        return None
    B = inner.B
    G = X.tdot(B)
    # Dividing a column by its smallest margin makes it feasible to the last digit.
    W = d[:, None] * G / _smallest_margins(problem, K, B)
    norms = problem.norms(W, rows)
    objective = penalty(problem, norms) + slack_price(problem, B)
    return Point(weights, rows, X, W, B, G, norms, objective, inner.factors)


def _smallest_margins(problem: Problem, K: Floats, B: Floats) -> Floats:
    margins = problem.Y * (K @ B)
    if problem.slack is not None:
        margins = margins + problem.slack * np.abs(B)
    return np.minimum(margins.min(axis=0), 1.0)
