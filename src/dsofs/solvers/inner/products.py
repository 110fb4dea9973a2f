"""Many classes with squared slack and more samples than features: Newton's method by products with X alone.

In the scaled variables V = D^{-1/2} W, Z = X D^{1/2}, each column of V minimises

    1/2 ||v||^2 + 1/2 sum_k max(0, 1 - t_k)^2 / s_k,      t = y o (Z v),      Hessian  1 + Z' diag(u) Z,

with u_k = 1 / s_k for samples inside the margin and 0 for the others. An n x n matrix for each class would need more
room than anything else in a fit. All classes share one, L L', the Hessian for the mean of u over the classes. With
Q = Z L^{-T} the Hessian of a class is

    L (1 + Q' diag(u - mean) Q) L',

and while many samples are inside the margin, what is in the brackets is so near to 1 that conjugate gradients in
float32 find a Newton step in a few iterations. Once a class has few such samples F, a system of their size is quicker:

    (1 + Z_F' diag(u) Z_F)^{-1} r  =  r - Z_F' (K_FF + s)^{-1} Z_F r,        K_FF = Z_F Z_F'.

It is solved in float32 too. Of the other samples of such a class it is enough to know that they are outside.

The ``Curvature`` of these classes is their own. For the others the mean stands for all, P_j = P, so that
sum_j diag(g_j) P diag(g_j) = P o (G G').
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from scipy.linalg import lapack

from dsofs.design.budget import DOUBLE, cuts, in_parallel
from dsofs.design.interface import Block, Design
from dsofs.design.linalg import Factor, GroupSums, factorise, like, on_host, principal, row_norms, sum_of
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.solvers.inner.features import scaled_principal
from dsofs.solvers.loop.point import Inner
from dsofs.solvers.qp.pivoting import PROXIMAL

AT_A_TIME = 64  # classes: enough for fast products, few enough for little memory
MAX_NEWTON, MAX_CG = 30, 50
# The gradient, measured by L^{-1}, is reduced to this part of what it was for the new weights, or to this part of its
# terms, which is rounding. More would be wasted: any descent from the W of before lowers the objective of the loop.
REDUCED, EXACT = 0.1, 1e-12
CG_TOL = 0.1  # of the gradient, by the conjugate gradients of one Newton step
SHORTER, SHORTEST = 0.5, 1e-3  # a step that does not lower the objective is made shorter
ROUNDING = 1e-13  # relative rise that rounding can cause
TINY = np.finfo(np.float32).tiny
# Eigenvalues of a Hessian, of which the least is 1: beyond, float32 cannot tell what is left in the brackets, or of r.
STIFF = 1e5
FEW = 40.0  # up to |F|^2 = FEW m and |F| = n a system of |F| samples takes no longer than some twenty products


class Inside(NamedTuple):
    """The samples F inside the margin of a class at its v."""

    free: Ints  # F
    A: Floats  # their multipliers
    pull: Floats  # X'(y o a)
    cost: float  # of their slack


class ManyClasses:
    """Columns of Y with squared slack, all of them by products."""

    def __init__(self, X: Design, Y: Floats, C: Floats) -> None:
        self.X, self.Y, self.C = X, Y, C
        # Of the last solve: where the next one starts.
        self.W, self.rows = np.zeros((X.n_columns, Y.shape[1])), np.empty(0, dtype=np.intp)
        self.found: list[Inside | None] = [None] * Y.shape[1]  # of classes with few samples inside the margin
        self.inside = self.C.mean(axis=1)  # mean of u over the classes

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """Starts from the W of the step before, and needs no B."""
        H = self.X.normal_matrix(self.inside)
        scaled = Scaled(X, rows, np.sqrt(d), H, self.inside)
        minimum = _Minimum(scaled, self.Y, self.C, self.W[rows], self.found)
        minimum.find(same_rows=np.array_equal(rows, self.rows))
        cost = float(minimum.cost.sum())
        if not np.isfinite(cost):
            return None
        self.W[:] = 0.0
        self.W[rows] = minimum.W
        self.rows, self.found, self.inside = rows, minimum.found, minimum.inside()
        mean = MeanCurvature(H, scaled.factor, rows, scaled.root)
        free = [None if found is None else found.free for found in self.found]
        curvature = FewCurvature(mean, scaled, rows, free, self.C)
        return Inner(minimum.W, minimum.B, minimum.G, cost, np.empty((0, self.Y.shape[1])), curvature)


class _Minimum:
    """The minimum for all classes, some of them at a time; first those with many samples inside the margin."""

    def __init__(self, scaled: Scaled, Y: Floats, C: Floats, W: Floats, found: list[Inside | None]) -> None:
        """From W; ``found``: there, None for classes with many samples inside the margin."""
        self.scaled, self.Y, self.C, self.W, self.found = scaled, Y, C, W, found.copy()
        self.B, self.G, self.cost = np.zeros_like(Y), np.empty_like(W), np.zeros(Y.shape[1])
        self.goal = np.full(Y.shape[1], np.nan)  # of the gradient, of classes that are on the way

    def find(self, *, same_rows: bool) -> None:
        """``same_rows``: as where ``found`` is from."""
        many = np.array([found is None for found in self.found])
        if many.any():
            self.scaled.prepare_products()
            self._in_parts(self._by_products, np.flatnonzero(many))
        few = np.flatnonzero(~many | ~np.isnan(self.goal))
        counts = [0 if found is None else len(found.free) for found in self.found]
        few = few[np.argsort(np.array(counts)[few])]  # so that those that are worked on together are of a size
        self._in_parts(partial(self._by_systems, same_rows=same_rows), few)

    def inside(self) -> Floats:
        """The mean of u over the classes; from what all threads have left, so that their order does not matter."""
        return np.asarray(np.einsum("ij,ij->i", self.C, self.B != 0)) / self.Y.shape[1]

    def _in_parts(self, function: Callable[[Ints], None], classes: Ints) -> None:
        # Threads of BLAS would wait for each other more than they work.
        in_parallel(function, [classes[part] for part in cuts(len(classes), AT_A_TIME)])

    def _by_products(self, classes: Ints) -> None:
        """All the way, or until few samples are inside the margin."""
        root = self.scaled.root
        many = _Many(self.scaled, self.Y[:, classes].T, self.C[:, classes].T)
        V, self.goal[classes] = many.minimise(self.W[:, classes].T / root)
        self.W[:, classes] = (root * V).T
        done = np.isnan(self.goal[classes])
        self.B[:, classes[done]] = (many.Y * many.A)[done].T
        self.G[:, classes[done]] = (many.pull[done] / root).T
        self.cost[classes[done]] = many.costs()[done]

    def _by_systems(self, classes: Ints, *, same_rows: bool) -> None:
        root = self.scaled.root
        few = _Few(self.scaled, self.Y[:, classes], self.C[:, classes], self.W[:, classes].T / root)
        few.minimise([self.found[j] for j in classes], self.goal[classes], same_rows=same_rows)
        self.W[:, classes] = (root * few.V).T
        self.G[:, classes] = np.stack([at.pull for at in few.at]).T
        for k, (j, at) in enumerate(zip(classes, few.at, strict=True)):
            F = at.free
            self.B[F, j], self.cost[j] = few.Y[F, k] * at.A, at.cost
            self.found[j] = at if is_few(len(F), self.scaled.X) else None


def is_few(count: Any, X: Design) -> Any:
    """Whether a system of so many samples is quicker than products."""
    return (count <= X.n_columns) & (count**2 <= FEW * X.n_samples)


class Scaled:
    """Products with Z = X D^{1/2} and, mostly in float32, with Q = Z L^{-T}. Each class is a row of all matrices."""

    Q: AnyArray

    def __init__(self, X: Design, rows: Ints, root: Floats, H: Floats, mean: Floats) -> None:
        """``H``: X' diag(mean) X of all rows."""
        self.X, self.root = X, root
        self.factor = factorise(scaled_principal(H, rows, root), 1.0, overwrite=True)
        self.rough: Any = np.float32 if np.square(self.factor.L.diagonal()).max() < STIFF else np.float64
        self.mean = mean.astype(self.rough)
        self.inverse = self.factor.half_solve(np.eye(len(root)))  # L^{-1}
        self.Z = _rough_product(X, root, np.float32)
        self.Z_here = on_host(self.Z)
        # Of t = z'v in float32, relative to ||v||.
        self.rounding = (len(root) + 2) * np.finfo(np.float32).eps * float(row_norms(self.Z_here).max())

    def prepare_products(self) -> None:
        self.Q = _rough_product(self.X, self.root[:, None] * self.inverse.T, self.rough)

    def sizes(self, gradients: Floats) -> Floats:
        return row_norms(gradients @ self.inverse.T)

    def dot(self, V: Floats) -> Floats:
        """V Z'."""
        return np.ascontiguousarray(self.X.dot((self.root * V).T).T)

    def tdot(self, B: Floats) -> Floats:
        """B Z."""
        return self.root * self.X.tdot(B.T).T

    def rows(self, samples: Ints) -> Floats:
        """x of these samples, an array of any shape."""
        if isinstance(self.X, Block):
            X = self.X.samples(samples.ravel()).on_host()
        else:
            distinct, places = np.unique(samples, return_inverse=True)
            X = self.X.samples(distinct).on_host().take(places.ravel(), axis=0)
        return X.reshape(*samples.shape, self.X.n_columns)

    def batches(self, counts: Ints) -> Iterator[slice]:
        """Classes with about so many samples each, of which a few at a time stay in a core's cache."""
        largest = DOUBLE * self.X.n_columns * int(counts.max(initial=1))
        return cuts(len(counts), max(1, self.X.budget.chunk // largest))

    def near(self, Y: Floats, V: Floats) -> Bools:
        """Which samples may be inside the margin: all that are, and those that rounding leaves in doubt."""
        margins = Y * on_host(self.Z @ like(self.Z, V.T.astype(np.float32)))
        outside = margins >= 1 + self.rounding * row_norms(V)
        return ~outside.T

    def systems(self, samples: Padded, C: Floats) -> tuple[Floats, Floats]:
        """Z_F and K_FF + s of some classes, mostly in float32; the padding is no part of either."""
        slack = 1 / np.where(samples.given, C, 1.0)
        Z = self.Z_here.take(samples.index, axis=0)
        K = _products(Z, samples)
        trace = K.trace(axis1=1, axis2=2)
        if not (trace < STIFF * slack.min(axis=1, initial=np.inf)).all():
            Z = self.rows(samples.index) * self.root
            K = _products(Z, samples)
        size = K.shape[-1]
        # The ridge is against rounding where s is tiny.
        K.reshape(len(K), -1)[:, :: size + 1] += slack + PROXIMAL * (trace / max(size, 1))[:, None]
        return Z, K

    def rough_dot(self, P: AnyArray) -> AnyArray:
        """P Q'."""
        return on_host(like(self.Q, P) @ self.Q.T)

    def rough_tdot(self, B: AnyArray) -> AnyArray:
        """B Q."""
        return on_host(like(self.Q, B) @ self.Q)


def _rough_product(X: Design, M: Floats, dtype: Any) -> AnyArray:
    """X M, or X diag(M), in the library of X if that is one array."""
    if isinstance(X, Block):
        Q = X.Z @ like(X.Z, M) if M.ndim == 2 else X.Z * like(X.Z, M)
        return array_namespace(Q).astype(Q, array_namespace(Q).float32) if dtype is np.float32 else Q
    Q = np.empty((X.n_samples, M.shape[-1]), dtype=dtype)
    for part in cuts(X.n_samples, X.budget.samples(X.n_columns)):
        rows = X.samples(part)
        Q[part] = rows.dot(M) if M.ndim == 2 else rows.on_host() * M
    return Q


@dataclass(frozen=True)
class Padded:
    """Samples of several classes, as many of each as of the class that has most."""

    index: Ints
    given: Bools  # the others are there to fill up

    @classmethod
    def of(cls, samples: Sequence[Ints]) -> Padded:
        counts = np.array([len(its) for its in samples], dtype=np.intp)
        return cls._filled(counts, np.concatenate(samples))

    @classmethod
    def of_mask(cls, mask: Bools) -> Padded:
        return cls._filled(np.count_nonzero(mask, axis=1), mask.nonzero()[1])

    @classmethod
    def _filled(cls, counts: Ints, samples: Ints) -> Padded:
        given = np.arange(counts.max(initial=0)) < counts[:, None]
        index = np.zeros(given.shape, dtype=np.intp)
        index[given] = samples
        return cls(index, given)


def _products(Z: Floats, samples: Padded) -> Floats:
    """Z Z' of each class, after what fills up Z has become zero."""
    Z[~samples.given] = 0.0
    return Z @ Z.transpose(0, 2, 1)


def _solve(K: Floats, rhs: Floats, Z: Floats) -> Floats:
    """Z'K^{-1} rhs of several systems; K is overwritten."""
    if not K.size:
        return np.zeros((len(Z), Z.shape[2]), dtype=Z.dtype)
    posv = lapack.sposv if K.dtype == np.float32 else lapack.dposv
    solutions = np.empty_like(rhs)
    for k, (M, b) in enumerate(zip(K, rhs, strict=True)):
        _, solutions[k], info = posv(M.T, b, overwrite_a=1)
        if info:
            raise np.linalg.LinAlgError("K + s is not positive definite in floating point")
    return np.asarray(solutions[:, None] @ Z)[:, 0]


class _Few:
    """Newton's method for classes with few samples inside the margin, of which alone all is known."""

    def __init__(self, scaled: Scaled, Y: Floats, C: Floats, V: Floats) -> None:
        self.scaled, self.Y, self.C, self.V = scaled, Y, C, V
        self.at: list[Inside] = []

    def minimise(self, known: list[Inside | None], goal: Floats, *, same_rows: bool) -> None:
        """``known``: of the last solve, on the same rows or others; None for classes that come from ``_Many``."""
        size_before = np.zeros(len(self.V)) if same_rows else self._jump(known)
        self.at = self._look(np.arange(len(self.V)), self.V, known if same_rows else None)
        gradients = self._gradients(np.arange(len(self.V)))
        size, terms = self.scaled.sizes(gradients), self.scaled.sizes(gradients + self.V)
        goal = np.where(np.isnan(goal), np.maximum(REDUCED * (size + size_before), EXACT * terms), goal)
        for _ in range(MAX_NEWTON):
            moving = np.flatnonzero(size > goal)
            if not len(moving):
                break
            moved = self._move(moving, self._steps(moving, gradients[moving]))
            gradients[moving] = self._gradients(moving)
            size[moving] = np.where(moved, self.scaled.sizes(gradients[moving]), 0.0)

    def _jump(self, known: list[Inside | None]) -> Floats:
        """To the optimum, were the samples inside the margin still those; the size of the gradient that leads there.

        That is Z_F'(K_FF + s)^{-1} y_F. Rows that leave take samples across the margin, most of which return.
        """
        V, classes = self.V.copy(), np.flatnonzero([at is not None for at in known])
        for part, samples, Z, K in self._systems(classes, [at.free for at in known if at is not None]):
            y = np.where(samples.given, self.Y[samples.index, part[:, None]], 0.0)
            self.V[part] = _solve(K, y.astype(K.dtype), Z)
        return row_norms((self.V - V) @ np.tril(self.scaled.factor.L))

    def _steps(self, classes: Ints, gradients: Floats) -> Floats:
        """Newton's, (1 + Z_F' diag(1 / s) Z_F)^{-1} r."""
        size, steps = row_norms(gradients)[:, None], []
        R = gradients / size
        for part, _, Z, K in self._systems(classes, [self.at[j].free for j in classes]):
            r = R[np.searchsorted(classes, part)]
            rhs = Z @ r[..., None].astype(Z.dtype)
            steps.append(r - _solve(K, rhs[..., 0], Z))
        return size * np.concatenate(steps)

    def _systems(self, classes: Ints, free: list[Ints]) -> Iterator[tuple[Ints, Padded, Floats, Floats]]:
        for batch in self.scaled.batches(np.array([len(F) for F in free])):
            part, samples = classes[batch], Padded.of(free[batch])
            yield part, samples, *self.scaled.systems(samples, self.C[samples.index, part[:, None]])

    def _gradients(self, classes: Ints) -> Floats:
        return self.scaled.root * np.stack([self.at[j].pull for j in classes]) - self.V[classes]

    def _look(self, classes: Ints, V: Floats, known: list[Inside | None] | None = None) -> list[Inside]:
        """What is inside the margins of these classes at V, unless it is known."""
        if known is not None and None not in known:
            return [at for at in known if at is not None]
        Y = self.Y if len(classes) == len(self.V) else self.Y.take(classes, axis=1)
        near, W = self.scaled.near(Y, V), self.scaled.root * V
        found: list[Inside] = []
        for batch in self.scaled.batches(np.count_nonzero(near, axis=1)):
            found += self._inside(classes[batch], Padded.of_mask(near[batch]), W[batch])
        return found

    def _inside(self, classes: Ints, near: Padded, W: Floats) -> Iterator[Inside]:
        X, place = self.scaled.rows(near.index), (near.index, classes[:, None])
        y = self.Y[place]
        missing = np.where(near.given, np.maximum(1 - y * (X @ W[..., None])[..., 0], 0.0), 0.0)
        A, inside = self.C[place] * missing, missing > 0
        pull, cost = ((y * A)[:, None] @ X)[:, 0], 0.5 * _dots(A, missing)
        for k, its in enumerate(inside):
            yield Inside(near.index[k, its], A[k, its], pull[k], float(cost[k]))

    def _move(self, classes: Ints, steps: Floats) -> Bools:
        """By 1, or by the first of 1/2, 1/4, ... of a step that lowers the objective; whether any did."""
        moved, length = np.zeros(len(classes), dtype=bool), 1.0
        while length > SHORTEST and not moved.all():
            left = np.flatnonzero(~moved)
            V = self.V[classes[left]] + length * steps[left]
            for k, v, at in zip(left, V, self._look(classes[left], V), strict=True):
                j = classes[k]
                now = 0.5 * self.V[j] @ self.V[j] + self.at[j].cost
                if 0.5 * v @ v + at.cost <= (1 + ROUNDING) * now:  # NaN is no descent
                    self.V[j], self.at[j], moved[k] = v, at, True
            length *= SHORTER
        return moved


class _Many:
    """Newton's method for classes with many samples inside the margin at once, each with a step length of its own."""

    def __init__(self, scaled: Scaled, Y: Floats, C: Floats) -> None:
        self.scaled, self.Y, self.C = scaled, np.ascontiguousarray(Y), C

    def minimise(self, V: Floats) -> tuple[Floats, Floats]:
        """V, and the goal of the gradient of classes that have few samples inside the margin by now, NaN for others."""
        self.T = self.Y * self.scaled.dot(V)
        self.A = self.C * np.maximum(1 - self.T, 0.0)
        self.pull = self.scaled.tdot(self.Y * self.A)
        size, terms = self.scaled.sizes(self.pull - V), self.scaled.sizes(self.pull)
        goal = np.maximum(REDUCED * size, EXACT * terms)
        for _ in range(MAX_NEWTON):
            few = is_few(np.count_nonzero(self.T < 1, axis=1), self.scaled.X)
            moving = np.flatnonzero((size > goal) & ~few)
            if not len(moving):
                break
            step, change = self._newton_steps(moving, V, np.maximum(CG_TOL * size, goal / 2)[moving])
            length = self._lengths(moving, V, step, change)
            V[moving] += length * step
            self._move(moving, length * change)
            size[moving] = np.where(length[:, 0] > 0, self.scaled.sizes(self.pull[moving] - V[moving]), 0.0)
        return V, np.where(few, goal, np.nan)

    def _move(self, moving: Ints, change: Floats) -> None:
        """Add to the margins, with the multipliers and their gradient Z'(Y o A)."""
        self.T[moving] += change
        self.A[moving] = A = self.C[moving] * np.maximum(1 - self.T[moving], 0.0)
        self.pull[moving] = self.scaled.tdot(self.Y[moving] * A)

    def costs(self) -> Floats:
        return 0.5 * _dots(self.A, np.maximum(1 - self.T, 0.0))

    def _newton_steps(self, moving: Ints, V: Floats, tol: Floats) -> tuple[Floats, Floats]:
        """Newton's steps of these classes by conjugate gradients, and how they change the margins."""
        residual = (self.pull[moving] - V[moving]) @ self.scaled.inverse.T
        size = row_norms(residual)
        R, tol = (residual / size[:, None]).astype(self.scaled.rough), tol / size
        u = np.where(self.T[moving] < 1, self.C[moving], 0.0).astype(self.scaled.rough) - self.scaled.mean
        step, change = np.zeros_like(R), np.zeros_like(u)
        going, P, square = np.arange(len(R)), R, _dots(R, R)
        for _ in range(MAX_CG):
            QP = self.scaled.rough_dot(P)
            curved = P + self.scaled.rough_tdot(u * QP)
            bend = _dots(P, curved)
            length = np.where(bend > TINY, square / np.maximum(bend, TINY), 0)[:, None]  # below it, rounding
            step[going] += length * P
            change[going] += length * QP
            R = R - length * curved
            last, square = square, _dots(R, R)
            left = np.flatnonzero(np.sqrt(square) > tol[going])
            if not len(left):
                break
            if len(left) < len(going):
                going, R, P, u, square, last = going[left], R[left], P[left], u[left], square[left], last[left]
            P = R + (square / np.maximum(last, TINY))[:, None] * P
        return size[:, None] * (step @ self.scaled.inverse), size[:, None] * (self.Y[moving] * change)

    def _lengths(self, moving: Ints, V: Floats, step: Floats, change: Floats) -> Floats:
        """1, or the first of 1/2, 1/4, ... that lowers the objective of a class; 0 if none does."""
        V, T, C, length = V[moving], self.T[moving], self.C[moving], np.ones((len(moving), 1))
        now = (1 + ROUNDING) * _objectives(V, T, C)
        while True:
            rising = ~(_objectives(V + length * step, T + length * change, C) <= now)  # NaN is no descent
            if not (rising & (length[:, 0] > 0)).any():
                return length
            length[rising] = np.where(length[rising] > SHORTEST, SHORTER * length[rising], 0.0)


def _dots(A: AnyArray, B: AnyArray) -> AnyArray:
    """Products of rows."""
    return np.einsum("ij,ij->i", A, B)


def _objectives(V: Floats, T: Floats, C: Floats) -> Floats:
    return np.asarray((np.sum(V**2, axis=1) + np.sum(C * np.maximum(1 - T, 0.0) ** 2, axis=1)) / 2)


@dataclass(frozen=True)
class MeanCurvature:
    """P = H - H (D^-1 + H)^{-1} H with the mean H over the classes."""

    H: Floats
    factor: Factor  # of 1 + D^1/2 H D^1/2
    rows: Ints
    root: Floats

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        M = self._P(rows) * (G @ G.T)
        return M if sums is None else sums.of_columns(sums.of_columns(M).T)

    def _P(self, rows: Ints) -> Floats:
        T = self.factor.half_solve((self.H.take(rows, 0).take(self.rows, 1) * self.root).T)
        return np.asarray(principal(self.H, rows) - T.T @ T)


@dataclass(frozen=True)
class FewCurvature:
    """P = Z_F'(K_FF + s)^{-1} Z_F for classes with few samples inside the margin, the mean for the others."""

    mean: MeanCurvature
    scaled: Scaled  # of the active rows
    rows: Ints
    free: list[Ints | None]  # F of each class, None for many
    C: Floats

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        few = np.array([free is not None for free in self.free])
        M = self.mean.matrix(X, rows, G[:, ~few], sums)
        parts = [np.flatnonzero(few)[part] for part in cuts(int(few.sum()), AT_A_TIME)]
        return M + sum_of(lambda part: self._of(part, X, G, sums), parts, np.inf) if parts else M

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        M = self.matrix(self.scaled.X, self.rows, U, None)
        return lambda z: np.asarray(M @ z)

    def _of(self, classes: Ints, X: Design, G: Floats, sums: GroupSums | None) -> Floats:
        """The sum over some classes, T'T with T = L^{-1} X_F diag(g), in float32 where that is enough."""
        free = [F for F in map(self.free.__getitem__, classes) if F is not None]
        T = []
        for batch in self.scaled.batches(np.array([len(F) for F in free])):
            part, samples = classes[batch], Padded.of(free[batch])
            K = self.scaled.systems(samples, self.C[samples.index, part[:, None]])[1]
            solve = lapack.strtrs if K.dtype == np.float32 else lapack.dtrtrs
            for L, F, g in zip(np.linalg.cholesky(K), free[batch], G.T[part], strict=True):
                S = X.samples(F).on_host() * g if sums is None else sums.of_design(X, F, g)
                T.append(solve(L[: len(F), : len(F)], S, lower=1)[0] if len(F) else S)
        stacked = np.concatenate(T)
        return np.asarray(stacked.T @ stacked)
