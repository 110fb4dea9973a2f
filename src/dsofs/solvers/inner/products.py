"""Many classes with squared slack and more samples than features: Newton's method by products with X alone.

In the scaled variables V = D^{-1/2} W, Z = X D^{1/2}, each column of V minimises

    1/2 ||v||^2 + 1/2 sum_k max(0, 1 - t_k)^2 / s_k,      t = y o (Z v),      Hessian  1 + Z' diag(u) Z,

with u_k = 1 / s_k for samples inside the margin and 0 for the others. An n x n matrix for each class would need more
room than anything else in a fit. Here conjugate gradients solve for many classes at once. All share a preconditioner,
the Hessian for the mean of u over the classes.

The same mean stands for all classes in the ``Curvature``: P_j = P, so that sum_j diag(g_j) P diag(g_j) = P o (G G').
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsofs.design.budget import cuts, in_parallel
from dsofs.design.interface import Design
from dsofs.design.linalg import Factor, GroupSums, factorise, principal
from dsofs.design.types import Floats, Ints
from dsofs.solvers.loop.point import Inner

AT_A_TIME = 128  # classes: enough for fast products, few enough for little memory
MAX_NEWTON, MAX_CG = 30, 50
# The gradient is reduced to this part of what it was for the new weights, or to this part of that at W = 0, which is
# rounding. More would be wasted: any descent from the W of before lowers the objective of the loop.
REDUCED, EXACT = 0.03, 1e-12
CG_TOL = 0.1  # of the gradient, by the conjugate gradients of one Newton step
SHORTER, SHORTEST = 0.5, 1e-3  # a step that does not lower the objective is made shorter
ROUNDING = 1e-13  # relative rise that rounding can cause
TINY = np.finfo(np.float64).tiny


class ManyClasses:
    """Columns of Y with squared slack, all of them by products."""

    def __init__(self, X: Design, Y: Floats, C: Floats) -> None:
        self.X, self.Y, self.C = X, Y, C
        self.W = np.zeros((X.n_columns, Y.shape[1]))  # of the last solve: where the next one starts
        self.inside = self.C.mean(axis=1)  # mean of u over the classes

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """Starts from the W of the step before, and needs no B."""
        root = np.sqrt(d)
        H = self.X.normal_matrix(self.inside)
        factor = factorise(root[:, None] * principal(H, rows) * root, 1.0)
        V, A, G = self.W[rows] / root[:, None], np.empty_like(self.Y), np.empty((len(rows), self.Y.shape[1]))
        parts = list(cuts(self.Y.shape[1], AT_A_TIME))
        costs, inside = np.empty(len(parts)), np.empty((X.n_samples, len(parts)))

        def solve_part(k: int) -> None:
            part = parts[k]
            classes = _Classes(X, root, factor, self.Y[:, part], self.C[:, part])
            V[:, part] = classes.minimise(V[:, part])
            A[:, part], G[:, part] = classes.A, classes.gradient_of_loss() / root[:, None]
            costs[k], inside[:, k] = classes.cost(), classes.u().sum(axis=1)

        in_parallel(solve_part, range(len(parts)))  # threads of BLAS would wait for each other more than they work
        cost = float(costs.sum())
        if not np.isfinite(cost):
            return None
        self.W[:] = 0.0
        self.W[rows] = W = root[:, None] * V
        curvature = MeanCurvature(H, factor, rows, root)
        self.inside = inside.sum(axis=1) / self.Y.shape[1]
        return Inner(W, self.Y * A, G, cost, np.empty((0, self.Y.shape[1])), curvature)


class _Classes:
    """Newton's method for some classes at once, each with a step length of its own."""

    def __init__(self, X: Design, root: Floats, factor: Factor, Y: Floats, C: Floats) -> None:
        self.X, self.root, self.factor, self.Y, self.C = X, root[:, None], factor, Y, C

    def minimise(self, V: Floats) -> Floats:
        self.move(np.zeros_like(self.Y))
        at_zero = np.linalg.norm(self.gradient_of_loss(), axis=0)
        self.move(self.Y * self._dot(V))
        residual = self.gradient_of_loss() - V
        goal = np.maximum(REDUCED * np.linalg.norm(residual, axis=0), EXACT * at_zero)
        for _ in range(MAX_NEWTON):
            size = np.linalg.norm(residual, axis=0)
            if (size <= goal).all():
                break
            step, change = self._newton_step(residual, np.maximum(CG_TOL * size, goal / 2))
            length = self._lengths(V, step, change, moving=size > goal)
            if not length.any():
                break
            V = V + length * step
            self.move(self.T + length * change)
            residual = self.gradient_of_loss() - V
        return V

    def move(self, T: Floats) -> None:
        """To the margins T, and the multipliers that belong to them."""
        self.T, self.A = T, self.C * np.maximum(1 - T, 0.0)

    def u(self) -> Floats:
        """C of the samples inside the margin."""
        return np.where(self.T < 1, self.C, 0.0)

    def gradient_of_loss(self) -> Floats:
        """Z'(Y o A)."""
        return self.root * self.X.tdot(self.Y * self.A)

    def cost(self) -> float:
        return 0.5 * float(np.sum(self.A * np.maximum(1 - self.T, 0.0)))

    def _dot(self, V: Floats) -> Floats:
        return self.X.dot(self.root * V)

    def _newton_step(self, residual: Floats, tol: Floats) -> tuple[Floats, Floats]:
        """(1 + Z' diag(u) Z)^{-1} residual by conjugate gradients, and how it changes the margins."""
        step, change, u = np.zeros_like(residual), np.zeros_like(self.T), self.u()
        P = preconditioned = self.factor.solve(residual)
        product = np.sum(residual * preconditioned, axis=0)
        for _ in range(MAX_CG):
            ZP = self._dot(P)
            curved = P + self.root * self.X.tdot(u * ZP)
            length = product / np.maximum(np.sum(P * curved, axis=0), TINY)
            step, change = step + length * P, change + length * ZP
            residual = residual - length * curved
            if (np.linalg.norm(residual, axis=0) <= tol).all():
                break
            preconditioned, last = self.factor.solve(residual), product
            product = np.sum(residual * preconditioned, axis=0)
            P = preconditioned + product / np.maximum(last, TINY) * P
        return step, self.Y * change

    def _lengths(self, V: Floats, step: Floats, change: Floats, moving: Floats) -> Floats:
        """1, or the first of 1/2, 1/4, ... that lowers the objective; 0 for classes that are not ``moving``."""
        now, length = (1 + ROUNDING) * self._objectives(V, self.T), moving.astype(np.float64)
        while True:
            rising = self._objectives(V + length * step, self.T + length * change) > now
            if not (rising & (length > 0)).any():
                return length
            length[rising] = np.where(length[rising] > SHORTEST, SHORTER * length[rising], 0.0)

    def _objectives(self, V: Floats, T: Floats) -> Floats:
        return np.asarray((np.sum(V**2, axis=0) + np.sum(self.C * np.maximum(1 - T, 0.0) ** 2, axis=0)) / 2)


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

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        M = self._P(self.rows) * (U @ U.T)
        return lambda z: np.asarray(M @ z)

    def _P(self, rows: Ints) -> Floats:
        T = self.factor.half_solve((self.H.take(rows, 0).take(self.rows, 1) * self.root).T)
        return np.asarray(principal(self.H, rows) - T.T @ T)
