"""Inner step for equalities, Eqn. 4:  min 1/2 sum ||w_i||^2 / d_i  subject to  X W = Y,  so  W = diag(d) X' K^+ Y.

With slack s it is ridge regression, W = diag(d) X' (K + s)^{-1} Y, and the residual is s B.
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.linalg import Factor, factorise
from dsofs.arrays.types import Floats
from dsofs.problem import Problem
from dsofs.solvers.nnqp import PROXIMAL
from dsofs.solvers.point import Point, active_columns, penalty, slack_price

REFINEMENTS = 5  # each is a proximal step: it takes away what the ridge on K put in
CONSISTENT = 1e-6  # largest |X W - Y| that counts as equality


def equality_step(problem: Problem, weights: Floats, previous: Point | None) -> Point | None:
    rows, X = active_columns(problem, weights, previous)
    d = problem.expand(weights)[rows]
    K = X.gram(d)
    try:
        factors = _factors(K, problem)
    except np.linalg.LinAlgError:
        return None
    B = np.zeros_like(problem.Y)
    for _ in range(REFINEMENTS):
        error = _error(K, B, problem)
        B += np.stack([factor.solve(error[:, j]) for j, factor in enumerate(factors)], axis=1)
    if np.abs(_error(K, B, problem)).max() > CONSISTENT:
        return None
    G = X.tdot(B)
    W = d[:, None] * G
    norms = problem.norms(W, rows)
    objective = penalty(problem, norms) + slack_price(problem, B)
    return Point(weights, rows, X, W, B, G, norms, objective, factors)


def _factors(K: Floats, problem: Problem) -> list[Factor]:
    rho = PROXIMAL * float(np.trace(K)) / len(K)
    if problem.slack is None:
        return [factorise(K, rho)] * problem.Y.shape[1]
    return [factorise(K, rho + slack) for slack in problem.slack.T]


def _error(K: Floats, B: Floats, problem: Problem) -> Floats:
    error = problem.Y - K @ B
    return error if problem.slack is None else error - problem.slack * B
