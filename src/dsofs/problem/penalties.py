"""The penalty on the rows of W, and its conjugate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsofs.design.types import Bools, Floats


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
