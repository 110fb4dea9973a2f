"""The inner problem: one non-negative QP per class, all with the same Gram matrix.

    a_j = argmin_{a >= 0}  1/2 a' (y_j y_j' o K + diag(s_j)) a - q_j' a          (B = Y o A is solved for)

Block principal pivoting with a warm passive set needs a few Cholesky factorisations. K may be singular (below p = 1
it ends so), hence a proximal term that is too small to slow anything down and vanishes at the solution:

    B <- argmin  ... + rho/2 ||B - B_previous||^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from dsofs.design.budget import BLOCK_BYTES, DOUBLE
from dsofs.design.linalg import Factor, factorise
from dsofs.design.types import Bools, Floats, Ints

PROXIMAL = 1e-11  # of the mean diagonal of K: far above rounding, far below any curvature that matters
MAX_PROXIMAL_STEPS, STAGNANT = 12, 0.9  # the latter: a residual that falls no further than this has settled
KKT_TOL = 1e-10  # aimed at, in units of the margin
MAX_EXCHANGES = 15  # pivoting settles in two to ten; beyond that NNLS is quicker
PATIENCE = 3  # so many exchanges in a row without fewer infeasibilities: it is going round in circles
ZERO = 1e-12  # multipliers below this, relative to the largest, are zero


@dataclass(frozen=True)
class QPSolution:
    B: Floats
    excess: Floats  # of the margins above their targets, slack included
    factors: list[Factor] | None  # of each column's passive part; None if they would need more room than K and a block
    residual: float  # largest violation of the optimality conditions, in units of the margin


def solve_nnqp(K: Floats, Y: Floats, Q: Floats, B: Floats | None = None, slack: Floats | None = None) -> QPSolution:
    """Solve the QP of every column of Y, starting from the multipliers B (all samples passive where it is zero).

    LinAlgError means that floating point cannot tell the QP from one without a solution.
    """
    matrix = Matrix.of(K)
    B = np.zeros_like(Y) if B is None else B.copy()
    factors: list[Factor] | None = [Factor.empty()] * Y.shape[1]
    room = K.size + BLOCK_BYTES // DOUBLE
    pending, residuals, excess = np.arange(Y.shape[1]), np.full(Y.shape[1], np.inf), Q
    for _ in range(MAX_PROXIMAL_STEPS):
        for j in pending:
            ridge = matrix.rho if slack is None else matrix.rho + slack[:, j]
            B[:, j], factor = _proximal_step(matrix, Y[:, j], Q[:, j], B[:, j], ridge)
            if factors is not None:
                room += factors[j].L.size - factor.L.size
                factors[j] = factor
                factors = factors if room >= 0 else None
        last, excess = residuals, _excess(K, Y, Q, B, slack)
        residuals = np.max(np.where(B == 0, -excess, np.abs(excess)), axis=0, initial=0.0)
        pending = np.flatnonzero((residuals > KKT_TOL) & (residuals <= STAGNANT * last))
        if not len(pending):
            break
    return QPSolution(B, excess, factors, float(np.max(residuals, initial=0.0)))  # NaN comes through


def _excess(K: Floats, Y: Floats, Q: Floats, B: Floats, slack: Floats | None) -> Floats:
    margins = Y * (K @ B)
    if slack is not None:
        margins += slack * np.abs(B)
    return margins - Q


@dataclass(frozen=True)
class Matrix:
    """K, with what depends on K alone and is the same for all classes."""

    K: Floats
    rho: float  # weight of the proximal term
    rounding: float  # what rounding can put into an entry of K @ b, for the largest entry of b

    @classmethod
    def of(cls, K: Floats) -> Matrix:
        diagonal = K.diagonal()
        return cls(K, PROXIMAL * float(diagonal.mean()), len(K) * np.finfo(np.float64).eps * float(diagonal.max()))


def _proximal_step(matrix: Matrix, y: Floats, q: Floats, b: Floats, ridge: Floats | float) -> tuple[Floats, Factor]:
    passive = y * b > 0
    if not passive.any():
        passive[:] = True
    b, factor = _pivot(matrix, y, y * q + matrix.rho * b, ridge, passive)
    return y * np.maximum(y * b, 0.0), factor


def _pivot(matrix: Matrix, y: Floats, target: Floats, ridge: Floats | float, passive: Bools) -> tuple[Floats, Factor]:
    """Exchange the samples on the wrong side until none is: (K + ridge) b = target on the passive set, b = 0 off it.

    All of them at once while that helps; NNLS, which always ends, if it does not.
    """
    fewest, patience = len(y) + 1, PATIENCE
    for _ in range(MAX_EXCHANGES):
        factor = factorise(matrix.K, ridge, passive)
        b = np.zeros(len(y))
        b[factor.index] = factor.solve(target[factor.index])
        wrong = _wrong_side(matrix, y, b, target, factor.index)
        if wrong is None:
            return b, factor
        count = int(np.count_nonzero(wrong))
        patience = PATIENCE if count < fewest else patience - 1
        if patience < 0:
            break
        fewest = min(count, fewest)
        passive = passive ^ wrong
    return _by_nnls(matrix.K, y, target, ridge)


def _wrong_side(matrix: Matrix, y: Floats, b: Floats, target: Floats, passive: Ints) -> Bools | None:
    """Passive samples whose multiplier is negative, others whose margin is too small; None if there are none."""
    side = matrix.K @ b - target
    side[passive] = b[passive]
    side *= y
    if side.min() >= 0:
        return None
    size = np.abs(b).max()
    noise = np.full(len(y), max(KKT_TOL * np.abs(target).max(), matrix.rounding * size))
    noise[passive] = ZERO * size
    wrong = side < -noise
    return wrong if wrong.any() else None


def _by_nnls(K: Floats, y: Floats, target: Floats, ridge: Floats | float) -> tuple[Floats, Factor]:
    """The same problem as non-negative least squares on the Cholesky factor."""
    try:
        R = cholesky(K + np.diag(np.broadcast_to(ridge, len(y))), check_finite=False)
        a, _ = nnls(R * y, solve_triangular(R, target, trans=1, check_finite=False), maxiter=10 * len(y))
    except RuntimeError as error:
        raise np.linalg.LinAlgError("non-negative least squares did not end") from error
    return y * a, factorise(K, ridge, a > 0)
