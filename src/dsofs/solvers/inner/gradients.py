"""Squared slack, all classes at once: near the inner optimum, by Newton's method with conjugate gradients.

In the scaled variables v = D^{-1/2} w each class minimises, with Z = X D^{1/2},

    1/2 ||v||^2 + 1/2 sum_k max(0, 1 - t_k)^2 / s_k,      t = y o (Z v),      Hessian  1 + Z' diag(u) Z,

where u_k = 1 / s_k for samples inside the margin and 0 for the others. A factor of the Hessian for each class, anew
whenever samples change sides, takes most of the time of an exact solution. Here all classes share one, for a mean of u,
and with it as the preconditioner a few conjugate gradients are enough. It serves the plain steps at the start of a
loop, which need neither an exact solution nor a ``Curvature``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dsofs.design.interface import Design
from dsofs.design.linalg import factorise, places_in, principal
from dsofs.design.types import Bools, Floats, Ints
from dsofs.problem import SquaredHinge
from dsofs.solvers.inner.features import scaled_principal
from dsofs.solvers.loop.point import Inner
from dsofs.solvers.qp.pivoting import factorisations

# Newton steps of the first solves and of all others: near the optimum for weights that are a guess is enough. In the
# space of the samples, where a solve does not start from the W of before, up to the latter.
FIRST_NEWTON, NEWTON, MAX_NEWTON = (1, 1, 1), 2, 5
MAX_CG = 50
CG_TOL = 0.1  # of the gradient, measured by the preconditioner
SETTLED = 0.002  # of the samples that may still change sides
SHORTER, SHORTEST = 0.5, 1e-3  # a step that does not lower the objective is made shorter
LEAST_INSIDE = 0.1  # of the classes: those that a sample is inside the margin of, for the preconditioner
# A product goes through each number at a tenth of the speed of a factorisation, twice in each of some 50 iterations.
PRODUCTS = 1000
ITERATIONS = 60  # products with m x m matrices in a solve, two in each iteration
TINY = np.finfo(np.float64).tiny


def suits_products(X: Design) -> bool:
    """Whether a factorisation of all samples would take longer than products with X, of which little is stored."""
    return PRODUCTS * X.n_stored <= X.n_samples**3 / 6


class Space(Protocol):
    """How v is held: by coordinates x, a column for each class."""

    def margins(self, x: Floats) -> Floats:
        """Z v."""

    def pull(self, B: Floats) -> Floats:
        """The coordinates of Z'B."""

    def precondition(self, x: Floats) -> Floats:
        """The coordinates of what the inverse of the shared Hessian makes of v."""

    def products(self, x: Floats, other: Floats, margins: Floats) -> Floats:
        """v'v of each class, given the margins of the other."""

    def weights(self, x: Floats, B: Floats) -> tuple[Floats, Floats]:
        """W = D^{1/2} v, and X'B."""


class ByFeatures:
    """x = v."""

    def __init__(self, X: Design, d: Floats, H: Floats) -> None:
        """``H``: X' diag(u) X for the mean of u."""
        self.X, self.root = X, np.sqrt(d)[:, None]
        self.factor = factorise(scaled_principal(H, np.arange(len(d)), self.root[:, 0]), 1.0, overwrite=True)

    def margins(self, x: Floats) -> Floats:
        return self.X.dot(self.root * x)

    def pull(self, B: Floats) -> Floats:
        return self.root * self.X.tdot(B)

    def precondition(self, x: Floats) -> Floats:
        return self.factor.solve(x)

    def products(self, x: Floats, other: Floats, margins: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", x, other))

    def weights(self, x: Floats, B: Floats) -> tuple[Floats, Floats]:
        return self.root * x, self.X.tdot(B)


class ByProducts:
    """v = Z'x, so that v'v = x'Kx for K = Z Z', which is never formed; without a preconditioner."""

    def __init__(self, X: Design, d: Floats) -> None:
        self.X, self.d = X, d[:, None]

    def margins(self, x: Floats) -> Floats:
        return self.X.dot(self.d * self.X.tdot(x))

    def pull(self, B: Floats) -> Floats:
        return B

    def precondition(self, x: Floats) -> Floats:
        return x

    def products(self, x: Floats, other: Floats, margins: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", x, margins))

    def weights(self, x: Floats, B: Floats) -> tuple[Floats, Floats]:
        V, G = np.hsplit(self.X.tdot(np.hstack([x, B])), 2)  # in one pass over X
        return self.d * V, G


class BySamples(ByProducts):
    """The same with K, and the shared Hessian, whose inverse takes x to  (1/u + K)^{-1} x / u."""

    def __init__(self, X: Design, d: Floats, u: Floats) -> None:
        super().__init__(X, d)
        self.K, self.slack = X.gram(d), 1 / u
        self.factor = factorise(self.K, self.slack)

    def margins(self, x: Floats) -> Floats:
        return np.asarray(self.K @ x)

    def precondition(self, x: Floats) -> Floats:
        return self.factor.solve(self.slack[:, None] * x)


class NearOptimum:
    """Solves for all columns of Y that share what does not depend on the weights."""

    def __init__(self, X: Design, Y: Floats, loss: SquaredHinge) -> None:
        self.Y, self.loss, self.by_products = Y, loss, suits_products(X)
        self.first = list(FIRST_NEWTON)
        self.W = np.zeros((X.n_columns, Y.shape[1]))  # of the last solve
        self.rows, self.H = np.empty(0, dtype=np.intp), np.empty((0, 0))  # H of these rows, see ``_normal``

    def suits(self, rows: Ints, B: Floats | None) -> bool:
        """Whether it takes less time than factors of the samples inside the margin of each class, two as a rule."""
        m, c = self.Y.shape
        if B is None or len(rows) < m or self.by_products:
            return True
        return 2 * factorisations(B) > (ITERATIONS * c + m / 6) * m**2

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner:
        """From the multipliers B; all samples are inside the margin where it is None."""
        most = self.first.pop(0) if self.first else NEWTON
        inside = np.ones(self.Y.shape, dtype=bool) if B is None else B != 0
        space: Space
        if len(rows) < X.n_samples:
            space = ByFeatures(X, d, np.mean(inside) * self._normal(rows, X))
            x = self.W[rows] / space.root  # any descent from there lowers the objective of the loop
        else:
            space = ByProducts(X, d) if self.by_products else BySamples(X, d, self._mean_u(inside))
            x, most = (np.zeros_like(self.Y), most) if B is None else (B, MAX_NEWTON)
        x, T = _Newton(space, self.Y, self.loss).minimise(x, most)
        A = self.loss.multipliers(T)
        W, G = space.weights(x, self.Y * A)
        self.W[:] = 0.0
        self.W[rows] = W
        return Inner(W, self.Y * A, G, self.loss.cost(A), np.empty((0, self.Y.shape[1])), exact=False)

    def _mean_u(self, inside: Bools) -> Floats:
        return np.asarray(np.maximum(np.mean(inside, axis=1), LEAST_INSIDE) / self._mean_slack())

    def _normal(self, rows: Ints, X: Design) -> Floats:
        """X' diag(1/s) X over all samples, from that of more rows where it is known."""
        place = places_in(self.rows, rows)
        if place is None:
            self.rows, self.H = rows, X.rough_normal_matrix(1 / self._mean_slack())
            return self.H
        return principal(self.H, place)

    def _mean_slack(self) -> Floats:
        return np.asarray(np.broadcast_to(self.loss.slack, self.Y.shape).mean(axis=1))


class _Newton:
    """All columns of Y at once."""

    def __init__(self, space: Space, Y: Floats, loss: SquaredHinge) -> None:
        self.space, self.Y, self.loss = space, Y, loss

    def minimise(self, x: Floats, most: int) -> tuple[Floats, Floats]:
        """x and the margins y o (Z v) after so many steps from x, or fewer."""
        M = self.space.margins(x)
        for _ in range(most):
            free = self.loss.free(self.Y * M)
            step, its_margins = self._step(free / self.loss.slack, x, M)
            length = self._lengths(x, M, step, its_margins)
            x, M = x + length * step, M + length * its_margins
            if np.mean(self.loss.free(self.Y * M) != free) <= SETTLED or not length.any():
                break
        return x, self.Y * M

    def _step(self, u: Floats, x: Floats, M: Floats) -> tuple[Floats, Floats]:
        """Newton's step for every class, and its margins."""
        space = self.space
        R = space.pull(u * (self.Y - M)) - x
        step, its_margins = np.zeros_like(x), np.zeros_like(M)
        P, Q = np.zeros_like(x), np.zeros_like(M)
        last, goal = np.full(M.shape[1], np.inf), np.zeros(M.shape[1])
        for iteration in range(MAX_CG):
            Z = space.precondition(R)
            along = space.margins(Z)
            size = space.products(R, Z, along)
            goal = CG_TOL**2 * size if iteration == 0 else goal
            if iteration > 0 and (size <= goal).all():
                break
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
