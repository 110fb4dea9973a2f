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

from dsofs.arrays.linalg import Factor, factorise
from dsofs.arrays.memory import BLOCK_BYTES, DOUBLE
from dsofs.arrays.types import Bools, Floats

PROXIMAL = 1e-11  # of the mean diagonal of K: far above rounding, far below any curvature that matters
MAX_PROXIMAL_STEPS, STAGNANT = 12, 0.9  # the latter: a residual that falls no further than this has settled
KKT_TOL = 1e-10  # aimed at, in units of the margin
MAX_EXCHANGES = 15  # pivoting settles in two to ten; beyond that NNLS is quicker
PATIENCE = 3  # so many exchanges in a row without fewer infeasibilities: it is going round in circles
ZERO = 1e-12  # multipliers below this, relative to the largest, are zero


@dataclass(frozen=True)
class QPSolution:
    B: Floats
    factors: list[Factor] | None  # of each column's passive part; None if they would need more room than K and a block
    residual: float  # largest violation of the optimality conditions, in units of the margin


def solve_nnqp(K: Floats, Y: Floats, Q: Floats, B: Floats | None = None, slack: Floats | None = None) -> QPSolution:
    """Solve the QP of every column of Y, starting from the multipliers B (all samples passive where it is zero).

    LinAlgError means that floating point cannot tell the QP from one without a solution.
    """
    matrix = _Matrix.of(K)
    solved, residual = np.empty_like(Y), 0.0
    factors: list[Factor] | None = []
    room = K.size + BLOCK_BYTES // DOUBLE
    for j in range(Y.shape[1]):
        start, ridge = (None if B is None else B[:, j]), (None if slack is None else slack[:, j])
        solved[:, j], factor, violation = _solve_column(matrix, Y[:, j], Q[:, j], start, ridge)
        residual = float(np.maximum(residual, violation))
        room -= factor.L.size
        if room < 0:
            factors = None
        if factors is not None:
            factors.append(factor)
    return QPSolution(solved, factors, residual)


@dataclass(frozen=True)
class _Matrix:
    """K, with what depends on K alone and is the same for all classes."""

    K: Floats
    rho: float  # weight of the proximal term
    rounding: float  # what rounding can put into an entry of K @ b, for the largest entry of b

    @classmethod
    def of(cls, K: Floats) -> _Matrix:
        diagonal = K.diagonal()
        return cls(K, PROXIMAL * float(diagonal.mean()), len(K) * np.finfo(np.float64).eps * float(diagonal.max()))


def _solve_column(
    matrix: _Matrix, y: Floats, q: Floats, b: Floats | None, slack: Floats | None
) -> tuple[Floats, Factor, float]:
    ridge = np.full(len(y), matrix.rho) if slack is None else matrix.rho + slack
    if b is None or not b.any():
        b, passive = np.zeros(len(y)), np.ones(len(y), dtype=bool)
    else:
        passive = y * b > 0
    factor, residual = factorise(matrix.K, ridge, passive), np.inf
    for _ in range(MAX_PROXIMAL_STEPS):
        b, Kb, factor = _pivot(matrix, y, y * q + matrix.rho * b, ridge, factor)
        last, residual = residual, _kkt_residual(y, q, b, Kb, slack, factor)
        if residual <= KKT_TOL or residual > STAGNANT * last:
            break
    return y * np.maximum(y * b, 0.0), factor, residual


def _kkt_residual(y: Floats, q: Floats, b: Floats, Kb: Floats, slack: Floats | None, factor: Factor) -> float:
    excess = y * Kb - q
    if slack is not None:
        excess += slack * y * b
    excess[factor.index] = -np.abs(excess[factor.index])
    return float(np.max(-excess, initial=0.0))  # NaN, which max(0, .) would hide, comes through


def _pivot(matrix: _Matrix, y: Floats, target: Floats, ridge: Floats, factor: Factor) -> tuple[Floats, Floats, Factor]:
    """Exchange the samples on the wrong side until none is: (K + ridge) b = target on the passive set, b = 0 off it.

    All of them at once while that helps; NNLS, which always ends, if it does not. Returns b, K b and the factor.
    """
    passive = np.zeros(len(y), dtype=bool)
    passive[factor.index] = True
    fewest, patience = len(y) + 1, PATIENCE
    for _ in range(MAX_EXCHANGES):
        b = np.zeros(len(y))
        b[factor.index] = factor.solve(target[factor.index])
        Kb = matrix.K @ b
        wrong = _wrong_side(matrix, y, b, Kb, target, passive)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return b, Kb, factor
        patience = PATIENCE if count < fewest else patience - 1
        if patience < 0:
            break
        fewest = min(count, fewest)
        passive ^= wrong
        factor = factorise(matrix.K, ridge, passive)
    b, factor = _by_nnls(matrix.K, y, target, ridge)
    return b, matrix.K @ b, factor


def _wrong_side(matrix: _Matrix, y: Floats, b: Floats, Kb: Floats, target: Floats, passive: Bools) -> Bools:
    size = np.abs(b).max()
    noise = max(KKT_TOL * np.abs(target).max(), matrix.rounding * size)
    return np.where(passive, y * b < -ZERO * size, y * (Kb - target) < -noise)


def _by_nnls(K: Floats, y: Floats, target: Floats, ridge: Floats) -> tuple[Floats, Factor]:
    """The same problem as non-negative least squares on the Cholesky factor."""
    try:
        R = cholesky(K + np.diag(ridge), check_finite=False)
        a, _ = nnls(R * y, solve_triangular(R, target, trans=1, check_finite=False), maxiter=10 * len(y))
    except RuntimeError as error:
        raise np.linalg.LinAlgError("non-negative least squares did not end") from error
    return y * a, factorise(K, ridge, a > 0)
