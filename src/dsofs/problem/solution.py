"""What comes back: ``Solution``, and how it was reached."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from dsofs.design.types import Bools, Floats, Ints

ALIVE = 1e-3  # a group is alive while its norm is above this part of the largest


class Status(Enum):
    """How a fit ended: the name is ``status_``, the value is the sentence that the user reads."""

    CONVERGED = "the certificate is within tol"
    CONVERGED_WITH_SLACK = "the certificate is within tol; slack was allowed where hard constraints cannot be met"
    RELAXED = "the alternation came to rest; X has not full row rank, so X W = Y + E was relaxed to least squares"
    ZERO = "misfit costs so little that W = 0 is the best"
    STALLED = "the objective came to rest before the certificate reached tol"
    MAX_ITER = "max_iter was reached before the certificate reached tol"

    @property
    def short(self) -> str:
        return self.name.lower()

    @property
    def converged(self) -> bool:
        return self in (Status.CONVERGED, Status.CONVERGED_WITH_SLACK)


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
    """How long each group lived, which ranks more of them than the support: see ``dsofs.ranking``."""

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
        share = norms / max(norms.max(), np.finfo(float).tiny)
        alive = share > ALIVE
        self.step[alive] = self.now
        update = alive | (self.step == 0)
        self.share[update] = np.where(alive, share, np.maximum(share, self.share))[update]
        self.largest = max(self.largest, float(norms.max()))


@dataclass(frozen=True)
class Solution:
    """W with the multipliers B (= Y o A) that certify it, and the way it was reached."""

    W: Floats
    B: Floats
    status: Status
    objective: float  # sum_g ||W_g||^p, plus p times the cost of slack
    certificate: float  # relative duality gap for p >= 1, largest relative violation of stationarity below
    history: History
    survival: Survival
    conflicts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def n_iter(self) -> int:
        return len(self.history.objective)
