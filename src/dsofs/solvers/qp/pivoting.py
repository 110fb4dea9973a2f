"""The inner problem: one QP with bounds per class, all with the same Gram matrix.

    a_j = argmin_{0 <= a <= C_j}  1/2 a' (y_j y_j' o K + diag(s_j)) a - q_j' a          (B = Y o A is solved for)

Hard margins have s = 0 and C = inf, squared slack s > 0, plain slack a finite C. Block principal pivoting with a warm
start needs a few Cholesky factorisations: each sample is free, at zero or at C, and all that are on the wrong side
change at once. K may be singular (below p = 1 it ends so), hence a proximal term that is too small to slow anything
down and vanishes at the solution:

    B <- argmin  ... + rho/2 ||B - B_previous||^2

Where pivoting goes round in circles, as it does once more samples are free than K has rank, non-negative least squares
or an interior-point method take over.

Small problems are quick to factorise, and calls of NumPy take longer: what is not a factorisation is done for all
classes at once, each of which is a row of all arrays here. Large ones are solved class by class, in threads.

Rows of W that are not penalised put a constraint on each class, F'b = 0 with the columns F of X that they are for.
Their weights are its multipliers. They follow b, as if K had further rows with y = 0, which are always free: F is the
border of K.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import nnls

from dsofs.design.budget import DOUBLE, THREADED, Budget, for_each
from dsofs.design.linalg import Factor, factorise, with_border
from dsofs.design.types import Bools, Floats, Ints
from dsofs.solvers.qp.box_interior import box_sides

PROXIMAL = 1e-11  # of the mean diagonal of K: far above rounding, far below any curvature that matters
MAX_PROXIMAL_STEPS, STAGNANT = 12, 0.9  # the latter: a residual that falls no further than this has settled
KKT_TOL, SOLVED = 1e-10, 1e-6  # the residual aimed at, and the largest that counts as solved; in units of the margin
MAX_EXCHANGES = 15  # pivoting settles in two to ten; beyond that other methods are quicker
PATIENCE = 3  # so many exchanges in a row without fewer infeasibilities: it is going round in circles
FEW_FREE = 100  # up to such a rank of K, pivoting rarely recovers once more samples are free than that; above, mostly
SOFT, RANK_TOL = 0.1, 1e-12  # of least squares: t^2 times q'a, about; what of a diagonal is rounding
STIFF, TINY, EPS = 1e4, float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).eps)
ZERO = 1e-12  # multipliers below this, relative to the largest, are zero
NOTHING = Factor.empty()


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
    rank: int | None = None,
) -> QPSolution:
    """Solve the QP of every column of Y, starting from the multipliers B (all samples free where it is zero).

    ``F``: the columns of rows of W that are not penalised; not together with ``upper``. ``rank``: no less than that of
    K, where it may be less than the number of samples.

    LinAlgError means that floating point cannot tell the QP from one without a solution.
    """
    matrix = Matrix.of(K, F)
    Y, Q = _rows(Y, matrix.q), _rows(Q, matrix.q)
    slack, upper = (None if given is None else _rows(given, matrix.q) for given in (slack, upper))
    found = _first(matrix, Y, Q, slack, upper) if B is None else _rows(B, matrix.q).copy()
    c, m = len(Y), len(K)
    kept = Kept(c, room=matrix.K.size + Budget.block // DOUBLE)
    pending, residuals, excess = np.arange(c), np.full(c, np.inf), Q
    most_free = m
    if rank is not None and rank <= FEW_FREE and slack is None and upper is None:
        most_free = rank + matrix.q

    def solve_part(columns: Ints) -> None:
        at = slice(None) if len(columns) == c else columns
        ridge = matrix.rho if slack is None else matrix.rho + slack[at]
        target = Y[at] * (Q[at] + matrix.rho * np.abs(found[at]))
        step = ProximalStep(matrix, Y[at], target, ridge, _bounds(upper, at), found[at], most_free)
        found[at] = step.solve()
        kept.keep(columns, step.factors)

    for _ in range(MAX_PROXIMAL_STEPS):
        work = len(pending) * m**3 / 6  # at the most
        work = work if work <= THREADED else factorisations(found[pending].T)
        for_each(solve_part, [pending] if work <= THREADED else list(pending[:, None]), work)
        last, excess = residuals, _excess(matrix.K, Y, Q, found, slack)
        residuals = _violations(excess, found, upper).max(axis=1, initial=0.0)
        pending = ((residuals > KKT_TOL) & (residuals <= STAGNANT * last)).nonzero()[0]
        if not len(pending):
            break
    residual = float(residuals.max(initial=0.0))  # NaN comes through
    return QPSolution(found.T[:m], excess.T[:m], kept.factors, residual, found.T[m:])


def _rows(of_columns: Floats, q: int) -> Floats:
    """A row for each column, with zeros for the border."""
    if not q:
        return np.ascontiguousarray(of_columns.T)
    m, c = of_columns.shape
    rows = np.zeros((c, m + q))
    rows[:, :m] = of_columns.T
    return rows


def factorisations(B: Floats) -> float:
    """Multiplications of a Cholesky factorisation for each column, of the samples with a multiplier; of all if none."""
    counts = np.count_nonzero(B, axis=0)
    return float((np.where(counts, counts, len(B)) ** 3.0).sum()) / 6


def _first(matrix: Matrix, Y: Floats, Q: Floats, slack: Floats | None, upper: Floats | None) -> Floats:
    """Multipliers with all samples free, without those of the wrong sign: one factorisation for all columns.

    Zero where columns have no matrix in common.
    """
    if upper is not None or not (slack is None or (slack == slack[:1]).all()):
        return np.zeros_like(Y)
    factor = matrix.factorise(matrix.rho if slack is None else matrix.rho + slack[0])
    return np.asarray(Y * np.maximum(Y * factor.solve((Y * Q).T).T, 0.0), order="C")


class Kept:
    """The factors of all columns, while they need no more room than there is."""

    def __init__(self, n_columns: int, room: int) -> None:
        self.factors: list[Factor] | None = [NOTHING] * n_columns
        self.room, self._lock = room, Lock()

    def keep(self, columns: Ints, factors: list[Factor]) -> None:
        with self._lock:  # columns are solved in threads
            for j, factor in zip(columns, factors, strict=True):
                if self.factors is None:
                    return
                self.room -= max(factor.L.size - self.factors[j].L.size, 0)  # in whatever order columns come
                self.factors[j] = factor
                self.factors = self.factors if self.room >= 0 else None


def _bounds(upper: Floats | None, at: Ints | slice) -> Floats | None:
    """The upper bounds of some columns; None if they have none."""
    return None if upper is None or np.isinf(upper[at]).all() else upper[at]


def _excess(K: Floats, Y: Floats, Q: Floats, B: Floats, slack: Floats | None) -> Floats:
    margins = Y * (B @ K)
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
        m, q, rho = len(K), 0 if F is None else F.shape[1], PROXIMAL * float(K.trace()) / max(len(K), 1)
        K = K if F is None else with_border(K, F)
        return cls(K, q, rho, m * EPS * float(K.diagonal()[:m].max()))

    def factorise(self, ridge: Floats | float, part: Bools | None = None) -> Factor:
        return factorise(self.K, ridge, part, self.q)


class ProximalStep:
    """min 1/2 b'(K + diag(ridge)) b - target'b  over  0 <= y o b <= upper  (None: no upper bounds), for some columns.

    With a border b is followed by the multipliers of F'b = 0, where y, ridge and target are zero.
    """

    def __init__(
        self,
        matrix: Matrix,
        Y: Floats,
        target: Floats,
        ridge: Floats | float,
        upper: Floats | None,
        B: Floats,
        most_free: int,
    ) -> None:
        """``B``: where pivoting starts; ``most_free``: pivoting is given up for a column with more free samples."""
        self.matrix, self.Y, self.target, self.ridge, self.upper = matrix, Y, target, ridge, upper
        self.start, self.most_free = B, most_free + matrix.q  # which counts the border
        A = Y * B
        self.free, self.full = A > 0, None if upper is None else upper <= A
        if self.full is not None:
            self.free &= ~self.full
        self.free[~A.any(axis=1)] = True
        if matrix.q:
            self.free[:, -matrix.q :] = True
        self.B, self.factors = np.zeros_like(B), [NOTHING] * len(B)

    def solve(self) -> Floats:
        """The optima, by pivoting; ``factors`` are then those of the free samples.

        All that are on the wrong side change at once while that helps; other methods, which always end, if not.
        """
        todo, circling = list(range(len(self.B))), list[int]()
        fewest, patience = [self.B.shape[1] + 1] * len(todo), [PATIENCE] * len(todo)
        for _ in range(MAX_EXCHANGES):
            if self.most_free < self.B.shape[1]:
                counts = {j: np.count_nonzero(self.free[j]) for j in todo}
                circling += [j for j in todo if counts[j] > self.most_free]
                todo = [j for j in todo if counts[j] <= self.most_free]
            if not todo:
                break
            self._solve_free(todo)
            wrong, going = self.wrong_side(todo), list[int]()
            for k, count in enumerate(() if wrong is None else wrong.sum(axis=1).tolist()):
                j = todo[k]
                patience[j] = PATIENCE if count < fewest[j] else patience[j] - 1
                fewest[j] = min(count, fewest[j])
                if count and patience[j] >= 0:
                    going.append(k)
                elif count:
                    circling.append(j)
            todo = [todo[k] for k in going]
            if wrong is None or not todo:
                break
            self._exchange(todo, wrong[going])
        for j in circling + todo:
            self._without_pivoting(j)
        return self._within_bounds()

    def _at(self, columns: list[int]) -> list[int] | slice:
        """An index of these columns that copies nothing if they are all."""
        return slice(None) if len(columns) == len(self.B) else columns

    def _solve_free(self, columns: list[int]) -> None:
        """(K + ridge) b = target on the free samples, b = y C on the full ones, b = 0 on the others."""
        at, target = self._at(columns), self.target
        self.B[at] = 0.0
        if self.upper is not None and self.full is not None:
            full = np.zeros_like(self.full)
            full[at] = self.full[at]
            self.B[full] = (self.Y * self.upper)[full]
            target = target - self.B @ self.matrix.K
        for j in columns:
            self.factors[j] = NOTHING  # before there is another of its size
            ridge = self.ridge[j] if isinstance(self.ridge, np.ndarray) else self.ridge
            self.factors[j] = factor = self.matrix.factorise(ridge, self.free[j])
            self.B[j][factor.index] = factor.solve(target[j].take(factor.index))

    def wrong_side(self, columns: list[int]) -> Bools | None:
        """Free samples out of bounds, others whose margin is too small, or too large at C; None if there are none."""
        at = self._at(columns)
        B, Y, free = self.B[at], self.Y[at], self.free[at]
        side = B @ self.matrix.K - self.target[at]
        if self.full is not None:
            ridge = self.ridge[at] if isinstance(self.ridge, np.ndarray) else self.ridge
            side = np.where(self.full[at], -(side + ridge * B), side)
        side = np.where(free, B, side) * Y
        if self.upper is not None:
            side = np.where(free, np.minimum(side, self.upper[at] - side), side)
        if side.min() >= 0:
            return None
        size = np.abs(Y * B).max(axis=1)
        noise = np.maximum(KKT_TOL * np.abs(self.target[at]).max(axis=1), self.matrix.rounding * size)
        wrong = np.asarray(side < -np.where(free, (ZERO * size)[:, None], noise[:, None]))
        return wrong if wrong.any() else None

    def _exchange(self, columns: list[int], wrong: Bools) -> None:
        """Let samples change sides."""
        if self.full is not None:  # from free to C if it is above zero, else to zero
            above = self.free[columns] & (self.Y * self.B > 0)[columns]
            self.full[columns] = np.where(wrong, above, self.full[columns])
        self.free[columns] ^= wrong

    def _within_bounds(self) -> Floats:
        A = np.maximum(self.Y * self.B, 0.0)
        within = self.Y * (A if self.upper is None else np.minimum(A, self.upper))
        if self.matrix.q:
            within[:, -self.matrix.q :] = self.B[:, -self.matrix.q :]
        return np.asarray(within)

    def _without_pivoting(self, j: int) -> None:
        """By non-negative least squares; with upper bounds by an interior-point method."""
        bounded = self.upper is not None and not np.isinf(self.upper[j]).all()
        if bounded:
            self._within_a_box(j)
        else:
            a = self._by_least_squares(j)
            self.free[j, : len(a)] = a > 0
        self._solve_free([j])
        if not (bounded or self.matrix.q):
            self.B[j] = self.Y[j] * a

    def _within_a_box(self, j: int) -> None:
        assert self.upper is not None
        assert self.full is not None
        ridge = self.ridge[j] if isinstance(self.ridge, np.ndarray) else self.ridge
        H = self.matrix.K * np.outer(self.Y[j], self.Y[j]) + ridge * np.eye(len(self.Y[j]))
        self.free[j], self.full[j] = box_sides(H, self.Y[j] * self.target[j], self.upper[j])

    def _by_least_squares(self, j: int) -> Floats:
        """The solution of the QP without its proximal term: with its matrix R'R and any t, it is a multiple of

        a = argmin_{a >= 0}  ||R (y o a)||^2 + t^2 (q'a - 1)^2.

        R has no more rows than the matrix has rank: on a hundred samples half the time of one of full size.
        """
        m, rho = self.Y.shape[1] - self.matrix.q, self.matrix.rho
        y, F, start = self.Y[j, :m], self.matrix.K[:m, m:], np.abs(self.start[j, :m])
        H, q = self.matrix.K[:m, :m], y * self.target[j, :m] - rho * start
        if isinstance(self.ridge, np.ndarray):
            H = H + np.diag(self.ridge[j, :m] - rho)
        R = _root(H)
        # q'a of the solution, or less: with a small t few digits are lost between q'a and 1.
        size = max(float(q @ start), float(np.max(q**2 / np.maximum(H.diagonal(), TINY))), TINY)
        t = np.sqrt(SOFT / size)
        rows, rhs = [R * y, t * q[None]], np.zeros(len(R) + 1 + F.shape[1])
        rhs[len(R)] = t
        if F.size:  # heavy rows for F'b = 0, which tell what samples are free
            rows.append(STIFF * np.sqrt(np.trace(H) / max(np.vdot(F, F), TINY)) * F.T * y)
        try:
            a, _ = nnls(np.vstack(rows), rhs, maxiter=10 * m)
        except (RuntimeError, ValueError) as error:  # it did not end, or met a number that is none
            raise np.linalg.LinAlgError("non-negative least squares has no solution") from error
        curvature = float(np.sum((R @ (y * a)) ** 2))
        if a.any() and curvature == 0:
            raise np.linalg.LinAlgError("the margins cannot be met")
        return np.asarray(a * (float(q @ a) / max(curvature, TINY)))


def _root(H: Floats) -> Floats:
    """R with R'R = H, positive semidefinite, and as many rows as H has rank."""
    R, order, rank, _ = lapack.dpstrf(H, tol=RANK_TOL * float(H.diagonal().max()))
    root = np.empty((rank, len(H)))
    root[:, order - 1] = np.triu(R[:rank])
    return root
