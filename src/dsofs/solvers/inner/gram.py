"""Inner solves through Gram matrices of samples, K = X diag(d) X': a non-negative QP per class.

a_j = argmin_{a >= 0}  1/2 a' (y_j y_j' o K + diag(s_j)) a - 1'a,         W = diag(d) X'(Y o A)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dsofs.design.budget import BLOCK_BYTES, DOUBLE
from dsofs.design.interface import Design, cuts
from dsofs.design.linalg import Factor
from dsofs.design.norms import GroupSums
from dsofs.design.types import Floats, Ints
from dsofs.solvers.loop.point import Inner
from dsofs.solvers.qp.nnqp import solve_nnqp

# A QP solved no better than this (its constraints are then violated by as much) counts as not solved.
SOLVED = 1e-6


class GramSpace:
    """All columns of Y by one m x m matrix, which they share."""

    def __init__(self, Y: Floats, slack: Floats | None) -> None:
        self.Y, self.slack = Y, slack

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        K = X.gram(d)
        try:
            solved = solve_nnqp(K, self.Y, np.ones_like(self.Y), B, self.slack)
        except np.linalg.LinAlgError:
            return None
        if not solved.residual <= SOLVED:
            return None
        B = solved.B
        G = X.tdot(B)
        # Dividing a column by its smallest margin makes it feasible to the last digit.
        W = d[:, None] * G
        W /= 1.0 + np.minimum(solved.excess.min(axis=0), 0.0)
        price = 0.0 if self.slack is None else 0.5 * float(np.sum(self.slack * B**2))
        return Inner(W, B, G, price, None if solved.factors is None else SampleCurvature(X, solved.factors))


@dataclass(frozen=True)
class SampleCurvature:
    """P_j = X_F'(K_FF + s)^{-1} X_F by the factors of K_FF + s."""

    X: Design
    factors: list[Factor]

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        def roots(classes: slice) -> Iterator[Floats]:
            for factor, g in zip(self.factors[classes], G.T[classes], strict=True):
                yield factor.half_solve(
                    X.samples(factor.index).on_host() * g if sums is None else sums.of_design(X, factor.index, g)
                )

        size = len(rows) if sums is None else sums.n_groups
        M = np.zeros((size, size))
        largest = max(1, *(len(factor.index) for factor in self.factors))
        for classes in cuts(len(self.factors), max(1, BLOCK_BYTES // (DOUBLE * size * largest))):
            T = np.concatenate(list(roots(classes)))  # one product for several classes takes half the time
            M += T.T @ T
        return M

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        def product(z: Floats) -> Floats:
            R = self.X.dot(U * z[:, None])
            B = np.zeros_like(R)
            for j, factor in enumerate(self.factors):
                B[factor.index, j] = factor.solve(R[factor.index, j])
            return np.asarray(np.einsum("ij,ij->i", U, self.X.tdot(B)))

        return product
