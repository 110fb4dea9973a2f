"""The terms of the objective: the penalty on W, what slack costs, and what each of them is in the dual.

With the margins t = y o (X w) of the samples, xi is how much is missing of 1. Multipliers are a(t) = -loss'(t). With
A >= 0, B = Y o A and g = ||X_g'B|| of every group the dual objective is

    sum(A)  -  conjugate of the penalty at g  -  conjugate of the loss at A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dsofs.design.types import Bools, Floats

BISECTIONS = 50


@dataclass(frozen=True)
class Penalty:
    """(1/p) sum_g n_g^p of the norms n_g = ||W_g|| of the groups, with one p or one for each of them.

    Bounded by a square,  (1/p) n^p <= 1/2 n^2 / d + const  with equality at  d = n^(2-p).
    Its conjugate is  (1/q) sum_g g_g^q,  1/p + 1/q = 1,  and at p = 1 the constraint  g_g <= 1.
    """

    p: float | Floats

    def value(self, norms: Floats) -> float:
        present = norms != 0  # NaN comes through
        p = self._at(present)
        return float(np.sum(norms[present] ** p / p))

    def weights(self, norms: Floats) -> Floats:
        """d: equality in the bound, so the inner step cannot raise the objective."""
        weights = np.zeros_like(norms)
        present = (norms > 0) | (self.p == 2)  # at p = 2 a row of zeros weighs 1 like all others
        weights[present] = norms[present] ** (2 - self._at(present))
        return weights

    def conjugates(self, g: Floats) -> list[Conjugate]:
        """Those of the groups of each p > 1; g holds ||X_g'B|| of every group."""
        powers = np.full(len(g), self.p)
        return [Conjugate.of(g[powers == p], p) for p in np.unique(self.p) if p > 1]

    def largest_multiple(self, g: Floats) -> float:
        """The largest t for which t g keeps the constraints of p = 1."""
        largest = float(g[np.full(len(g), self.p) == 1].max(initial=0.0))
        return 1 / largest if largest > 0 else np.inf

    def _at(self, present: Bools) -> float | Floats:
        """The powers of these groups alone: powers take long to compute, and most norms are zero."""
        return self.p[present] if isinstance(self.p, np.ndarray) else self.p


@dataclass(frozen=True)
class Conjugate:
    """(1/q) sum (t g)^q as a function of t; in logarithms, as q may be in the thousands."""

    q: float
    log_sum: float  # of g^q

    @classmethod
    def of(cls, g: Floats, p: float) -> Conjugate:
        largest, q = float(g.max(initial=0.0)), p / (p - 1)
        return cls(q, q * np.log(largest) + np.log(np.sum((g / largest) ** q)) if largest > 0 else -np.inf)

    def at(self, t: float) -> float:
        return float(np.exp(self.log_sum + self.q * np.log(t))) / self.q

    def slope(self, t: float) -> float:
        return float(np.exp(self.log_sum + (self.q - 1) * np.log(t)))

    def multiple(self, gain: float) -> float:
        """Where the slope is ``gain``."""
        return float(np.exp((np.log(gain) - self.log_sum) / (self.q - 1)))


def best_multiple(gain: float, conjugates: Sequence[Conjugate], most: float) -> float:
    """The t <= most of largest  t gain - sum of conjugates;  with one of them it is known, with several it is less."""
    high = min([most, *(conjugate.multiple(gain) for conjugate in conjugates)])
    if len(conjugates) < 2:
        return high
    low = 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(conjugate.slope(middle) for conjugate in conjugates) < gain else (low, middle)
    return high


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
