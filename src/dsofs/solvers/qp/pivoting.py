"""The inner problem: one QP with bounds per class, all with the same Gram matrix.

    a_j = argmin_{0 <= a <= C_j}  1/2 a' (y_j y_j' o K + diag(s_j)) a - q_j' a          (B = Y o A is solved for)

Hard margins have s = 0 and C = inf, squared slack s > 0, plain slack a finite C. Block principal pivoting with a warm
start needs a few Cholesky factorisations: each sample is free, at zero or at C, and all that are on the wrong side
change at once. K may be singular (below p = 1 it ends so), hence a proximal term that is too small to slow anything
down and vanishes at the solution:

    B <- argmin  ... + rho/2 ||B - B_previous||^2

Rows of W that are not penalised put a constraint on each class, F'b = 0 with the columns F of X that they are for.
Their weights are its multipliers: the system of the free samples gets F as a border.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from dsofs.design.budget import DOUBLE, Budget, for_each
from dsofs.design.linalg import Factor, factorise
from dsofs.design.types import Bools, Floats
from dsofs.solvers.qp.box_interior import box_sides

PROXIMAL = 1e-11  # of the mean diagonal of K: far above rounding, far below any curvature that matters
MAX_PROXIMAL_STEPS, STAGNANT = 12, 0.9  # the latter: a residual that falls no further than this has settled
KKT_TOL, SOLVED = 1e-10, 1e-6  # the residual aimed at, and the largest that counts as solved; in units of the margin
MAX_EXCHANGES = 15  # pivoting settles in two to ten; beyond that other methods are quicker
PATIENCE = 3  # so many exchanges in a row without fewer infeasibilities: it is going round in circles
STIFF, TINY = 1e4, np.finfo(np.float64).tiny
ZERO = 1e-12  # multipliers below this, relative to the largest, are zero


@dataclass(frozen=True)
class QPSolution:
    B: Floats
    excess: Floats  # of the margins above their targets, squared slack included
    factors: list[Factor] | None  # of each column's free part; None if they would need more room than K and a block
    residual: float  # largest violation of the optimality conditions, in units of the margin
    free: Floats  # the weights of the rows that are not penalised

    @property
    def solved(self) -> bool:
        """Constraints are violated by no more than this; NaN is not solved."""
        return self.residual <= SOLVED


def solve_qp(
    K: Floats,
    Y: Floats,
    Q: Floats,
    B: Floats | None = None,
    slack: Floats | None = None,
    upper: Floats | None = None,
    F: Floats | None = None,
) -> QPSolution:
    """Solve the QP of every column of Y, starting from the multipliers B (all samples free where it is zero).

    ``F``: the columns of rows of W that are not penalised; not together with ``upper``.

    LinAlgError means that floating point cannot tell the QP from one without a solution.
    """
    F = np.empty((len(K), 0)) if F is None else F
    K = with_border(K, F)
    matrix = Matrix.of(K, F)
    B = _first(matrix, Y, Q, slack, upper) if B is None else B.copy()
    free = np.zeros((F.shape[1], Y.shape[1]))
    kept = Kept(Y.shape[1], room=K.size + Budget.block // DOUBLE)
    pending, residuals, excess = np.arange(Y.shape[1]), np.full(Y.shape[1], np.inf), Q

    def solve_column(j: np.intp) -> None:
        ridge = matrix.rho if slack is None else matrix.rho + slack[:, j]
        target = Y[:, j] * Q[:, j] + matrix.rho * B[:, j]
        step = ProximalStep(matrix, Y[:, j], target, ridge, _bounds(upper, j))
        B[:, j], factor = step.solve(B[:, j])
        free[:, j] = step.free
        kept.keep(j, factor)

    for _ in range(MAX_PROXIMAL_STEPS):
        for_each(solve_column, list(pending), factorisations(B[:, pending]))
        last, excess = residuals, _excess(K, Y, Q, B, slack)
        if F.size:
            excess += Y * (F @ free)
        residuals = np.max(_violations(excess, B, upper), axis=0, initial=0.0)
        pending = np.flatnonzero((residuals > KKT_TOL) & (residuals <= STAGNANT * last))
        if not len(pending):
            break
    return QPSolution(B, excess, kept.factors, float(np.max(residuals, initial=0.0)), free)  # NaN comes through


def factorisations(B: Floats) -> float:
    """Multiplications of a Cholesky factorisation for each column, of the samples with a multiplier."""
    return float(np.sum(np.count_nonzero(B, axis=0) ** 3.0)) / 6


def _first(matrix: Matrix, Y: Floats, Q: Floats, slack: Floats | None, upper: Floats | None) -> Floats:
    """Multipliers with all samples free, without those of the wrong sign: one factorisation for all columns.

    Zero where columns have no matrix in common.
    """
    if upper is not None or matrix.F.size or not (slack is None or (slack == slack[:, :1]).all()):
        return np.zeros_like(Y)
    factor = factorise(matrix.K, matrix.rho if slack is None else matrix.rho + slack[:, 0])
    return Y * np.maximum(Y * factor.solve(Y * Q), 0.0)


class Kept:
    """The factors of all columns, while they need no more room than there is."""

    def __init__(self, n_columns: int, room: int) -> None:
        self.factors: list[Factor] | None = [Factor.empty()] * n_columns
        self.room, self._lock = room, Lock()

    def keep(self, j: np.intp, factor: Factor) -> None:
        with self._lock:  # columns are solved in threads
            if self.factors is not None:
                self.room -= max(factor.L.size - self.factors[j].L.size, 0)  # in whatever order columns come
                self.factors[j] = factor
                self.factors = self.factors if self.room >= 0 else None


def with_border(K: Floats, F: Floats) -> Floats:
    """K + t F F', which is K wherever F'b = 0, but has no null space in common with F': it loses fewer digits."""
    if not F.size:
        return K
    return K + float(np.trace(K)) / max(float(np.vdot(F, F)), TINY) * (F @ F.T)


def _bounds(upper: Floats | None, j: np.intp) -> Floats | None:
    """The upper bounds of column j; None if it has none."""
    return None if upper is None or np.isinf(upper[:, j]).all() else upper[:, j]


def _excess(K: Floats, Y: Floats, Q: Floats, B: Floats, slack: Floats | None) -> Floats:
    margins = Y * (K @ B)
    if slack is not None:
        margins += slack * np.abs(B)
    return margins - Q


def _violations(excess: Floats, B: Floats, upper: Floats | None) -> Floats:
    """A free sample is on its margin; at zero it may be beyond, at C inside."""
    violations = np.where(B == 0, -excess, np.abs(excess))
    return violations if upper is None else np.where(np.abs(B) >= upper, excess, violations)


@dataclass(frozen=True)
class Matrix:
    """K, with what depends on K alone and is the same for all classes."""

    K: Floats
    F: Floats
    rho: float  # weight of the proximal term
    rounding: float  # what rounding can put into an entry of K @ b, for the largest entry of b

    @classmethod
    def of(cls, K: Floats, F: Floats) -> Matrix:
        diagonal = K.diagonal()
        return cls(K, F, PROXIMAL * float(diagonal.mean()), len(K) * np.finfo(np.float64).eps * float(diagonal.max()))

    def factorise(self, ridge: Floats | float, part: Bools) -> Factor:
        factor = factorise(self.K, ridge, part)
        return factor.bordered(self.F) if self.F.size else factor


@dataclass(slots=True)
class ProximalStep:
    """min 1/2 b'(K + diag(ridge)) b - target'b  over  0 <= y o b <= upper  (None: no upper bounds)."""

    matrix: Matrix
    y: Floats
    target: Floats
    ridge: Floats | float
    upper: Floats | None
    free: Floats = field(default_factory=lambda: np.empty(0))  # the multipliers of F'b = 0, found with b

    def solve(self, b: Floats) -> tuple[Floats, Factor]:
        """The optimum, by pivoting from b, and the factor of the free samples.

        All that are on the wrong side change at once while that helps; other methods, which always end, if not.
        """
        a = self.y * b
        free, full = (a > 0, None) if self.upper is None else ((a > 0) & (a < self.upper), a >= self.upper)
        if not (free.any() or a.any()):
            free[:] = True
        fewest, patience = len(a) + 1, PATIENCE
        for _ in range(MAX_EXCHANGES):
            factor = self.matrix.factorise(self.ridge, free)
            b = self._solve_free(factor, full)
            wrong = self.wrong_side(b, factor, full)
            if wrong is None:
                return self._within_bounds(b), factor
            count = int(np.count_nonzero(wrong))
            patience = PATIENCE if count < fewest else patience - 1
            if patience < 0:
                break
            fewest = min(count, fewest)
            if full is not None:  # from free to C if it is above zero, else to zero
                full = np.where(wrong, free & (self.y * b > 0), full)
            free = free ^ wrong
            del factor  # before there is another of its size
        return self._without_pivoting()

    def _solve_free(self, factor: Factor, full: Bools | None) -> Floats:
        """(K + ridge) b = target on the free samples, b = y C on the full ones, b = 0 on the others."""
        b, target = np.zeros(len(self.y)), self.target
        if self.upper is not None and full is not None:
            b[full] = (self.y * self.upper)[full]
            target = target - self.matrix.K @ b
        if self.matrix.F.size:
            b[factor.index], self.free = factor.solve_with_border(target[factor.index])
        else:
            b[factor.index] = factor.solve(target[factor.index])
        return b

    def wrong_side(self, b: Floats, factor: Factor, full: Bools | None) -> Bools | None:
        """Free samples out of bounds, others whose margin is too small, or too large at C; None if there are none."""
        side, free = self.matrix.K @ b - self.target, factor.index
        if self.matrix.F.size:
            side += self.matrix.F @ self.free
        if full is not None:
            side[full] = -(side + self.ridge * b)[full]
        side[free] = b[free]
        side *= self.y
        if self.upper is not None:
            side[free] = np.minimum(side, self.upper - side)[free]
        if side.min() >= 0:
            return None
        size = np.abs(b).max()
        noise = np.full(len(b), max(KKT_TOL * np.abs(self.target).max(), self.matrix.rounding * size))
        noise[free] = ZERO * size
        wrong = side < -noise
        return wrong if wrong.any() else None

    def _within_bounds(self, b: Floats) -> Floats:
        a = np.maximum(self.y * b, 0.0)
        return self.y * (a if self.upper is None else np.minimum(a, self.upper))

    def _without_pivoting(self) -> tuple[Floats, Factor]:
        """By non-negative least squares on the Cholesky factor; with upper bounds by an interior-point method."""
        H = self.matrix.K + np.diag(np.broadcast_to(self.ridge, len(self.y)))
        if self.upper is not None:
            free, full = box_sides(H * np.outer(self.y, self.y), self.y * self.target, self.upper)
            factor = factorise(self.matrix.K, self.ridge, free)
            return self._within_bounds(self._solve_free(factor, full)), factor
        try:
            R = cholesky(H, check_finite=False)
            rhs = solve_triangular(R, self.target, trans=1, check_finite=False)
            if self.matrix.F.size:  # heavy rows for F'b = 0, which tell what samples are free
                heavy = STIFF * np.sqrt(np.trace(H) / max(np.vdot(self.matrix.F, self.matrix.F), TINY))
                R, rhs = np.vstack([R, heavy * self.matrix.F.T]), np.append(rhs, np.zeros(self.matrix.F.shape[1]))
            a, _ = nnls(R * self.y, rhs, maxiter=10 * len(self.y))
        except RuntimeError as error:
            raise np.linalg.LinAlgError("non-negative least squares did not end") from error
        factor = self.matrix.factorise(self.ridge, a > 0)
        return (self._within_bounds(self._solve_free(factor, None)) if self.matrix.F.size else self.y * a), factor
