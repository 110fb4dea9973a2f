"""What slack costs. With the margins t = y o (X w) of the samples, xi is how much is missing of 1.

Every loss knows its multipliers a(t) = -loss'(t), its cost, and its part of the dual objective
sum(a) - (conjugate of the penalty) - (conjugate of the loss).
"""

from __future__ import annotations

import numpy as np

from dsofs.design.types import Bools, Floats
from dsofs.problem.penalties import Conjugate


class SquaredHinge:
    """1/2 sum C xi^2,  xi = max(0, 1 - t).     a = xi / s with s = 1/C,     conjugate 1/2 sum s a^2."""

    upper: Floats | None = None

    def __init__(self, slack: Floats) -> None:
        """``slack``: s of every sample, which is added to the diagonal of K; 0 is hard."""
        self.slack = slack

    def multipliers(self, t: Floats) -> Floats:
        return np.maximum((1 - t) / self.slack, 0.0)

    def free(self, t: Floats) -> Bools:
        """Where a changes with t."""
        return t < 1

    def cost(self, a: Floats, t: Floats | None = None) -> float:
        return 0.5 * float(np.sum(self.slack * a**2))  # xi = s a; no infinite C times nothing

    def conjugates(self, B: Floats) -> list[Conjugate]:
        return [Conjugate.of(np.sqrt(self.slack) * np.abs(B), 2.0)]

    def largest_multiple(self, B: Floats) -> float:
        return np.inf


class Squared(SquaredHinge):
    """Equalities:  1/2 sum C xi^2,  xi = 1 - t,  whatever its sign.     a = xi / s,     conjugate 1/2 sum s a^2."""

    def multipliers(self, t: Floats) -> Floats:
        return (1 - t) / self.slack

    def free(self, t: Floats) -> Bools:
        return np.ones(len(t), dtype=bool)


class Hinge:
    """sum C xi,  xi = max(0, 1 - t).     a = C inside the margin, 0 beyond, between on it;     conjugate: a <= C."""

    slack: Floats | None = None

    def __init__(self, C: Floats) -> None:
        self.upper = C

    def cost(self, a: Floats, t: Floats) -> float:
        soft = np.isfinite(self.upper)
        return float(np.sum(self.upper[soft] * np.maximum(1 - t, 0.0)[soft]))

    def conjugates(self, B: Floats) -> list[Conjugate]:
        return []

    def largest_multiple(self, B: Floats) -> float:
        """The largest t for which no multiplier of t B is above its upper bound."""
        used = B != 0
        return float(np.min(self.upper[used] / np.abs(B[used]), initial=np.inf))


Loss = SquaredHinge | Hinge
