"""The inner problem: one QP with bounds per class, all with the same Gram matrix.

    a_j = argmin_{0 <= a <= C_j}  1/2 a' (y_j y_j' o K + diag(s_j)) a - q_j' a          (B = Y o A is solved for)

Hard margins have s = 0 and C = inf, squared slack s > 0, plain slack a finite C. Block principal pivoting with a warm
start needs a few Cholesky factorisations: each sample is free, at zero or at C, and all that are on the wrong side
change at once. K may be singular (below p = 1 it ends so), hence a proximal term that is too small to slow anything
down and vanishes at the solution:

    B <- argmin  ... + rho/2 ||B - B_previous||^2

Rows of W that are not penalised put a constraint on each class, F'b = 0 with the columns F of X that they are for.
Their weights are its multipliers. They follow b, as if K had further rows with y = 0, which are always free: F is the
border of K.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from dsofs.design.budget import DOUBLE, Budget, for_each
from dsofs.design.linalg import Factor, factorise, with_border
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
    m, c = Y.shape
    matrix = Matrix.of(K, F)
    if matrix.q:
        K, Y, Q = matrix.K, _padded(Y, matrix.q), _padded(Q, matrix.q)
        B, slack = (None if given is None else _padded(given, matrix.q) for given in (B, slack))
    B = _first(matrix, Y, Q, slack, upper) if B is None else B.copy()
    kept = Kept(c, room=K.size + Budget.block // DOUBLE)
    pending, residuals, excess = np.arange(c), np.full(c, np.inf), Q

    def solve_column(j: np.intp) -> None:
        ridge = matrix.rho if slack is None else matrix.rho + slack[:, j]
        target = Y[:, j] * (Q[:, j] + matrix.rho * np.abs(B[:, j]))
        step = ProximalStep(matrix, Y[:, j], target, ridge, _bounds(upper, j))
        B[:, j], factor = step.solve(B[:, j])
        kept.keep(j, factor)

    for _ in range(MAX_PROXIMAL_STEPS):
        for_each(solve_column, list(pending), factorisations(B[:, pending]))
        last, excess = residuals, _excess(K, Y, Q, B, slack)
        residuals = np.max(_violations(excess, B, upper), axis=0, initial=0.0)
        pending = np.flatnonzero((residuals > KKT_TOL) & (residuals <= STAGNANT * last))
        if not len(pending):
            break
    residual = float(np.max(residuals, initial=0.0))  # NaN comes through
    return QPSolution(B[:m], excess[:m], kept.factors, residual, B[m:])


def _padded(of_samples: Floats, q: int) -> Floats:
    """With zeros for the border."""
    return np.concatenate([of_samples, np.zeros((q, of_samples.shape[1]))])


def factorisations(B: Floats) -> float:
    """Multiplications of a Cholesky factorisation for each column, of the samples with a multiplier."""
    return float(np.sum(np.count_nonzero(B, axis=0) ** 3.0)) / 6


def _first(matrix: Matrix, Y: Floats, Q: Floats, slack: Floats | None, upper: Floats | None) -> Floats:
    """Multipliers with all samples free, without those of the wrong sign: one factorisation for all columns.

    Zero where columns have no matrix in common.
    """
    if upper is not None or not (slack is None or (slack == slack[:, :1]).all()):
        return np.zeros_like(Y)
    factor = matrix.factorise(matrix.rho if slack is None else matrix.rho + slack[:, 0])
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
    """K with its border, and what depends on K alone and is the same for all classes."""

    K: Floats
    q: int  # of its rows that are a border
    rho: float  # weight of the proximal term
    rounding: float  # what rounding can put into an entry of K @ b, for the largest entry of b

    @classmethod
    def of(cls, K: Floats, F: Floats | None) -> Matrix:
        rho, F = PROXIMAL * float(K.diagonal().mean()), np.empty((len(K), 0)) if F is None else F
        m, K = len(K), with_border(K, F)
        return cls(K, F.shape[1], rho, m * np.finfo(np.float64).eps * float(K.diagonal()[:m].max()))

    def factorise(self, ridge: Floats | float, part: Bools | None = None) -> Factor:
        return factorise(self.K, ridge, part, self.q)


@dataclass(slots=True)
class ProximalStep:
    """min 1/2 b'(K + diag(ridge)) b - target'b  over  0 <= y o b <= upper  (None: no upper bounds).

    With a border b is followed by the multipliers of F'b = 0, where y, ridge and target are zero.
    """

    matrix: Matrix
    y: Floats
    target: Floats
    ridge: Floats | float
    upper: Floats | None

    def solve(self, b: Floats) -> tuple[Floats, Factor]:
        """The optimum, by pivoting from b, and the factor of the free samples.

        All that are on the wrong side change at once while that helps; other methods, which always end, if not.
        """
        a = self.y * b
        free, full = (a > 0, None) if self.upper is None else ((a > 0) & (a < self.upper), a >= self.upper)
        if not (free.any() or a.any()):
            free[:] = True
        free[len(a) - self.matrix.q :] = True
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
        b[factor.index] = factor.solve(target[factor.index])
        return b

    def wrong_side(self, b: Floats, factor: Factor, full: Bools | None) -> Bools | None:
        """Free samples out of bounds, others whose margin is too small, or too large at C; None if there are none."""
        side, free = self.matrix.K @ b - self.target, factor.index
        if full is not None:
            side[full] = -(side + self.ridge * b)[full]
        side[free] = b[free]
        side *= self.y
        if self.upper is not None:
            side[free] = np.minimum(side, self.upper - side)[free]
        if side.min() >= 0:
            return None
        size = np.abs(self.y * b).max()
        noise = np.full(len(b), max(KKT_TOL * np.abs(self.target).max(), self.matrix.rounding * size))
        noise[free] = ZERO * size
        wrong = side < -noise
        return wrong if wrong.any() else None

    def _within_bounds(self, b: Floats) -> Floats:
        a = np.maximum(self.y * b, 0.0)
        within = self.y * (a if self.upper is None else np.minimum(a, self.upper))
        within[len(b) - self.matrix.q :] = b[len(b) - self.matrix.q :]
        return within

    def _without_pivoting(self) -> tuple[Floats, Factor]:
        """By non-negative least squares on the Cholesky factor; with upper bounds by an interior-point method."""
        m = len(self.y) - self.matrix.q
        y, target, F = self.y[:m], self.target[:m], self.matrix.K[:m, m:]
        H = self.matrix.K[:m, :m] + np.diag(np.broadcast_to(self.ridge, len(self.y))[:m])
        if self.upper is not None:
            free, full = box_sides(H * np.outer(y, y), y * target, self.upper)
            factor = factorise(self.matrix.K, self.ridge, free)
            return self._within_bounds(self._solve_free(factor, full)), factor
        try:
            R = cholesky(H, check_finite=False)
            rhs = solve_triangular(R, target, trans=1, check_finite=False)
            if F.size:  # heavy rows for F'b = 0, which tell what samples are free
                heavy = STIFF * np.sqrt(np.trace(H) / max(np.vdot(F, F), TINY))
                R, rhs = np.vstack([R, heavy * F.T]), np.append(rhs, np.zeros(F.shape[1]))
            a, _ = nnls(R * y, rhs, maxiter=10 * m)
        except RuntimeError as error:
            raise np.linalg.LinAlgError("non-negative least squares did not end") from error
        factor = self.matrix.factorise(self.ridge, np.append(a > 0, np.ones(F.shape[1], dtype=bool)))
        return (self._within_bounds(self._solve_free(factor, None)) if F.size else y * a), factor
