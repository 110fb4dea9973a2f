"""What is solved (``Problem``), the terms of its objective, and what comes back (``Solution``).

    minimise  penalty(W) + loss(slack)    subject to  Y o (X W) >= 1 - slack    or    X W = Y + slack

With the margins t = y o (X w) of the samples, xi is how much is missing of 1. Multipliers are a(t) = -loss'(t). With
A >= 0, B = Y o A and g = ||X_g'B|| of every group the dual objective is

    sum(A)  -  conjugate of the penalty at g  -  conjugate of the loss at A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from dsofs.design.columns import WithColumns
from dsofs.design.interface import Design
from dsofs.design.linalg import group_norms, row_norms
from dsofs.design.types import Bools, Floats, Ints

SUPPORT = 1e-6  # rows below this part of the largest are about to vanish and not part of the support
ALIVE = 1e-3  # a group is alive while its norm is above this part of the largest
BISECTIONS = 50
TINY = float(np.finfo(np.float64).tiny)


class Status(Enum):
    """How a fit ended: the name is ``status_``, the value is the sentence that the user reads."""

    CONVERGED = "the certificate is within tol"
    CONVERGED_WITH_SLACK = "the certificate is within tol; slack was allowed where hard constraints cannot be met"
    RELAXED = "the alternation converged; X does not have full row rank, so X W = Y + E was relaxed to least squares"
    ZERO = "misfit costs so little that W = 0 is the best"
    NOTHING_LEFT = "the features that are not penalised separate the classes alone: no other is needed"
    STALLED = "the objective stopped falling before the certificate reached tol"
    MAX_ITER = "max_iter was reached before the certificate reached tol"

    @property
    def short(self) -> str:
        return self.name.lower()

    @property
    def converged(self) -> bool:
        return self in (Status.CONVERGED, Status.CONVERGED_WITH_SLACK)

    @property
    def without_features(self) -> bool:
        """Whether no weight is needed, so that there was nothing to iterate."""
        return self in (Status.ZERO, Status.NOTHING_LEFT)


@dataclass(frozen=True)
class Terms:
    """The terms of an objective that has several: 0 is that of the rows of W, the others are those of residuals."""

    of_group: Ints  # in increasing order
    size: Floats  # for each term, a lower limit of the norm that others are relative to; 0 if there is none


@dataclass(frozen=True)
class Problem:
    """The l_{2,p} problem of Eqns. 4 to 6, with slack where ``C`` is finite.

        minimise  (1/p) sum_g ||W_g||_F^p  +  1/2 sum_ij C_ij xi_ij^2      (loss="squared_hinge"; "hinge": sum C xi)
        subject to  Y o (X W) >= 1 - xi   (constraint="margin")    or    X W = Y + xi   (constraint="equality")

    ``C`` is given for every sample and column; infinity, or None for all, is a hard constraint. ``importance``
    multiplies the C that is chosen for a sample. With ``bias`` the last row of W is not a feature. ``chance`` is how
    much each group explains by chance, relative to a single column: rankings correct for it. ``free`` holds the
    columns F of further rows V that are not penalised:  X W + F V  replaces  X W,  and in the dual  F'B = 0.
    ``factor`` is the v_g of a penalty v_g ||W_g||^p, by whose root v^(1/p) the columns of X were divided.

    Where the objective has several ``terms``, ``p`` holds the power of every group: see ``dsofs.solvers.rfs.general``.
    """

    X: Design
    Y: Floats
    p: float | Floats
    constraint: str = "margin"
    C: Floats | None = None
    loss: str = "squared_hinge"
    groups: Ints | None = None
    chance: Floats | None = None
    importance: Floats | None = None
    bias: bool = False
    terms: Terms | None = None
    free: Floats | None = None
    factor: Floats | None = None

    @property
    def F(self) -> Floats:
        """The columns of the rows that are not penalised; there may be none."""
        return np.empty((len(self.Y), 0)) if self.free is None else self.free

    @cached_property
    def penalty(self) -> Penalty:
        return Penalty(self.p)

    @cached_property
    def misfit(self) -> Loss | None:
        """The loss with its C; None if all constraints are hard."""
        if self.C is None:
            return None
        if self.loss == "hinge":
            return Hinge(self.C)
        return (Squared if self.constraint == "equality" else SquaredHinge)(one_column(np.reciprocal, self.C))

    @property
    def slack(self) -> Floats | None:
        """1/C, if slack is squared: it is added to the diagonal of K; 0 is hard."""
        return None if self.misfit is None else self.misfit.slack

    @property
    def upper(self) -> Floats | None:
        """C, if slack is not squared: the upper bound of the multipliers; infinity is hard."""
        return None if self.misfit is None else self.misfit.upper

    @cached_property
    def soft_columns(self) -> Bools:
        """The columns of Y with slack."""
        return np.zeros(self.Y.shape[1], dtype=bool) if self.C is None else np.asarray(np.isfinite(self.C).all(axis=0))

    @cached_property
    def convex(self) -> bool:
        return bool(np.min(self.p) >= 1)

    @cached_property
    def powers(self) -> Floats:
        """The p of every group."""
        return np.full(self.n_groups, self.p)

    @property
    def unit(self) -> float:
        """What an objective of the loop, with its 1/p, is multiplied by for the user: p, if there is only one."""
        return 1.0 if isinstance(self.p, np.ndarray) else self.p

    @cached_property
    def n_groups(self) -> int:
        return self.X.n_columns if self.groups is None else int(self.groups.max()) + 1

    def expand(self, weights: Floats) -> Floats:
        """One weight per row of W from one weight per group."""
        return weights if self.groups is None else weights[self.groups]

    def norms(self, W: Floats, rows: Ints | None = None) -> Floats:
        """||W_g||_F of every group, where W holds all rows, or only ``rows`` and is zero elsewhere."""
        if rows is None:
            return group_norms(W, self.groups, self.n_groups)
        if self.groups is not None:
            return group_norms(W, self.groups[rows], self.n_groups)
        norms = np.zeros(self.n_groups)
        norms[rows] = row_norms(W)
        return norms

    def dual_norms(self, B: Floats, rough: bool = False) -> Floats:
        """||X_g'B||_F of every group; ``rough``: where only the largest matters, the others need not be exact."""
        rough = rough and self.groups is None and bool(np.all(self.powers == 1))
        return group_norms(self.X.dual_norms(B, rough)[:, None], self.groups, self.n_groups)

    def lower_bound(self, B: Floats, g: Floats) -> float:
        """A bound that no feasible W can go below (p >= 1): the dual objective at the best multiple of B.

        ``g`` holds ||X_g'B|| of all groups.
        """
        gain = float(np.sum(self.Y * B))
        if gain <= 0:
            return 0.0
        conjugates, most = self.penalty.conjugates(g), self.penalty.largest_multiple(g)
        if self.misfit is not None:
            conjugates += self.misfit.conjugates(B)
            most = min(most, self.misfit.largest_multiple(B))
        t = best_multiple(gain, [conjugate for conjugate in conjugates if np.isfinite(conjugate.log_sum)], most)
        return t * gain - sum(conjugate.at(t) for conjugate in conjugates)

    def shares(self, norms: Floats) -> Floats:
        """The norms of all groups, relative to the largest within the term of the group."""
        if self.terms is None:
            return norms / max(norms.max(), TINY)
        largest = np.maximum(self.terms.size, TINY)
        np.maximum.at(largest, self.terms.of_group, norms)
        return norms / largest[self.terms.of_group]

    def of_W(self, values: Floats) -> Floats:
        """From values for all groups, those of the rows of W, without residuals."""
        return values if self.terms is None else values[: np.count_nonzero(self.terms.of_group == 0)]

    def without_features(self, W: Floats) -> bool:
        """Whether all rows of W are zero, except perhaps that of the bias."""
        norms = row_norms(W)
        return bool(norms[: len(norms) - self.bias].max(initial=0.0) <= SUPPORT * norms.max(initial=0.0))

    def with_free_rows_as_others(self) -> Problem:
        """A problem that can be met if and only if this can: rows that are not penalised are rows like all others."""
        if self.free is None:
            return self
        groups = None
        if self.groups is not None:
            groups = np.append(self.groups, self.n_groups + np.arange(self.free.shape[1]))
        return replace(
            self, X=WithColumns(self.X, self.free), groups=groups, chance=None, factor=None, bias=False, free=None
        )

    def repaired(self, B: Floats) -> Floats:
        """B with F'B = 0 to rounding, and each of its signs as it was; B itself where nothing needs repair.

        B_k (1 - f_k'z) for the z that does it: a multiplier changes in proportion to its size.
        """
        if self.free is None:
            return B
        repaired = B.copy()
        for column in repaired.T:
            weighted = np.abs(column)[:, None] * self.F
            column -= weighted @ np.linalg.lstsq(self.F.T @ weighted, self.F.T @ column)[0]
        return repaired if (repaired * B >= 0).all() else B

    def with_C(self, C: Floats) -> Problem:
        return replace(self, C=C)

    def rows_of(self, groups: Ints) -> Ints:
        """The rows of W of these groups."""
        return groups if self.groups is None else np.flatnonzero(np.isin(self.groups, groups))

    def part(self, groups: Ints) -> Problem:
        """The same problem on these groups alone."""
        rows = self.rows_of(groups)
        labels = None if self.groups is None else np.searchsorted(groups, self.groups[rows])
        bias = self.bias and len(rows) > 0 and rows[-1] == self.X.n_columns - 1
        chance, factor = (None if of_all is None else of_all[groups] for of_all in (self.chance, self.factor))
        return replace(self, X=self.X.take(rows), groups=labels, chance=chance, factor=factor, bias=bias)


@dataclass(frozen=True)
class History:
    """One entry per outer step."""

    objective: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def append(self, objective: float, gap: float, active: int, seconds: float) -> None:
        self.objective.append(objective)
        self.gap.append(gap)
        self.active.append(active)
        self.seconds.append(seconds)

    def __str__(self) -> str:
        steps = zip(self.objective, self.gap, self.active, self.seconds, strict=True)
        lines = (f"{i:5d} {o:14.8g} {g:12.3e} {a:10d} {t:10.3f}" for i, (o, g, a, t) in enumerate(steps, 1))
        return "\n".join([" step      objective  certificate       rows    seconds", *lines])

    def as_arrays(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(values) for name, values in vars(self).items()}


@dataclass
class Survival:
    """How long each group was alive, which ranks also those outside the support: see ``dsofs.ranking``."""

    step: Ints  # the last step at which the group was alive
    share: Floats  # its norm at that step, relative to the largest then
    now: int = 0
    largest: float = 0.0  # norm there ever was

    @classmethod
    def start(cls, n_groups: int) -> Survival:
        return cls(np.zeros(n_groups, dtype=np.intp), np.zeros(n_groups))

    @property
    def alive(self) -> Bools:
        return self.step == self.now

    def copy(self) -> Survival:
        return Survival(self.step.copy(), self.share.copy(), self.now, self.largest)

    def part(self, groups: Ints) -> Survival:
        return replace(self, step=self.step[groups], share=self.share[groups])

    def with_part(self, groups: Ints, part: Survival) -> Survival:
        """What ``part`` recorded of these groups; the others have been zero meanwhile."""
        step, share = self.step.copy(), self.share.copy()
        step[groups], share[groups] = part.step, part.share
        return replace(part, step=step, share=share)

    def record(self, norms: Floats) -> None:
        self.now += 1
        largest = float(norms.max())
        share = norms / max(largest, TINY)
        alive = share > ALIVE
        self.step[alive], self.share[alive] = self.now, share[alive]
        never = (self.step == 0).nonzero()[0]
        if len(never):
            self.share[never] = np.maximum(share[never], self.share[never])
        self.largest = max(self.largest, largest)


@dataclass(frozen=True)
class Solution:
    """W with the multipliers B (= Y o A) that certify it, and the history of the fit."""

    W: Floats
    B: Floats
    status: Status
    objective: float  # sum_g ||W_g||^p, plus p times the cost of slack
    certificate: float  # relative duality gap for p >= 1, largest relative violation of stationarity below
    history: History
    survival: Survival
    free: Floats  # the weights V of the rows that are not penalised
    conflicts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def n_iter(self) -> int:
        return len(self.history.objective)


# The terms of the objective: the penalty on W, what slack costs, and what each of them is in the dual.


@dataclass(frozen=True)
class Penalty:
    """(1/p) sum_g n_g^p of the norms n_g = ||W_g|| of the groups, with one p or one for each of them.

    Bounded by a square,  (1/p) n^p <= 1/2 n^2 / d + const  with equality at  d = n^(2-p).
    Its conjugate is  (1/q) sum_g g_g^q,  1/p + 1/q = 1,  and at p = 1 the constraint  g_g <= 1.
    """

    p: float | Floats

    def value(self, norms: Floats) -> float:
        return float(self.terms(norms).sum())

    def terms(self, norms: Floats) -> Floats:
        """Of the groups that are not zero, NaN among them."""
        present = norms != 0
        p = self._at(present)
        return np.asarray(norms[present] ** p / p)

    def weights(self, norms: Floats) -> Floats:
        """d: equality in the bound, so the inner step cannot raise the objective."""
        weights = np.zeros_like(norms)
        present = (norms > 0) | (self.p == 2)  # at p = 2 a row of zeros has weight 1 like all others
        weights[present] = norms[present] ** (2 - self._at(present))
        return weights

    def conjugates(self, g: Floats) -> list[Conjugate]:
        """The conjugates of the groups of each p > 1; g holds ||X_g'B|| of every group."""
        if not isinstance(self.p, np.ndarray):
            return [Conjugate.of(g, self.p)] if self.p > 1 else []
        return [Conjugate.of(g[self.p == p], p) for p in np.unique(self.p) if p > 1]

    def largest_multiple(self, g: Floats) -> float:
        """The largest t for which t g keeps the constraints of p = 1."""
        if isinstance(self.p, np.ndarray):
            g = g[self.p == 1]
        elif self.p != 1:
            return np.inf
        largest = float(g.max(initial=0.0))
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


def one_column(function: Callable[[Floats], Floats], C: Floats) -> Floats:
    """An elementwise function of C, which takes no more room than C if that repeats one column, as it mostly does."""
    return np.broadcast_to(function(C[:, :1]), C.shape) if C.strides[1] == 0 else function(C)


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
        return 0.5 * float((self.slack * a**2).sum())  # xi = s a; no infinite C times nothing

    def conjugates(self, B: Floats) -> list[Conjugate]:
        return [Conjugate.of(np.sqrt(self.slack) * np.abs(B), 2.0)]

    def largest_multiple(self, B: Floats) -> float:
        return np.inf


class Squared(SquaredHinge):
    """Equalities:  1/2 sum C xi^2,  xi = 1 - t  of any sign.     a = xi / s,     conjugate 1/2 sum s a^2."""

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
