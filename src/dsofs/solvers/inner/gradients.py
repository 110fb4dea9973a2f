"""Squared slack with thousands of samples of which X stores few numbers: Newton's method by conjugate gradients.

For the samples F inside the margin of a class, a Newton step ends at

    w = diag(d) X'b,      (K_FF + s) b_F = y_F,      b = 0 elsewhere,      K = X diag(d) X',

and takes some products with X where a factorisation takes m^3 / 6 multiplications. K is never formed. It serves the
plain steps at the start of a loop, which need neither an exact solution nor a ``Curvature``.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.interface import Design
from dsofs.design.types import Bools, Floats
from dsofs.problem import SquaredHinge
from dsofs.solvers.loop.point import Inner

MAX_NEWTON, MAX_CG = 5, 50
CG_TOL = 0.01  # of the right-hand side: what is left is far below the change of the next weights
SETTLED = 0.002  # of the samples that may still change sides
SHORTER, SHORTEST = 0.5, 1e-3  # a step that does not lower the objective is made shorter
# A product goes through each number at a tenth of the speed of a factorisation, twice in each of some 50 iterations.
PRODUCTS = 1000
TINY = np.finfo(np.float64).tiny


def suits_gradients(X: Design) -> bool:
    """Whether a factorisation of all samples would take longer."""
    return PRODUCTS * X.n_stored <= X.n_samples**3 / 6


def near_optimum(X: Design, d: Floats, Y: Floats, loss: SquaredHinge, B: Floats | None) -> Inner:
    """Near the inner optimum for the weights d, from the multipliers B; all samples are free where it is None."""
    newton = _Newton(X, d[:, None], Y, loss)
    newton.minimise(np.zeros_like(Y) if B is None else B)
    A = loss.multipliers(newton.T)
    B = Y * A
    return Inner(d[:, None] * newton.G, B, X.tdot(B), loss.cost(A), np.empty((0, Y.shape[1])), exact=False)


class _Newton:
    """All columns of Y at once. T: the margins y o (X w); G = X'b."""

    def __init__(self, X: Design, d: Floats, Y: Floats, loss: SquaredHinge) -> None:
        self.X, self.d, self.Y, self.loss = X, d, Y, loss

    def minimise(self, b: Floats) -> None:
        self.G = self.X.tdot(b)
        self.T = self.Y * self.X.dot(self.d * self.G)
        for _ in range(MAX_NEWTON):
            free = self.loss.free(self.T)
            target = self._solve(free, b)
            G = self.X.tdot(target)
            T = self.Y * self.X.dot(self.d * G)
            length = self._lengths(G - self.G, T - self.T)
            b, self.G, self.T = (
                start + length * (end - start) for start, end in ((b, target), (self.G, G), (self.T, T))
            )
            if np.mean(self.loss.free(self.T) != free) <= SETTLED or not length.any():
                break

    def _solve(self, free: Bools, b: Floats) -> Floats:
        """(K_FF + s) b_F = y_F for every column, from b."""
        b = np.where(free, b, 0.0)
        R = np.where(free, self.Y, 0.0) - self._product(free, b)
        P, square, goal = R, np.sum(R**2, axis=0), CG_TOL**2 * np.count_nonzero(free, axis=0)
        for _ in range(MAX_CG):
            if (square <= goal).all():
                break
            curved = self._product(free, P)
            length = square / np.maximum(np.sum(P * curved, axis=0), TINY)
            b, R = b + length * P, R - length * curved
            last, square = square, np.sum(R**2, axis=0)
            P = R + square / np.maximum(last, TINY) * P
        return b

    def _product(self, free: Bools, b: Floats) -> Floats:
        return np.where(free, self.X.dot(self.d * self.X.tdot(b)) + self.loss.slack * b, 0.0)

    def _lengths(self, G: Floats, T: Floats) -> Floats:
        """1, or the first of 1/2, 1/4, ... that lowers the objective of a column; 0 if none does."""
        now, length = self._objectives(self.G, self.T), np.ones(self.Y.shape[1])
        while True:
            rising = self._objectives(self.G + length * G, self.T + length * T) > now
            if not (rising & (length > 0)).any():
                return length
            length[rising] = np.where(length[rising] > SHORTEST, SHORTER * length[rising], 0.0)

    def _objectives(self, G: Floats, T: Floats) -> Floats:
        missing = np.maximum(1 - T, 0.0)
        return np.asarray(np.sum(self.d * G**2, axis=0) + np.sum(missing**2 / self.loss.slack, axis=0)) / 2
