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

The ``Curvature`` is exact for these classes too. For the others the mean stands for all, P_j = P, so that
sum_j diag(g_j) P diag(g_j) = P o (G G').
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from dsofs.design.budget import cuts, in_parallel
from dsofs.design.interface import Block, Design
from dsofs.design.linalg import Factor, GroupSums, factorise, like, on_host, principal, row_norms
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.solvers.inner.features import scaled_principal
from dsofs.solvers.loop.point import Inner, SampleCurvature
from dsofs.solvers.qp.pivoting import PROXIMAL

AT_A_TIME = 128  # classes: enough for fast products, few enough for little memory
MAX_NEWTON, MAX_CG = 30, 50
# The gradient, measured by L^{-1}, is reduced to this part of what it was for the new weights, or to this part of its
# terms, which is rounding. More would be wasted: any descent from the W of before lowers the objective of the loop.
REDUCED, EXACT = 0.1, 1e-12
CG_TOL = 0.1  # of the gradient, by the conjugate gradients of one Newton step
SHORTER, SHORTEST = 0.5, 1e-3  # a step that does not lower the objective is made shorter
ROUNDING = 1e-13  # relative rise that rounding can cause
TINY = np.finfo(np.float32).tiny
STIFF = 1e5  # eigenvalues of L L', of which the least is 1: beyond, float32 cannot tell what is left in the brackets
FEW = 40.0  # up to |F|^2 = FEW m and |F| = n a system of |F| samples takes no longer than some twenty products


class ManyClasses:
    """Columns of Y with squared slack, all of them by products."""

    def __init__(self, X: Design, Y: Floats, C: Floats) -> None:
        self.X, self.Y, self.C = X, Y, C
        self.W = np.zeros((X.n_columns, Y.shape[1]))  # of the last solve: where the next one starts
        self.inside = self.C.mean(axis=1)  # mean of u over the classes

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """Starts from the W of the step before, and needs no B."""
        H = self.X.normal_matrix(self.inside)
        scaled = Scaled(X, rows, np.sqrt(d), H, self.inside)
        W, B, G = self.W[rows], np.empty_like(self.Y), np.empty((len(rows), self.Y.shape[1]))
        parts = list(cuts(self.Y.shape[1], AT_A_TIME))
        costs, inside = np.empty(len(parts)), np.empty((X.n_samples, len(parts)))
        free: list[Ints | None] = [None] * self.Y.shape[1]

        def solve_part(k: int) -> None:
            part = parts[k]
            classes = _Classes(scaled, self.Y[:, part].T, self.C[:, part].T)
            V = classes.minimise(W[:, part].T / scaled.root)
            W[:, part], B[:, part] = (scaled.root * V).T, (classes.Y * classes.A).T
            G[:, part] = (classes.pull / scaled.root).T
            costs[k], inside[:, k] = classes.cost(), classes.u().sum(axis=0)
            free[part] = [classes.few(j) for j in range(len(V))]

        in_parallel(solve_part, range(len(parts)))  # threads of BLAS would wait for each other more than they work
        cost = float(costs.sum())
        if not np.isfinite(cost):
            return None
        self.W[:] = 0.0
        self.W[rows] = W
        mean = MeanCurvature(H, scaled.factor, rows, scaled.root)
        curvature = FewCurvature(mean, X, rows, d, free, self.C)
        self.inside = inside.sum(axis=1) / self.Y.shape[1]
        return Inner(W, B, G, cost, np.empty((0, self.Y.shape[1])), curvature)


class Scaled:
    """Products with Z = X D^{1/2} and, mostly in float32, with Q = Z L^{-T}. Each class is a row of all matrices."""

    def __init__(self, X: Design, rows: Ints, root: Floats, H: Floats, mean: Floats) -> None:
        """``H``: X' diag(mean) X of all rows."""
        self.X, self.root = X, root
        self.factor = factorise(scaled_principal(H, rows, root), 1.0, overwrite=True)
        self.rough: Any = np.float32 if np.square(self.factor.L.diagonal()).max() < STIFF else np.float64
        self.mean = mean.astype(self.rough)
        self.inverse = self.factor.half_solve(np.eye(len(root)))  # L^{-1}
        self.Q = _rough_product(X, root[:, None] * self.inverse.T, self.rough)

    def dot(self, V: Floats) -> Floats:
        """V Z'."""
        return np.ascontiguousarray(self.X.dot((self.root * V).T).T)

    def tdot(self, B: Floats) -> Floats:
        """B Z."""
        return self.root * self.X.tdot(B.T).T

    def solve(self, free: Ints, slack: Floats, r: Floats) -> Floats:
        """(1 + Z_F' diag(1 / s) Z_F)^{-1} r."""
        Z = self.X.samples(free).on_host() * self.root
        return np.asarray(r - _factor(Z @ Z.T, slack).solve(Z @ r) @ Z)

    def rough_dot(self, P: AnyArray) -> AnyArray:
        """P Q'."""
        return on_host(like(self.Q, P) @ self.Q.T)

    def rough_tdot(self, B: AnyArray) -> AnyArray:
        """B Q."""
        return on_host(like(self.Q, B) @ self.Q)


def _factor(K: Floats, slack: Floats) -> Factor:
    """Of K + s, with a ridge against rounding where s is tiny."""
    return factorise(K, slack + PROXIMAL * float(np.trace(K)) / max(len(K), 1), overwrite=True)


def _rough_product(X: Design, M: Floats, rough: Any) -> AnyArray:
    """X M as it is in products, in the library of X if that is one array."""
    if isinstance(X, Block):
        Q = X.Z @ like(X.Z, M)
        return array_namespace(Q).astype(Q, array_namespace(Q).float32) if rough is np.float32 else Q
    Q = np.empty((X.n_samples, M.shape[1]), dtype=rough)
    for part in cuts(X.n_samples, X.budget.samples(X.n_columns)):
        Q[part] = X.samples(part).dot(M)
    return Q


class _Classes:
    """Newton's method for some classes at once, each with a step length of its own."""

    def __init__(self, scaled: Scaled, Y: Floats, C: Floats) -> None:
        self.scaled, self.Y, self.C = scaled, np.ascontiguousarray(Y), C

    def minimise(self, V: Floats) -> Floats:
        self.T = self.Y * self.scaled.dot(V)
        self.A = self.C * np.maximum(1 - self.T, 0.0)
        self.pull = self.scaled.tdot(self.Y * self.A)
        size, terms = self._sizes(self.pull - V), self._sizes(self.pull)
        goal = np.maximum(REDUCED * size, EXACT * terms)
        for _ in range(MAX_NEWTON):
            moving = np.flatnonzero(size > goal)
            if not len(moving):
                break
            step, change = self._newton_steps(moving, V, np.maximum(CG_TOL * size, goal / 2)[moving])
            length = self._lengths(moving, V, step, change)
            V[moving] += length * step
            self._move(moving, length * change)
            size[moving] = np.where(length[:, 0] > 0, self._sizes(self.pull[moving] - V[moving]), 0.0)
        return V

    def _move(self, moving: Ints, change: Floats) -> None:
        """Add to the margins, with the multipliers and their gradient Z'(Y o A)."""
        self.T[moving] += change
        self.A[moving] = A = self.C[moving] * np.maximum(1 - self.T[moving], 0.0)
        self.pull[moving] = self.scaled.tdot(self.Y[moving] * A)

    def u(self) -> Floats:
        """C of the samples inside the margin."""
        return np.where(self.T < 1, self.C, 0.0)

    def cost(self) -> float:
        return 0.5 * float(np.sum(self.A * np.maximum(1 - self.T, 0.0)))

    def _sizes(self, gradients: Floats) -> Floats:
        return row_norms(gradients @ self.scaled.inverse.T)

    def few(self, j: int) -> Ints | None:
        """The samples inside the margin of class j, if they are few."""
        free = np.flatnonzero(self.T[j] < 1)
        m, n = len(self.T[j]), len(self.scaled.root)
        return free if len(free) <= n and len(free) ** 2 <= FEW * m else None

    def _newton_steps(self, moving: Ints, V: Floats, tol: Floats) -> tuple[Floats, Floats]:
        """Newton's steps of these classes, and how they change the margins."""
        step, change = np.empty((len(moving), V.shape[1])), np.empty((len(moving), self.T.shape[1]))
        by_products = np.ones(len(moving), dtype=bool)
        for k, j in enumerate(moving):
            free = self.few(j)
            if free is not None:
                by_products[k] = False
                step[k] = self.scaled.solve(free, 1 / self.C[j, free], self.pull[j] - V[j])
        direct, rough = np.flatnonzero(~by_products), np.flatnonzero(by_products)
        if len(direct):
            change[direct] = self.Y[moving[direct]] * self.scaled.dot(step[direct])
        if len(rough):
            step[rough], change[rough] = self._by_products(moving[rough], V, tol[rough])
        return step, change

    def _by_products(self, moving: Ints, V: Floats, tol: Floats) -> tuple[Floats, Floats]:
        """The same by conjugate gradients."""
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
    X: Design  # of the active rows
    rows: Ints
    d: Floats
    free: list[Ints | None]  # F of each class, None for many
    C: Floats

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        few = [j for j, free in enumerate(self.free) if free is not None]
        parts, others = list(cuts(len(few), AT_A_TIME)), np.delete(np.arange(len(self.free)), few)
        M, lock = self.mean.matrix(X, rows, G[:, others], sums), Lock()

        def add(part: slice) -> None:
            classes = few[part]
            its = SampleCurvature(self.X, [self._factor(j) for j in classes]).matrix(X, rows, G[:, classes], sums)
            with lock:
                np.add(M, its, out=M)

        in_parallel(add, parts)
        return M

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        M = self.matrix(self.X, self.rows, U, None)
        return lambda z: np.asarray(M @ z)

    def _factor(self, j: int) -> Factor:
        free = self.free[j]
        assert free is not None
        return replace(_factor(self.X.samples(free).gram(self.d), 1 / self.C[free, j]), index=free)
