"""Plain hinge slack, C sum xi: multipliers are clipped at C.

    a(t) = clip(c + (1 - t) / s, 0, C)

For c = a this is the hinge itself, whatever s; so c follows a (the proximal point method), in few rounds if s is small.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.interface import Block, Design
from dsofs.design.linalg import Factor, factorise
from dsofs.design.types import Bools, Floats, Ints
from dsofs.solvers.inner.features import FeatureSpace, Loss
from dsofs.solvers.inner.gram import SampleCurvature
from dsofs.solvers.loop.point import Inner
from dsofs.solvers.qp.boxqp import refined_margins, solve_boxqp, with_exact_margins
from dsofs.solvers.qp.nnqp import PROXIMAL, Matrix

# s goes down from 1/C, where a(t) slopes over the whole margin, or from this part of ||x||^2 if that is more
FIRST_SLACK = 1e-2
LEAST_SLACK = 1e-5  # in units of 1/C
STIFF = 1e-9  # and no less than this part of ||x||^2, weighted by d: Newton's matrix could not be factorised
# What s is multiplied by from round to round, if the last one took few, some or many of Newton's steps.
HARDEN, KEEP, SOFTEN = (0.4, 10), (1.0, 30), 2.5
MAX_ROUNDS = 100
AGREED = 1e-7  # a and c agree if the margins they stand for differ by no more


class HingeLoss(Loss):
    """One class, with the ceiling C of each sample."""

    def __init__(self, ceiling: Floats, size: float) -> None:
        super().__init__(max(1.0, FIRST_SLACK * size * float(ceiling.max())) / ceiling)
        self.ceiling, self.center = ceiling, np.zeros(len(ceiling))

    @property
    def hardness(self) -> float:
        """s in units of 1/C."""
        return float(self.slack[0] * self.ceiling[0])

    def multipliers(self, t: Floats) -> Floats:
        return np.clip(self.center + (1 - t) / self.slack, 0.0, self.ceiling)

    def free(self, t: Floats) -> Bools:
        a = self.center + (1 - t) / self.slack
        return (a > 0) & (a < self.ceiling)

    def at_zero(self, free: Bools, t: Floats) -> Floats:
        return np.where(free, self.center + 1 / self.slack, self.multipliers(t))

    def sloping(self) -> Bools:
        """The samples on the margin, once the multipliers are right."""
        return (self.center > 0) & (self.center < self.ceiling)

    def disagreement(self, a: Floats) -> float:
        return float(np.max(np.abs(a - self.center) * self.slack))

    def price(self, t: Floats) -> float:
        return float(np.sum(self.ceiling * np.maximum(1 - t, 0.0)))


class HingeSpace(FeatureSpace):
    """Some columns of Y with hinge slack, in the space of the features."""

    def __init__(self, X: Design, Y: Floats, ceiling: Floats) -> None:
        self.sizes = X.column_norms() ** 2 / X.n_samples
        self.hinges = [HingeLoss(C, float(self.sizes.sum())) for C in ceiling.T]
        super().__init__(X, Y, list(self.hinges))

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """Starts from where it ended the last time, and needs no B."""
        try:
            B, factors = self._with_factors(rows, X, d)
        except np.linalg.LinAlgError:
            return None
        G = X.tdot(B)
        W = d[:, None] * G
        price = sum(loss.price(t) for loss, t in zip(self.hinges, (self.Y * X.dot(W)).T, strict=True))
        return Inner(W, B, G, price, SampleCurvature(X, factors))

    def _with_factors(self, rows: Ints, X: Design, d: Floats) -> tuple[Floats, list[Factor]]:
        """The multipliers, margins refined, and the factors of the samples on the margin."""
        B, factors = self.Y * self.multipliers(rows, X, d), []
        for j, loss in enumerate(self.hinges):
            y, free = self.Y[:, j], np.flatnonzero(loss.sloping())
            block = X.samples(free)
            pull = block.dot(d[:, None] * X.tdot(np.where(loss.sloping(), 0.0, B[:, j])[:, None]))[:, 0]
            K = block.gram(d)
            factor = factorise(K, PROXIMAL * float(np.trace(K)) / max(len(K), 1))
            B[free, j] = refined_margins(K, y[free] - pull, y[free], B[free, j], loss.ceiling[free], factor)
            factors.append(Factor(free, factor.L))
        return B, factors

    def multipliers(self, rows: Ints, X: Design, d: Floats) -> Floats:
        """a of all samples and columns, as good as the proximal point method gives it."""
        start, stiff = None, STIFF * float(d @ self.sizes[rows])
        for j, loss in enumerate(self.hinges):
            if loss.slack[0] < stiff:
                self.follow(j, loss.center, np.ones(len(loss.center)), stiff / float(loss.slack[0]))
        for _ in range(MAX_ROUNDS):
            W, T, _ = self._minimise(rows, X, d, start)
            A = np.stack([loss.multipliers(t) for loss, t in zip(self.hinges, T.T, strict=True)], axis=1)
            agreed = all(loss.disagreement(a) <= AGREED for loss, a in zip(self.hinges, A.T, strict=True))
            harden = next((factor for factor, steps in (HARDEN, KEEP) if self.newton_steps <= steps), SOFTEN)
            for j, loss in enumerate(self.hinges):
                least = max(LEAST_SLACK / loss.hardness, stiff / float(loss.slack[0]))
                self.follow(j, A[:, j], T[:, j], max(harden, least))
            if agreed:
                break
            start = W, T
        return A

    def follow(self, j: int, a: Floats, t: Floats, harden: float) -> None:
        """Let the center of a loss follow a, and make s smaller."""
        self.hinges[j].center = a
        self.multiply_slack(j, harden, t)


class HingeGram:
    """Some columns of Y with hinge slack, by their m x m matrix: pivoting or, if that does not end, ``HingeSpace``."""

    def __init__(self, Y: Floats, ceiling: Floats) -> None:
        self.Y, self.ceiling = Y, ceiling

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        K = X.gram(d)
        matrix = Matrix.of(K)
        B = np.zeros_like(self.Y) if B is None else B.copy()
        factors: list[Factor] = [Factor.empty()] * self.Y.shape[1]
        try:
            pivoted = [self._pivot(matrix, j, B, factors) for j in range(self.Y.shape[1])]
            if not all(pivoted):
                self._search(matrix, np.flatnonzero(~np.array(pivoted)), B, factors)
        except np.linalg.LinAlgError:
            return None
        price = float(np.sum(self.ceiling * np.maximum(1 - self.Y * (K @ B), 0.0)))
        G = X.tdot(B)
        return Inner(d[:, None] * G, B, G, price, SampleCurvature(X, factors))

    def _pivot(self, matrix: Matrix, j: int, B: Floats, factors: list[Factor]) -> bool:
        solved = solve_boxqp(matrix, self.Y[:, j], self.ceiling[:, j], B[:, j])
        if solved is None:
            return False
        B[:, j], factors[j] = solved
        return True

    def _search(self, matrix: Matrix, columns: Ints, B: Floats, factors: list[Factor]) -> None:
        """By ``HingeSpace``, for which the samples are the rows of L, where K = L L'."""
        K = matrix.K
        samples = Block(np.tril(factorise(K, matrix.rho).L))
        space = HingeSpace(samples, self.Y[:, columns], self.ceiling[:, columns])
        for k, j in enumerate(columns):
            if B[:, j].any():
                space.follow(k, np.abs(B[:, j]), np.ones(len(K)), LEAST_SLACK / space.hinges[k].hardness)
        B[:, columns] = self.Y[:, columns] * space.multipliers(np.arange(len(K)), samples, np.ones(len(K)))
        for loss, j in zip(space.hinges, columns, strict=True):
            factors[j] = factorise(K, matrix.rho, loss.sloping())
            B[:, j] = with_exact_margins(K, self.Y[:, j], loss.ceiling, B[:, j], factors[j])
