"""Inner step where residuals are rows too:  min 1/2 sum ||w_i||^2 / d_i + 1/2 sum ||r_j||^2 / s_j,  X W + R = Y.

    W = diag(d) X'B,     R = diag(s) B,     (K + diag(s)) B = Y,     K = X diag(d) X'

With as many columns as samples this is solved as it stands. With fewer of them, samples of large s enter by the n x n
matrix  H = sum x x' / s,  and only the n of smallest s, whose residuals are near zero or held at zero, by K:

    P = (diag(1/d) + H)^{-1},     (X_F P X_F' + diag(s_F)) B_F = Y_F - X_F P h,     h = sum of x y' / s over the others
"""

from __future__ import annotations

import numpy as np

from dsofs.design.interface import Design
from dsofs.design.linalg import factorise
from dsofs.design.residuals import WithResiduals
from dsofs.design.types import Floats, Ints
from dsofs.solvers.inner.equality import GramEqualities, SharedCurvature, refined
from dsofs.solvers.loop.point import Inner
from dsofs.solvers.qp.pivoting import PROXIMAL

# More residuals than columns can be at zero only where samples repeat each other. All are given at least this part of
# ||x||^2 as s then, and refinement takes it away again: so none of the equal ones is preferred.
SOFTNESS = 1e-9


class ResidualSpace:
    """All columns of Y, in the space of the samples or of the features, whichever is smaller."""

    def __init__(self, Y: Floats) -> None:
        self.Y, self.in_samples = Y, GramEqualities(Y, None, np.empty((len(Y), 0)))

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        assert isinstance(X, WithResiduals)
        if X.n_samples <= X.X.n_columns:
            return self.in_samples.solve(rows, X, d, B)
        try:
            system = FewColumns(X.X, d[: X.X.n_columns], X.ridge(d))
        except np.linalg.LinAlgError:
            return None
        B = refined(self.Y, system.solve, system.product, self.in_samples.F)
        if B is None:
            return None
        G = X.tdot(B)
        return Inner(d[:, None] * G, B, G, 0.0, np.empty((0, self.Y.shape[1])), SharedCurvature(X, system.solve))


class FewColumns:
    """K + diag(s) for a design X of fewer columns than samples, never formed."""

    def __init__(self, X: Design, d: Floats, s: Floats) -> None:
        self.X, self.d, self.s = X, d, s
        order = np.argpartition(s, X.n_columns)
        self.stiff, soft = np.sort(order[: X.n_columns]), np.sort(order[X.n_columns :])
        self.X_stiff = X.samples(self.stiff).on_host()
        size = float(np.sum(d * self.X_stiff**2)) / max(len(self.stiff), 1)
        least = SOFTNESS * size if s[soft].min() < SOFTNESS * size else PROXIMAL * size
        raised = np.maximum(s, least)
        if raised.min() <= 0:
            raise np.linalg.LinAlgError("no column is left to hold a residual at zero")
        self.softness = raised.copy()
        self.softness[self.stiff] = np.inf  # they have no part in H and h
        self.root = np.sqrt(d)
        H, _ = X.normal_equations([(soft, 1 / self.softness[soft], np.empty((len(soft), 0)))])[0]
        self.normal = factorise(self.root[:, None] * H * self.root, 1.0)
        T = self.normal.half_solve(self.root[:, None] * self.X_stiff.T)
        K = T.T @ T
        self.factor = factorise(K, raised[self.stiff])

    def solve(self, R: Floats) -> Floats:
        """(K + diag(s))^{-1} R, but for what is added to a vanishing s."""
        w = self._P(self.X.tdot(R / self.softness[:, None]))
        B_stiff = self.factor.solve(R[self.stiff] - self.X_stiff @ w)
        w += self._P(self.X_stiff.T @ B_stiff)
        B = (R - self.X.dot(w)) / self.softness[:, None]
        B[self.stiff] = B_stiff
        return B

    def product(self, B: Floats) -> Floats:
        return self.X.dot(self.d[:, None] * self.X.tdot(B)) + self.s[:, None] * B

    def _P(self, G: Floats) -> Floats:
        return self.root[:, None] * self.normal.solve(self.root[:, None] * G)
