"""The inner problem with plain slack: a QP per class, whose multipliers have a ceiling.

    a = argmin_{0 <= a <= C}  1/2 a' (y y' o K) a - 1'a                          (b = y o a is solved for)

Block principal pivoting as in ``nnqp``, with a third state: samples inside the margin, whose multiplier is C. From the
solution of a neighbouring QP it takes a few factorisations.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.linalg import Factor, factorise, principal
from dsofs.design.types import Bools, Floats
from dsofs.solvers.qp.nnqp import KKT_TOL, MAX_PROXIMAL_STEPS, STAGNANT, ZERO, Matrix

MAX_EXCHANGES = 60  # two to ten, as a rule
REFINEMENTS = 3
WORST = 0.5  # of the largest push: only samples pushed so hard change their state once all at once does not help


def solve_boxqp(matrix: Matrix, y: Floats, ceiling: Floats, b: Floats) -> tuple[Floats, Factor] | None:
    """The multipliers and the factor of the samples on the margin, from b; None if pivoting does not end."""
    residual = np.inf
    for _ in range(MAX_PROXIMAL_STEPS):
        pivoted = _pivot(matrix, y, y + matrix.rho * b, ceiling, b)
        if pivoted is None:
            return None
        b, factor = pivoted
        last, residual = residual, _residual(matrix.K, y, ceiling, b)
        if residual <= KKT_TOL or residual > STAGNANT * last:
            break
    return with_exact_margins(matrix.K, y, ceiling, b, factor), factor


def with_exact_margins(K: Floats, y: Floats, ceiling: Floats, b: Floats, factor: Factor) -> Floats:
    """b with the margins of the samples of ``factor`` refined."""
    free, exact, others = factor.index, b.copy(), b.copy()
    others[free] = 0.0
    exact[free] = refined_margins(principal(K, free), (y - K @ others)[free], y[free], b[free], ceiling[free], factor)
    return exact


def refined_margins(K: Floats, target: Floats, y: Floats, b: Floats, ceiling: Floats, factor: Factor) -> Floats:
    """K b = target to the last digit, since C multiplies what is missing; b as it was if that leaves 0 or C."""
    exact = b
    for _ in range(REFINEMENTS):
        exact = exact + factor.solve(target - K @ exact)
    a = y * exact
    return exact if ((a >= 0) & (a <= ceiling)).all() else b


def _pivot(matrix: Matrix, y: Floats, target: Floats, ceiling: Floats, b: Floats) -> tuple[Floats, Factor] | None:
    """(K + rho) b = target for the samples on the margin (free), b = y C for those inside it, b = 0 for all others."""
    inside, free = y * b >= ceiling, (y * b > 0) & (y * b < ceiling)
    if not (free.any() or inside.any()):
        free[:] = True
    fewest = len(y) + 1
    for _ in range(MAX_EXCHANGES):
        b = np.where(inside, y * ceiling, 0.0)
        factor = factorise(matrix.K, matrix.rho, free)
        b[free] = factor.solve((target - matrix.K @ b)[free])
        push = _push(matrix, y, b, target, ceiling, free, inside)
        count = int(np.count_nonzero(push))
        if count == 0:
            return y * np.clip(y * b, 0.0, ceiling), factor
        if count >= fewest:
            push[np.abs(push) < WORST * np.abs(push).max()] = 0.0
        fewest = min(count, fewest)
        inside, free = (inside & (push == 0)) | (free & (push > 0)), free ^ (push != 0)
    return None


def _push(matrix: Matrix, y: Floats, b: Floats, target: Floats, ceiling: Floats, free: Bools, inside: Bools) -> Floats:
    """Where a multiplier, in units of C, is driven out of its state, and how hard; 0 where it stays."""
    a, size = y * b / ceiling, float(np.abs(b).max(initial=0.0))
    scale = np.maximum(matrix.K.diagonal() * ceiling, np.finfo(np.float64).tiny)
    step = y * (target - matrix.K @ b - matrix.rho * b) / scale
    push = np.where(free, a - np.clip(a, 0.0, 1.0), np.where(inside, np.minimum(step, 0.0), np.maximum(step, 0.0)))
    noise = np.where(free, ZERO * size / ceiling, max(KKT_TOL, matrix.rounding * size) / scale)
    push[np.abs(push) <= noise] = 0.0
    return push


def _residual(K: Floats, y: Floats, ceiling: Floats, b: Floats) -> float:
    """The largest violation of the optimality conditions, in units of the margin."""
    a, excess = y * b, y * (K @ b) - 1
    return float(np.max(np.where(a <= 0, -excess, np.where(a >= ceiling, excess, np.abs(excess)))))
