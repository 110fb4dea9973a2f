"""Squared slack, all classes at once: near the inner optimum, by Newton's method with conjugate gradients.

In the scaled variables v = D^{-1/2} w each class minimises, with Z = X D^{1/2},

    1/2 ||v||^2 + 1/2 sum_k max(0, 1 - t_k)^2 / s_k,      t = y o (Z v),      Hessian  1 + Z' diag(u) Z,

where u_k = 1 / s_k for samples inside the margin and 0 for the others. A factor of the Hessian for each class, anew
whenever samples change sides, takes most of the time of an exact solution. Here a few conjugate gradients in float32
are enough: products with Z or, of many classes for the number of samples, with Z Z'. In the space of the features all
classes share one factor as their preconditioner, that for a mean of u, where it saves more than it takes. It serves the
plain steps at the start of a loop, which need neither an exact solution nor a ``Curvature``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dsofs.design.budget import DOUBLE
from dsofs.design.interface import Block, Design
from dsofs.design.linalg import factorise, places_in
from dsofs.design.types import Floats, Ints
from dsofs.problem import SquaredHinge
from dsofs.solvers.inner.features import scaled_principal
from dsofs.solvers.loop.point import Inner
from dsofs.solvers.qp.pivoting import factorisations

# Newton steps of the first solves, the very first of which has all samples inside the margin, and of the others; in the
# space of the samples, where a solve does not start from the W of before, up to the last.
FIRST_NEWTON, NEWTON, MAX_NEWTON = (1, 2, 2), 1, 5
MAX_CG = 50
# Of the gradient, measured by the preconditioner. Which rows stay, and so which local optimum is reached, depends on
# the first step most.
FIRST_TOL, TOL = 0.005, 0.1
SETTLED = 0.002  # of the samples that may still change sides
SHORTER, SHORTEST = 0.5, 1e-3  # a step that does not lower the objective is made shorter
# Products with X in the first solve and in others, and with Z Z'; a preconditioner saves so many.
FIRST_PRODUCTS, PRODUCTS, GRAM_PRODUCTS, SAVED = 48, 32, 40, 16
# Reading X for a product takes as long as multiplying it by so many columns: a block, or an X that is standardised anew
# each time.
READING, PREPARING = 3, 32
FEW_COORDINATES = 8  # numbers in so many arrays of W's size, as conjugate gradients hold, take no more than a block
TINY = np.finfo(np.float64).tiny


class Space(Protocol):
    """How v is held: by coordinates x, a column for each class."""

    def margins(self, x: Floats) -> Floats:
        """Z v."""

    def pull(self, B: Floats) -> Floats:
        """The coordinates of Z'B."""

    def precondition(self, x: Floats) -> Floats:
        """The coordinates of what the inverse of the shared Hessian makes of v; x itself without one."""

    def products(self, x: Floats, other: Floats, margins: Floats) -> Floats:
        """v'v of each class, given the margins of the other."""

    def weights(self, x: Floats) -> Floats:
        """W = D^{1/2} v."""


class ByFeatures:
    """x = v."""

    def __init__(self, X: Design, root: Floats, hessian: Floats | None) -> None:
        """``root``: D^{1/2}, a column; ``hessian``: 1 less than the shared one, or None."""
        self.X, self.root = X, root
        self.factor = None if hessian is None else factorise(hessian, 1.0, overwrite=True)

    def margins(self, x: Floats) -> Floats:
        return self.X.dot(self.root * x)

    def pull(self, B: Floats) -> Floats:
        return self.root * self.X.tdot(B)

    def precondition(self, x: Floats) -> Floats:
        return x if self.factor is None else self.factor.solve(x)

    def products(self, x: Floats, other: Floats, margins: Floats) -> Floats:
        return _products(x, other)

    def weights(self, x: Floats) -> Floats:
        return self.root * x


class BySamples:
    """v = Z'x, so that v'v = x'Kx for K = Z Z'."""

    def __init__(self, X: Design, d: Floats) -> None:
        self.X, self.d, self.K = X, d[:, None], X.gram(d)

    def margins(self, x: Floats) -> Floats:
        return np.asarray(self.K @ x.astype(self.K.dtype))

    def pull(self, B: Floats) -> Floats:
        return B

    def precondition(self, x: Floats) -> Floats:
        return x

    def products(self, x: Floats, other: Floats, margins: Floats) -> Floats:
        return _products(x, margins)

    def weights(self, x: Floats) -> Floats:
        return self.d * self.X.tdot(x)


def near_optimum(W: Floats, X: Design, Y: Floats, loss: SquaredHinge) -> Inner:
    """What an inner step returns for any W, which need not be its optimum."""
    A = loss.multipliers(Y * X.dot(W))
    return Inner(W, Y * A, X.tdot(Y * A), loss.cost(A), np.empty((0, Y.shape[1])), exact=False)


class NearOptimum:
    """Solves for all columns of Y that share what does not depend on the weights."""

    def __init__(self, X: Design, Y: Floats, loss: SquaredHinge) -> None:
        self.Y, self.loss, self.first = Y, loss, list(FIRST_NEWTON)
        self.W = np.zeros((X.n_columns, Y.shape[1]), dtype=np.float32)  # of the last solve
        self.rows, self.H = np.empty(0, dtype=np.intp), np.empty((0, 0))  # H of these rows, see ``_hessian``

    def suits(self, X: Design, B: Floats | None) -> bool:
        """Whether it takes less time than factors of the samples inside the margin of each class, two as a rule."""
        (m, c), size = self.Y.shape, X.n_stored
        if X.n_columns < m:
            return True
        if FEW_COORDINATES * DOUBLE * X.n_columns * c > X.budget.block:
            return False
        if B is None:  # all samples are inside the margin: one factor for all classes
            return FIRST_PRODUCTS * self._product(X) <= size * m / 2 + m**3 / 6
        return self._fewest(X)[0] <= size * m / 2 + 2 * factorisations(B)

    def _fewest(self, X: Design) -> tuple[float, bool]:
        """About the multiplications of a solve, and whether they are those with X and not with Z Z'."""
        (m, c), size = self.Y.shape, X.n_stored
        work = PRODUCTS * self._product(X), size * m / 2 + GRAM_PRODUCTS * m**2 * c
        return min(work), X.n_columns < m or work[0] <= work[1]

    def _product(self, X: Design) -> float:
        """About the multiplications that a product with X for all classes takes as long as."""
        return X.n_stored * (self.Y.shape[1] + (READING if isinstance(X, Block) else PREPARING))

    def start(self, rows: Ints, W: Floats) -> None:
        """Go on from there, and from nothing else."""
        self.W[:] = 0.0
        self.W[rows] = W

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner:
        """From W of the last solve, or its multipliers B."""
        rough, most = X.rough(), self.first.pop(0) if self.first else NEWTON
        space: Space
        if B is None or self._fewest(X)[1]:
            root = np.sqrt(d)[:, None]
            space = ByFeatures(rough, root, self._hessian(rows, rough, root[:, 0], B))
            x = self.W[rows] / root  # any descent from there lowers the objective of the loop
        else:
            space, x, most = BySamples(rough, d), B, MAX_NEWTON
        W = space.weights(_Newton(space, self.Y, self.loss, FIRST_TOL if B is None else TOL).minimise(x, most))
        if not np.isfinite(W).all():
            raise np.linalg.LinAlgError("X is too large or too small for float32")
        self.start(rows, W)
        return near_optimum(W, X, self.Y, self.loss)

    def _hessian(self, rows: Ints, X: Design, root: Floats, B: Floats | None) -> Floats | None:
        """D^{1/2} X' diag(u) X D^{1/2} for a mean of u, where a preconditioner saves time.

        In the first solve, with all samples inside the margin, it is the Hessian itself of all classes.
        """
        r, held = len(rows), places_in(self.rows, rows)
        work = r**3 / 6 + (X.n_stored * r / 2 if held is None else 0)
        if work > (FIRST_PRODUCTS if B is None else SAVED) * self._product(X):
            return None
        if held is None:
            slack = np.broadcast_to(self.loss.slack, self.Y.shape).mean(axis=1)
            self.rows, self.H, held = rows, X.normal_matrix(1 / slack), np.arange(r)
        M = scaled_principal(self.H, held, root.astype(self.H.dtype))
        M *= 1.0 if B is None else float(np.mean(B != 0))
        return M


class _Newton:
    """All columns of Y at once."""

    def __init__(self, space: Space, Y: Floats, loss: SquaredHinge, tol: float) -> None:
        self.space, self.Y, self.loss, self.tol = space, Y, loss, tol

    def minimise(self, x: Floats, most: int) -> Floats:
        """x after so many steps from it, or fewer."""
        M = self.space.margins(x)
        for _ in range(most):
            free = self.loss.free(self.Y * M)
            step, its_margins = self._step(free / self.loss.slack, x, M)
            length = self._lengths(x, M, step, its_margins)
            x, M = x + length * step, M + length * its_margins
            if np.mean(self.loss.free(self.Y * M) != free) <= SETTLED or not length.any():
                break
        return x

    def _step(self, u: Floats, x: Floats, M: Floats) -> tuple[Floats, Floats]:
        """Newton's step for every class, and its margins."""
        space = self.space
        R = space.pull(u * (self.Y - M)) - x
        step, its_margins = np.zeros_like(x), np.zeros_like(M)
        P, Q = np.zeros_like(x), np.zeros_like(M)
        last, goal = np.full(M.shape[1], np.inf), np.zeros(M.shape[1])
        for iteration in range(MAX_CG):
            Z = space.precondition(R)
            left = _products(R, Z)
            goal = self.tol**2 * left if iteration == 0 else goal
            if iteration > 0 and (left <= goal).all():
                break
            along = space.margins(Z)
            size = space.products(R, Z, along)
            ratio = size / np.maximum(last, TINY)
            P, Q, last = Z + ratio * P, along + ratio * Q, size
            length = size / np.maximum(space.products(P, P, Q) + np.sum(u * Q**2, axis=0), TINY)
            step, its_margins = step + length * P, its_margins + length * Q
            R = R - length * (P + space.pull(u * Q))
        return step, its_margins

    def _lengths(self, x: Floats, M: Floats, step: Floats, its_margins: Floats) -> Floats:
        """1, or the first of 1/2, 1/4, ... that lowers the objective of a column; 0 if none does."""
        products, end = self.space.products, (step, its_margins)
        a, b, c = products(x, x, M), products(x, *end), products(step, *end)

        def objectives(length: Floats | float) -> Floats:
            missing = np.maximum(1 - self.Y * (M + length * its_margins), 0.0)
            loss = np.sum(missing**2 / self.loss.slack, axis=0)
            return np.asarray(a + 2 * length * b + length**2 * c + loss) / 2

        now, length = objectives(0.0), np.ones(self.Y.shape[1])
        while True:
            rising = objectives(length) > now
            if not (rising & (length > 0)).any():
                return length
            length[rising] = np.where(length[rising] > SHORTEST, SHORTER * length[rising], 0.0)


def _products(U: Floats, V: Floats) -> Floats:
    """u'v of each column."""
    return np.asarray(np.einsum("ij,ij->j", U, V))
