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

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dsofs.arrays.design import Design, chunk_samples, cuts, normal_matrix
from dsofs.arrays.linalg import Factor, factorise
from dsofs.arrays.types import Bools, Floats, Ints
from dsofs.solvers.point import Inner

MAX_NEWTON = 100  # it ends after two to thirty, as soon as no sample changes sides
STILL = 1e-13  # relative descent that is rounding
BISECTIONS = 40


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
        return np.where(free, 1 / self.slack, 0.0)

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

    def newton_point(self, rows: Ints, d: Floats) -> tuple[Floats, Factor]:
        """(D^-1 + H) w = h on the active rows, scaled by sqrt(d) so that small weights do no harm."""
        root = np.sqrt(d)
        try:
            factor = factorise(root[:, None] * self.H[np.ix_(rows, rows)] * root, 1.0)
        except np.linalg.LinAlgError:  # what was taken away left too much rounding behind
            self.H = normal_matrix(self.X, 1 / self.slack, np.flatnonzero(self.free))
            factor = factorise(root[:, None] * self.H[np.ix_(rows, rows)] * root, 1.0)
        return root * factor.solve(root * self.h[rows]), factor

    def harden(self, factor: float) -> None:
        """Multiply s of all samples; h follows with the next move."""
        self.slack, self.H = factor * self.slack, self.H / factor

    def stays(self, free: Bools, at_zero: Floats) -> bool:
        """Whether no sample changes sides."""
        return np.array_equal(free, self.free) and np.array_equal(at_zero, self.at_zero)

    def move(self, free: Bools, at_zero: Floats) -> None:
        """Let samples change sides."""
        change = at_zero - self.at_zero
        entering, leaving = np.flatnonzero(free & ~self.free), np.flatnonzero(self.free & ~free)
        if len(entering) + len(leaving) > np.count_nonzero(free):  # cheaper anew
            self.H, entering, leaving = np.zeros_like(self.H), np.flatnonzero(free), leaving[:0]
        self.H += normal_matrix(self.X, 1 / self.slack, entering)
        self.H -= normal_matrix(self.X, 1 / self.slack, leaving)
        changed = np.flatnonzero(change)
        for part in cuts(len(changed), chunk_samples(self.X.n_columns)):
            index = changed[part]
            self.h += self.X.samples(index).tdot(self.y[index] * change[index])
        self.free, self.at_zero = free, at_zero


class FeatureSpace:
    """Some columns of Y, each with its loss."""

    def __init__(self, X: Design, Y: Floats, losses: list[Loss], max_newton: int = MAX_NEWTON) -> None:
        self.Y, self.losses, self.max_newton = Y, losses, max_newton
        self.newton_steps = 0  # of the last solve
        self.normals: list[Normal] = []
        for y, loss in zip(Y.T, losses, strict=True):
            self.normals.append(Normal(X, y, loss.slack, self.normals[0] if self.normals else None))

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner:
        """Starts from the sides on which the samples were at the end of the step before, and needs no B."""
        W, T, factors = self._minimise(rows, X, d)
        A = np.stack([loss.multipliers(t) for loss, t in zip(self.losses, T.T, strict=True)], axis=1)
        # X'B without another pass over X.
        G = np.stack([n.h[rows] - n.H[np.ix_(rows, rows)] @ w for n, w in zip(self.normals, W.T, strict=True)], axis=1)
        price = sum(loss.price(t) for loss, t in zip(self.losses, T.T, strict=True))
        return Inner(W, self.Y * A, G, price, FeatureCurvature(self.normals, factors, rows, d))

    def _minimise(
        self, rows: Ints, X: Design, d: Floats, start: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Floats, list[Factor]]:
        """W, the margins t, and the factors of Newton's matrices; from W and t, or from the sides alone."""
        n_columns = self.Y.shape[1]
        W, T = (np.empty((len(rows), n_columns)), np.empty_like(self.Y)) if start is None else start
        factors, todo = [Factor.empty()] * n_columns, list(range(n_columns))
        for step in range(self.max_newton):
            self.newton_steps = step + 1
            target = np.empty((len(rows), len(todo)))
            for k, j in enumerate(todo):
                target[:, k], factors[j] = self.normals[j].newton_point(rows, d)
            reached = self.Y[:, todo] * X.dot(target)
            unsettled = []
            for k, j in enumerate(todo):
                length = 1.0
                settled = self.normals[j].stays(*self._sides(j, reached[:, k]))
                if not settled and (step > 0 or start is not None):
                    length = _length(self.losses[j], d, W[:, j], target[:, k], T[:, j], reached[:, k])
                W[:, j] = _between(W[:, j], target[:, k], length)
                T[:, j] = _between(T[:, j], reached[:, k], length)
                self.normals[j].move(*self._sides(j, T[:, j]))
                if not settled and length > 0:
                    unsettled.append(j)
            todo = unsettled
            if not todo:
                break
        return W, T, factors

    def _sides(self, j: int, t: Floats) -> tuple[Bools, Floats]:
        free = self.losses[j].free(t)
        return free, self.losses[j].at_zero(free, t)


def _between(start: Floats, end: Floats, length: float) -> Floats:
    return end if length == 1 else start + length * (end - start)  # start holds nothing yet before the first step


def _length(loss: Loss, d: Floats, w: Floats, target: Floats, t: Floats, reached: Floats) -> float:
    """The best step from w towards Newton's point, at most 1; 0 if there is nothing left to gain."""
    move, change = target - w, reached - t
    inertia, bend = float(np.sum(w * move / d)), float(np.sum(move**2 / d))

    def slope(length: float) -> float:
        return inertia + length * bend - float(np.sum(loss.multipliers(t + length * change) * change))

    value = float(np.sum(w**2 / d)) + float(np.sum(np.abs(loss.multipliers(t) * (1 - t))))
    if -slope(0.0) <= STILL * value:
        return 0.0
    if slope(1.0) <= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return (low + high) / 2


@dataclass(frozen=True)
class FeatureCurvature:
    """P = X_F'(K_FF + s)^{-1} X_F of each class, which is H - H (D^-1 + H)^{-1} H."""

    normals: list[Normal]
    factors: list[Factor]
    rows: Ints
    d: Floats

    def matrices(self, X: Design, rows: Ints, G: Floats) -> Iterator[Floats]:
        root = np.sqrt(self.d)[:, None]
        for j, (normal, factor) in enumerate(zip(self.normals, self.factors, strict=True)):
            T = factor.half_solve(root * normal.H[np.ix_(self.rows, rows)])
            yield np.outer(G[:, j], G[:, j]) * (normal.H[np.ix_(rows, rows)] - T.T @ T)

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        """P = D^-1/2 (1 - A^-1) D^-1/2 on the active rows, A = 1 + D^1/2 H D^1/2."""
        scaled = U / np.sqrt(self.d)[:, None]

        def product(z: Floats) -> Floats:
            V = scaled * z[:, None]
            V -= np.stack([factor.solve(v) for factor, v in zip(self.factors, V.T, strict=True)], axis=1)
            return np.asarray(np.einsum("ij,ij->i", scaled, V))

        return product
