"""What is solved: ``Problem``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dsofs.design.interface import Design
from dsofs.design.norms import group_norms, row_norms
from dsofs.design.types import Bools, Floats, Ints
from dsofs.problem.losses import Hinge, Loss, Squared, SquaredHinge
from dsofs.problem.penalties import Penalty

SUPPORT = 1e-6  # rows below this part of the largest are on their way out and not part of the support


@dataclass(frozen=True)
class Terms:
    """The terms of an objective that has several: 0 is that of the rows of W, the others are those of residuals."""

    of_group: Ints  # in increasing order
    size: Floats  # of each term, a norm that the largest of its groups is not measured below: 0 if there is none


@dataclass(frozen=True)
class Problem:
    """The l_{2,p} problem of Eqns. 4 to 6, with slack where ``C`` is finite.

        minimise  (1/p) sum_g ||W_g||_F^p  +  1/2 sum_ij C_ij xi_ij^2      (loss="squared_hinge"; "hinge": sum C xi)
        subject to  Y o (X W) >= 1 - xi   (constraint="margin")    or    X W = Y + xi   (constraint="equality")

    ``C`` is given for every sample and column; infinity, or None for all, is a hard constraint. ``importance``
    multiplies the C that is chosen for a sample. With ``bias`` the last row of W is no feature. ``chance`` is how
    much each group explains by chance, beside a single column: rankings make allowance for it.

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
        return (Squared if self.constraint == "equality" else SquaredHinge)(1.0 / self.C)

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
        labels = rows if self.groups is None else self.groups[rows]
        return group_norms(W, labels, self.n_groups)

    def dual_norms(self, B: Floats) -> Floats:
        """||X_g'B||_F of every group."""
        return group_norms(self.X.dual_norms(B)[:, None], self.groups, self.n_groups)

    def shares(self, norms: Floats) -> Floats:
        """The norms of all groups, relative to the largest within the term of the group."""
        tiny = np.finfo(np.float64).tiny
        if self.terms is None:
            return norms / max(norms.max(), tiny)
        largest = np.maximum(self.terms.size, tiny)
        np.maximum.at(largest, self.terms.of_group, norms)
        return norms / largest[self.terms.of_group]

    def of_W(self, values: Floats) -> Floats:
        """Of values for all groups those of the rows of W, without residuals."""
        return values if self.terms is None else values[: np.count_nonzero(self.terms.of_group == 0)]

    def without_features(self, W: Floats) -> bool:
        """Whether no row of W is left but that of the bias, or not even that."""
        norms = row_norms(W)
        return bool(norms[: len(norms) - self.bias].max(initial=0.0) <= SUPPORT * norms.max(initial=0.0))

    def with_C(self, C: Floats) -> Problem:
        return replace(self, C=C)

    def rows_of(self, groups: Ints) -> Ints:
        """The rows of W of these groups."""
        return groups if self.groups is None else np.flatnonzero(np.isin(self.groups, groups))

    def part(self, groups: Ints) -> Problem:
        """The same problem on these groups alone."""
        rows = self.rows_of(groups)
        labels = None if self.groups is None else np.searchsorted(groups, self.groups[rows])
        bias = self.bias and rows[-1] == self.X.n_columns - 1
        chance = None if self.chance is None else self.chance[groups]
        return replace(self, X=self.X.take(rows), groups=labels, chance=chance, bias=bias)
