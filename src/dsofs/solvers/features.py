"""Inner step with squared slack for more samples than features: Newton's method on W itself.

    min_w  1/2 sum_i w_i^2 / d_i + 1/2 sum_k max(0, 1 - t_k)^2 / s_k,      t = y o (X w)

The samples inside the margin, t < 1, enter only by H = sum x x' / s (n x n) and h = sum y x / s, which do not depend
on the weights d. So they are carried from step to step, and only samples that cross the margin are added or taken
away. A step costs a product X W or two: it is linear in the number of samples. (For equalities all samples count, and
H never changes.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from dsofs.arrays.design import THREADED_PRODUCT, Design, chunk_samples, cuts
from dsofs.arrays.linalg import Factor, factorise
from dsofs.arrays.threads import all_threads
from dsofs.arrays.types import Bools, Floats, Ints
from dsofs.solvers.point import Inner

MAX_NEWTON = 100  # it ends after two to thirty, as soon as no sample crosses the margin
STILL = 1e-13  # relative descent that is rounding
BISECTIONS = 40


@dataclass
class Normal:
    """H and h of the samples ``inside`` the margin of one class, over all columns of X."""

    H: Floats
    h: Floats
    inside: Bools

    def move(self, X: Design, y: Floats, slack: Floats, inside: Bools) -> None:
        """Let samples in and out."""
        entering, leaving = np.flatnonzero(inside & ~self.inside), np.flatnonzero(self.inside & ~inside)
        if len(entering) + len(leaving) > np.count_nonzero(inside):
            self.H, self.h = np.zeros_like(self.H), np.zeros_like(self.h)  # cheaper anew
            entering, leaving = np.flatnonzero(inside), leaving[:0]
        for sign, samples in ((1.0, entering), (-1.0, leaving)):
            self.H += sign * normal_matrix(X, 1 / slack, samples)
            for part in cuts(len(samples), chunk_samples(X.n_columns)):
                index = samples[part]
                self.h += sign * (X.samples(index).tdot(y[index] / slack[index]))
        self.inside = inside


def normal_matrix(X: Design, weights: Floats, samples: Ints) -> Floats:
    """Sum of w x x' over ``samples``."""
    H = np.zeros((X.n_columns, X.n_columns))
    big = len(samples) * X.n_columns**2 > THREADED_PRODUCT
    with all_threads() if big else nullcontext():
        for part in cuts(len(samples), chunk_samples(X.n_columns)):
            index = samples[part]
            Z = X.samples(index).Z * np.sqrt(weights[index])[:, None]
            H += Z.T @ Z  # recognised by BLAS as a symmetric product
    return H


class FeatureSpace:
    """Some columns of Y, all with squared slack, solved for W by Newton's method."""

    def __init__(
        self, X: Design, Y: Floats, slack: Floats, *, hinge: bool = True, max_newton: int = MAX_NEWTON
    ) -> None:
        self.X, self.Y, self.slack, self.hinge, self.max_newton = X, Y, slack, hinge, max_newton
        h = X.tdot(Y / slack)
        everybody = np.arange(X.n_samples)
        self.normals: list[Normal] = []
        for j in range(Y.shape[1]):
            if j and np.array_equal(slack[:, j], slack[:, 0]):
                H = self.normals[0].H.copy()
            else:
                H = normal_matrix(X, 1 / slack[:, j], everybody)
            self.normals.append(Normal(H, h[:, j].copy(), np.ones(X.n_samples, dtype=bool)))

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner:
        """Starts from the samples that were inside the margin at the end of the step before, and needs no B."""
        W, T = np.empty((len(rows), self.Y.shape[1])), np.empty_like(self.Y)
        factors = [Factor.empty()] * self.Y.shape[1]
        todo = list(range(self.Y.shape[1]))
        for step in range(self.max_newton):
            target = np.empty((len(rows), len(todo)))
            for k, j in enumerate(todo):
                target[:, k], factors[j] = _newton_point(self.normals[j], rows, d)
            reached = self.Y[:, todo] * X.dot(target)
            unsettled = []
            for k, j in enumerate(todo):
                settled = np.array_equal(self._inside(reached[:, k]), self.normals[j].inside)
                length = 1.0
                if step > 0 and not settled:
                    length = self._length(j, d, W[:, j], target[:, k], T[:, j], reached[:, k])
                W[:, j] = target[:, k] if length == 1 else W[:, j] + length * (target[:, k] - W[:, j])
                T[:, j] = reached[:, k] if length == 1 else T[:, j] + length * (reached[:, k] - T[:, j])
                if not settled:
                    self.normals[j].move(self.X, self.Y[:, j], self.slack[:, j], self._inside(T[:, j]))
                    if length > 0:
                        unsettled.append(j)
            todo = unsettled
            if not todo:
                break
        B = self.Y * self._violation(T) / self.slack
        # X'B without another pass over X: only samples inside the margin have multipliers.
        G = np.stack([(n.h[rows] - n.H[rows][:, rows] @ w) for n, w in zip(self.normals, W.T, strict=True)], axis=1)
        price = 0.5 * float(np.sum(self.slack * B**2))
        return Inner(W, B, G, price, FeatureCurvature(self.normals, factors, rows, d))

    def _inside(self, margins: Floats) -> Bools:
        return margins < 1 if self.hinge else np.ones(len(margins), dtype=bool)

    def _violation(self, margins: Floats) -> Floats:
        return np.maximum(1 - margins, 0.0) if self.hinge else 1 - margins

    def _length(self, j: int, d: Floats, w: Floats, target: Floats, t: Floats, reached: Floats) -> float:
        """The best step from w towards Newton's point, at most 1; 0 if there is nothing left to gain."""
        move, change, slack = target - w, reached - t, self.slack[:, j]
        inertia, bend = float(np.sum(w * move / d)), float(np.sum(move**2 / d))

        def slope(length: float) -> float:
            return inertia + length * bend - float(np.sum(self._violation(t + length * change) * change / slack))

        value = float(np.sum(w**2 / d)) + float(np.sum(self._violation(t) ** 2 / slack))
        if -slope(0.0) <= STILL * value:
            return 0.0
        if slope(1.0) <= 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if slope(middle) > 0 else (middle, high)
        return (low + high) / 2


def _newton_point(normal: Normal, rows: Ints, d: Floats) -> tuple[Floats, Factor]:
    """(D^-1 + H) w = h on the active rows, scaled by sqrt(d) so that small weights do no harm."""
    root = np.sqrt(d)
    factor = factorise(root[:, None] * normal.H[np.ix_(rows, rows)] * root, 1.0)
    return root * factor.solve(root * normal.h[rows]), factor


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
