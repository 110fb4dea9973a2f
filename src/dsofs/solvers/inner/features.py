"""Inner solves in the space of the features, for more samples than features: Newton's method on W itself.

    min_w  1/2 sum_i w_i^2 / d_i + sum_k loss(t_k),      t = y o (X w)

Samples with a multiplier a(t) = -loss'(t) ("free") enter by  H = sum x x' / s  (n x n) and  h = sum y x / s.  Neither
depends on the weights d: they are carried from step to step, and only samples that change sides are added or taken
away. A step costs a product X W or two, so it is linear in the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from dsofs.design.columns import WithColumns
from dsofs.design.interface import Design
from dsofs.design.linalg import Factor, GroupSums, factorise, principal
from dsofs.design.types import Bools, Floats, Ints
from dsofs.problem import SquaredHinge
from dsofs.solvers.loop.point import Inner

MAX_NEWTON = 50  # it ends after two to thirty, as soon as no sample changes sides
# A cost of slack at which it does not is approached from lower ones: s is multiplied by these in turn.
SOFTENED = (1e6, 1e4, 1e2, 1.0)
NOT_PENALISED = 1e-13  # of its diagonal in H, for a row of infinite weight: rounding must not make H indefinite
STILL = 1e-13  # relative descent that is rounding
LENGTH_TOL = 1e-8  # of a step: it is where the next one starts, no more


def scaling(d: Floats) -> Floats:
    """sqrt(d), or 1 for rows that are not penalised."""
    return np.sqrt(np.where(np.isinf(d), 1.0, d))


class Normal:
    """H and h of the free samples, for one class, over all columns of X."""

    def __init__(self, X: Design, y: Floats, slack: Floats, H: Floats, h: Floats) -> None:
        """All samples free, as at w = 0."""
        self.X, self.y, self.slack, self.H, self.h = X, y, slack, H, h
        self.free = np.ones(X.n_samples, dtype=bool)
        self.least = NOT_PENALISED * self.H.diagonal()

    @classmethod
    def of_columns(cls, X: Design, Y: Floats, slacks: Sequence[Floats]) -> list[Normal]:
        """One for each column of Y: in one pass over X, where slack is the same for all, as it is as a rule."""
        every, normals, first = np.arange(X.n_samples), [], slacks[0]
        if all(np.array_equal(slack, first) for slack in slacks):
            H, h = X.normal_equations([(every, 1 / first, Y / first[:, None])])[0]
            return [cls(X, y, first, H.copy(), h[:, j].copy()) for j, y in enumerate(Y.T)]
        for y, slack in zip(Y.T, slacks, strict=True):
            H, h = X.normal_equations([(every, 1 / slack, (y / slack)[:, None])])[0]
            normals.append(cls(X, y, slack, H, h[:, 0]))
        return normals

    def newton_point(self, rows: Ints, d: Floats) -> tuple[Floats, Factor]:
        """(D^-1 + H) w = h on the active rows, scaled by sqrt(d) so that small weights do no harm."""
        root = scaling(d)
        try:
            factor = self._factor(rows, root, np.isinf(d))
        except np.linalg.LinAlgError:  # what was taken away left too much rounding behind
            self.H, self.h = self._sums(np.flatnonzero(self.free))[0]
            factor = self._factor(rows, root, np.isinf(d))
        return root * factor.solve(root * self.h[rows]), factor

    def _factor(self, rows: Ints, root: Floats, free: Bools) -> Factor:
        M = root[:, None] * principal(self.H, rows) * root
        return factorise(M, np.where(free, self.least[rows], 1.0) if free.any() else 1.0)

    def multiply_slack(self, factor: float) -> None:
        """Multiply s of all samples."""
        self.slack, self.H, self.h = factor * self.slack, self.H / factor, self.h / factor

    def move(self, free: Bools) -> None:
        """Let samples change sides."""
        entering, leaving = (free > self.free).nonzero()[0], (free < self.free).nonzero()[0]
        if len(entering) + len(leaving) > np.count_nonzero(free):  # cheaper anew
            self.H, self.h = self._sums(free.nonzero()[0])[0]
        else:
            (more_H, more_h), (less_H, less_h) = self._sums(entering, leaving)
            self.H += more_H
            self.H -= less_H
            self.h += more_h - less_h
        self.free = free

    def _sums(self, *samples: Ints) -> list[tuple[Floats, Floats]]:
        """sum x x' / s and sum y x / s over each set of samples."""
        u = 1 / self.slack
        sets = self.X.normal_equations([(index, u[index], (self.y * u)[index, None]) for index in samples])
        return [(H, h[:, 0]) for H, h in sets]


class FeatureSpace:
    """Some columns of Y, each with its loss."""

    def __init__(
        self, X: Design, Y: Floats, losses: Sequence[SquaredHinge], F: Floats, first_newton: int = MAX_NEWTON
    ) -> None:
        """``F``: the columns of rows that are not penalised, which are rows of infinite weight here.

        The first solve takes at most ``first_newton`` steps: where others follow it need not be exact.
        """
        self.Y, self.losses, self.F, self.max_newton = Y, losses, F, first_newton
        X = WithColumns(X, F) if F.size else X
        self.free = np.arange(X.n_columns)[X.n_columns - F.shape[1] :]
        self.settled = False  # of the last solve: whether no sample changed sides in the end
        self.normals = Normal.of_columns(X, Y, [loss.slack for loss in losses])

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """Starts from the sides on which the samples were at the end of the step before, and needs no B."""
        n_active = len(rows)
        if self.F.size:
            rows, X, d = (
                np.append(rows, self.free),
                WithColumns(X, self.F),
                np.append(d, np.full(len(self.free), np.inf)),
            )
        try:
            W, T, factors = self._minimise(rows, X, d)
            if not self.settled and self.max_newton == MAX_NEWTON:
                W, T, factors = self._minimise_from_softer(rows, X, d)
        except np.linalg.LinAlgError:
            return None
        self.max_newton = MAX_NEWTON
        A = np.stack([loss.multipliers(t) for loss, t in zip(self.losses, T.T, strict=True)], axis=1)
        # X'B without another pass over X.
        G = np.stack([n.h[rows] - principal(n.H, rows) @ w for n, w in zip(self.normals, W.T, strict=True)], axis=1)
        cost = sum(loss.cost(a) for loss, a in zip(self.losses, A.T, strict=True))
        curvature = FeatureCurvature(self.normals, factors, rows, d)
        return Inner(W[:n_active], self.Y * A, G[:n_active], cost, W[n_active:], curvature)

    def _minimise(self, rows: Ints, X: Design, d: Floats) -> tuple[Floats, Floats, list[Factor]]:
        """W, the margins t, and the factors of Newton's matrices."""
        n_columns = self.Y.shape[1]
        W, T = np.empty((len(rows), n_columns)), np.empty_like(self.Y)
        factors, todo = [Factor.empty()] * n_columns, list(range(n_columns))
        for step in range(self.max_newton):
            target = np.empty((len(rows), len(todo)))
            for k, j in enumerate(todo):
                target[:, k], factors[j] = self.normals[j].newton_point(rows, d)
            reached = self.Y[:, todo] * X.dot(target)
            unsettled = []
            for k, j in enumerate(todo):
                w, t, normal, loss = target[:, k], reached[:, k], self.normals[j], self.losses[j]
                settled, length = np.array_equal(loss.free(t), normal.free), 1.0
                if not settled and step > 0:
                    length = _length(loss, d, W[:, j], w, T[:, j], t)
                if length < 1:
                    w, t = W[:, j] + length * (w - W[:, j]), T[:, j] + length * (t - T[:, j])
                W[:, j], T[:, j] = w, t
                if not settled:
                    normal.move(loss.free(t))
                    if length > 0:
                        unsettled.append(j)
            todo = unsettled
            if not todo:
                break
        self.settled = not todo
        return W, T, factors

    def _minimise_from_softer(self, rows: Ints, X: Design, d: Floats) -> tuple[Floats, Floats, list[Factor]]:
        now = 1.0
        try:
            for softness in SOFTENED:
                self._multiply_slack(softness / now)
                now = softness
                W, T, factors = self._minimise(rows, X, d)
        finally:
            if now != 1:  # interrupted
                self._multiply_slack(1 / now)
        return W, T, factors

    def _multiply_slack(self, factor: float) -> None:
        for loss, normal in zip(self.losses, self.normals, strict=True):
            loss.slack = factor * loss.slack
            normal.multiply_slack(factor)


def _length(loss: SquaredHinge, d: Floats, w: Floats, target: Floats, t: Floats, reached: Floats) -> float:
    """The best step from w towards Newton's point, at most 1; 0 if there is nothing left to gain."""
    move, change = target - w, reached - t
    inertia, bend = float(w / d @ move), float(move / d @ move)

    def slope(length: float) -> float:
        return inertia + length * bend - float(loss.multipliers(t + length * change) @ change)

    value = float(w / d @ w) + float(np.abs(loss.multipliers(t) * (1 - t)).sum())
    if -slope(0.0) <= STILL * value:
        return 0.0
    return 1.0 if slope(1.0) <= 0 else float(brentq(slope, 0.0, 1.0, xtol=LENGTH_TOL))


@dataclass(frozen=True)
class FeatureCurvature:
    """P = X_F'(K_FF + s)^{-1} X_F of each class, which is H - H (D^-1 + H)^{-1} H."""

    normals: list[Normal]
    factors: list[Factor]
    rows: Ints
    d: Floats

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        M = np.zeros((len(rows), len(rows)))
        root = scaling(self.d)
        same = np.array_equal(rows, self.rows)
        for g, normal, factor in zip(G.T, self.normals, self.factors, strict=True):
            H = principal(normal.H, rows)
            across = H if same else normal.H.take(rows, 0).take(self.rows, 1)
            T = factor.half_solve((across * root).T)  # in the order that LAPACK works in
            M += g[:, None] * (H - T.T @ T) * g
        return M if sums is None else sums.of_columns(sums.of_columns(M).T)

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        """P = D^-1/2 (1 - A^-1) D^-1/2 on the active rows, A = 1 + D^1/2 H D^1/2."""
        n_active = len(U)
        scaled = U / np.sqrt(self.d[:n_active])[:, None]

        def product(z: Floats) -> Floats:
            V = np.zeros((len(self.d), U.shape[1]))  # rows that are not penalised have no part in z
            V[:n_active] = scaled * z[:, None]
            V -= np.stack([factor.solve(v) for factor, v in zip(self.factors, V.T, strict=True)], axis=1)
            return np.asarray(np.einsum("ij,ij->i", scaled, V[:n_active]))

        return product
