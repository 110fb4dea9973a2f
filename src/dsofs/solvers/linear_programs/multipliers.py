"""Better multipliers for a fit that came to rest, where they are not unique.

With one column of Y and all powers 1, the problem of ``general`` is a linear program. At its optimum many residuals can
be zero and few rows be left, the bias alone for instance. What the inner step takes for multipliers is then one choice
of many, most of which certify nothing. The dual program,

    max  y'b   subject to   |Z_i'b| <= 1,

knows the best. It has a constraint for every feature, few of which matter: those that its solution violates join.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog

from dsofs.design.residuals import WithResiduals
from dsofs.design.types import Floats
from dsofs.problem import Problem, Solution, Status
from dsofs.solvers.loop.point import relative_gap

MOST_SAMPLES = 2000  # beyond, the program takes longer than the fit
FIRST, JOINING = 3, 1  # features per sample at the beginning, and so many join at a time
VIOLATED = 1e-7
MAX_ROUNDS = 20


def with_best_multipliers(problem: Problem, solution: Solution, tol: float) -> Solution:
    """The solution, certified by the dual program if that certifies more."""
    linear = problem.Y.shape[1] == 1 and bool(np.all(problem.powers == 1))
    if not linear or len(problem.Y) > MOST_SAMPLES or not isinstance(problem.X, WithResiduals):
        return solution
    B = _dual_optimum(problem.X, problem.Y, solution.B)
    if B is None:
        return solution
    gap = relative_gap(solution.objective, problem.lower_bound(B, problem.dual_norms(B)))
    if gap >= solution.certificate:
        return solution
    solution.history.gap[-1] = gap
    return replace(solution, B=B, certificate=gap, status=Status.CONVERGED if gap <= tol else solution.status)


def _dual_optimum(X: WithResiduals, Y: Floats, B: Floats) -> Floats | None:
    """From B on, which says what features to begin with; None if the program is not solved."""
    features, (m, n) = X.X, (X.n_samples, X.X.n_columns)
    bounds = np.column_stack([-1 / X.v, 1 / X.v])  # a residual is a column with one entry
    chosen = np.zeros(n, dtype=bool)
    chosen[np.argsort(-np.abs(features.tdot(B)[:, 0]))[: FIRST * m]] = True
    for _ in range(MAX_ROUNDS):
        Z = features.block(np.flatnonzero(chosen)).on_host()
        program = linprog(-Y[:, 0], np.vstack([Z.T, -Z.T]), np.ones(2 * Z.shape[1]), bounds=bounds)
        if program.status != 0:
            return None
        B = program.x[:, None]
        excess = np.where(chosen, 0.0, np.abs(features.tdot(B)[:, 0]) - 1)
        joining = np.argsort(-excess)[: JOINING * m]
        joining = joining[excess[joining] > VIOLATED]
        if not len(joining):
            return B
        chosen[joining] = True
    return None
