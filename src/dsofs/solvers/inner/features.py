"""Inner solves in the space of the features, for more samples than features: Newton's method on W itself.

    min_w  1/2 sum_i w_i^2 / d_i + sum_k loss(t_k),      t = y o (X w)

Squared slack, equalities and plain slack are all given by the multiplier a(t) = -loss'(t) of a sample:

    squared hinge    max(0, (1 - t) / s)                   equality    (1 - t) / s
    hinge            clip(c + (1 - t) / s, 0, ceiling)     where c follows a until both agree (a proximal point method)

Samples on the sloping part of a ("free") enter by  H = sum x x' / s  (n x n), all others only by  h = sum y a(0) x.
Neither depends on the weights d: they are carried from step to step, and only samples that change sides are added or
taken away. A step costs a product X W or two, so it is linear in the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from dsofs.design.interface import Design, chunk_samples, cuts, normal_matrix
from dsofs.design.linalg import Factor, factorise, principal
from dsofs.design.norms import GroupSums
from dsofs.design.types import Bools, Floats, Ints
from dsofs.solvers.loop.point import Inner

MAX_NEWTON = 50  # it ends after two to thirty, as soon as no sample changes sides
# A price of slack at which it does not is approached from lower ones: s is multiplied by these in turn.
SOFTENED = (1e6, 1e4, 1e2, 1.0)
STILL = 1e-13  # relative descent that is rounding
LENGTH_TOL = 1e-8  # of a step: it is where the next one starts, no more


class Loss:
    """a(t) of one class; this is the squared hinge with the slack s of each sample."""

    def __init__(self, slack: Floats) -> None:
        self.slack = slack

    def multipliers(self, t: Floats) -> Floats:
        return np.maximum((1 - t) / self.slack, 0.0)

    def free(self, t: Floats) -> Bools:
        return t < 1

    def at_zero(self, free: Bools, t: Floats) -> Floats:
        """a(0), were every sample to stay on the side where it is at t."""
        return free / self.slack

    def price(self, t: Floats) -> float:
        return 0.5 * float(np.sum(self.slack * self.multipliers(t) ** 2))


class SquareLoss(Loss):
    """Equalities with slack: every sample is always free."""

    def multipliers(self, t: Floats) -> Floats:
        return (1 - t) / self.slack

    def free(self, t: Floats) -> Bools:
        return np.ones(len(t), dtype=bool)


class Normal:
    """H of the free samples and h of all, for one class, over all columns of X."""

    def __init__(self, X: Design, y: Floats, slack: Floats, like: Normal | None = None) -> None:
        """All samples free, as at w = 0. H is that of ``like`` where slack is the same."""
        self.X, self.y, self.slack = X, y, slack
        self.free = np.ones(X.n_samples, dtype=bool)
        self.at_zero = 1 / slack
        same = like is not None and np.array_equal(like.slack, slack)
        self.H: Floats = like.H.copy() if like and same else normal_matrix(X, 1 / slack, np.arange(X.n_samples))
        self.h = X.tdot((y * self.at_zero)[:, None])[:, 0]

    def newton_point(self, rows: Ints, root: Floats) -> tuple[Floats, Factor]:
        """(D^-1 + H) w = h on the active rows, scaled by root = sqrt(d) so that small weights do no harm."""
        try:
            factor = self._factor(rows, root)
        except np.linalg.LinAlgError:  # what was taken away left too much rounding behind
            self.H = normal_matrix(self.X, 1 / self.slack, np.flatnonzero(self.free))
            factor = self._factor(rows, root)
        return root * factor.solve(root * self.h[rows]), factor

    def _factor(self, rows: Ints, root: Floats) -> Factor:
        return factorise(root[:, None] * principal(self.H, rows) * root, 1.0)

    def multiply_slack(self, factor: float) -> None:
        """Multiply s of all samples; h follows with the next move."""
        self.slack, self.H = factor * self.slack, self.H / factor

    def stays(self, free: Bools, at_zero: Floats) -> bool:
        """Whether no sample changes sides."""
        return np.array_equal(free, self.free) and np.array_equal(at_zero, self.at_zero)

    def move(self, free: Bools, at_zero: Floats) -> None:
        """Let samples change sides."""
        entering, leaving = (free > self.free).nonzero()[0], (free < self.free).nonzero()[0]
        if len(entering) + len(leaving) > np.count_nonzero(free):  # cheaper anew
            self.H, entering, leaving = np.zeros_like(self.H), free.nonzero()[0], leaving[:0]
        if len(entering):
            self.H += normal_matrix(self.X, 1 / self.slack, entering)
        if len(leaving):
            self.H -= normal_matrix(self.X, 1 / self.slack, leaving)
        change = at_zero - self.at_zero
        changed = change.nonzero()[0]
        for part in cuts(len(changed), chunk_samples(self.X.n_columns)):
            index = changed[part]
            self.h += self.X.samples(index).tdot((self.y[index] * change[index])[:, None])[:, 0]
        self.free, self.at_zero = free, at_zero


class FeatureSpace:
    """Some columns of Y, each with its loss."""

    def __init__(self, X: Design, Y: Floats, losses: list[Loss], first_newton: int = MAX_NEWTON) -> None:
        """The first solve takes at most ``first_newton`` steps: where others follow it need not be exact."""
        self.Y, self.losses, self.max_newton = Y, losses, first_newton
        self.newton_steps, self.settled = 0, False  # of the last solve
        self.normals: list[Normal] = []
        for y, loss in zip(Y.T, losses, strict=True):
            self.normals.append(Normal(X, y, loss.slack, self.normals[0] if self.normals else None))

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """Starts from the sides on which the samples were at the end of the step before, and needs no B."""
        try:
            W, T, factors = self._minimise(rows, X, d)
            if not self.settled and self.max_newton == MAX_NEWTON:
                W, T, factors = self._minimise_from_softer(rows, X, d, T)
        except np.linalg.LinAlgError:
            return None
        self.max_newton = MAX_NEWTON
        A = np.stack([loss.multipliers(t) for loss, t in zip(self.losses, T.T, strict=True)], axis=1)
        # X'B without another pass over X.
        G = np.stack([n.h[rows] - principal(n.H, rows) @ w for n, w in zip(self.normals, W.T, strict=True)], axis=1)
        price = sum(loss.price(t) for loss, t in zip(self.losses, T.T, strict=True))
        return Inner(W, self.Y * A, G, price, FeatureCurvature(self.normals, factors, rows, d))

    def _minimise(
        self, rows: Ints, X: Design, d: Floats, start: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Floats, list[Factor]]:
        """W, the margins t, and the factors of Newton's matrices; from W and t, or from the sides alone."""
        n_columns = self.Y.shape[1]
        W, T = (np.empty((len(rows), n_columns)), np.empty_like(self.Y)) if start is None else start
        root, factors, todo = np.sqrt(d), [Factor.empty()] * n_columns, list(range(n_columns))
        for step in range(self.max_newton):
            self.newton_steps = step + 1
            target = np.empty((len(rows), len(todo)))
            for k, j in enumerate(todo):
                target[:, k], factors[j] = self.normals[j].newton_point(rows, root)
            reached = self.Y[:, todo] * X.dot(target)
            unsettled = []
            for k, j in enumerate(todo):
                w, t, sides, length = target[:, k], reached[:, k], self._sides(j, reached[:, k]), 1.0
                settled = self.normals[j].stays(*sides)
                if not settled and (step > 0 or start is not None):
                    length = _length(self.losses[j], d, W[:, j], w, T[:, j], t)
                if length < 1:
                    w, t = W[:, j] + length * (w - W[:, j]), T[:, j] + length * (t - T[:, j])
                    sides = self._sides(j, t)
                W[:, j], T[:, j] = w, t
                if not settled:
                    self.normals[j].move(*sides)
                    if length > 0:
                        unsettled.append(j)
            todo = unsettled
            if not todo:
                break
        self.settled = not todo
        return W, T, factors

    def _minimise_from_softer(self, rows: Ints, X: Design, d: Floats, T: Floats) -> tuple[Floats, Floats, list[Factor]]:
        now = 1.0
        try:
            for softness in SOFTENED:
                self._multiply_all_slack(softness / now, T)
                now = softness
                W, T, factors = self._minimise(rows, X, d)
        finally:
            if now != 1:  # interrupted
                self._multiply_all_slack(1 / now, T)
        return W, T, factors

    def _multiply_all_slack(self, factor: float, T: Floats) -> None:
        for j, t in enumerate(T.T):
            self.multiply_slack(j, factor, t)

    def multiply_slack(self, j: int, factor: float, t: Floats) -> None:
        """Make the slack of a loss cheaper or dearer, the samples being on the sides that t says."""
        self.losses[j].slack = factor * self.losses[j].slack
        self.normals[j].multiply_slack(factor)
        self.normals[j].move(*self._sides(j, t))

    def _sides(self, j: int, t: Floats) -> tuple[Bools, Floats]:
        free = self.losses[j].free(t)
        return free, self.losses[j].at_zero(free, t)


def _length(loss: Loss, d: Floats, w: Floats, target: Floats, t: Floats, reached: Floats) -> float:
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
        root = np.sqrt(self.d)
        same = np.array_equal(rows, self.rows)
        for g, normal, factor in zip(G.T, self.normals, self.factors, strict=True):
            H = principal(normal.H, rows)
            across = H if same else normal.H.take(rows, 0).take(self.rows, 1)
            T = factor.half_solve((across * root).T)  # in the order that LAPACK works in
            M += g[:, None] * (H - T.T @ T) * g
        return M if sums is None else sums.of_columns(sums.of_columns(M).T)

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        """P = D^-1/2 (1 - A^-1) D^-1/2 on the active rows, A = 1 + D^1/2 H D^1/2."""
        scaled = U / np.sqrt(self.d)[:, None]

        def product(z: Floats) -> Floats:
            V = scaled * z[:, None]
            V -= np.stack([factor.solve(v) for factor, v in zip(self.factors, V.T, strict=True)], axis=1)
            return np.asarray(np.einsum("ij,ij->i", scaled, V))

        return product
