"""Differences to be expected where values are missing (Kononenko's rule, as in the textbook, for categories).

A missing value is taken as a random one, drawn from the known values of the sample's class. The difference of i and j
is then its expectation. For categories that is

    1 - P(v_j | class of i)                                  if i is missing,
    1 - sum_v P(v | class of i) P(v | class of j)            if both are,

and for numbers the mean of |v - v_j| or |v - v'| over the known values v, v' of those classes. A class without a known
value takes those of all classes.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from dsofs.design.types import Floats, Ints


class ExpectedDifferences:
    """diff(i, j) of one feature x, scaled to [0, 1], with NaN where it is missing."""

    def __init__(self, x: Floats, categorical: bool, groups: Ints) -> None:
        self.missing = np.isnan(x)
        self.x, self.categorical, self.groups = np.where(self.missing, 0.0, x), categorical, groups
        members = [self._known_members(group) for group in range(int(groups.max()) + 1)]
        self.of_groups = np.stack([mean_difference(self.x[known], self.x, categorical) for known in members])
        self.between_groups = np.stack([self.of_groups[:, known].mean(axis=1) for known in members], axis=1)

    def between(self, i: Ints, j: Ints) -> Floats:
        """diff(i, j) for pairs of samples."""
        a, b = self.x[i], self.x[j]
        known = (a != b).astype(np.float64) if self.categorical else np.abs(a - b)
        groups, others = self.groups[i], self.groups[j]
        of_missing = np.where(self.missing[j], self.between_groups[groups, others], self.of_groups[groups, j])
        of_known = np.where(self.missing[j], self.of_groups[others, i], known)
        return np.where(self.missing[i], of_missing, of_known)

    def of(self, rows: Ints) -> Floats:
        """diff(i, j) for i in ``rows`` and every j."""
        return self.between(rows[:, None], np.arange(len(self.x)))

    def weighted_sum(self, S: csr_array) -> float:
        """sum_ij S_ij diff(i, j)."""
        pairs = S.tocoo()
        return float(pairs.data @ self.between(*pairs.coords))

    def _known_members(self, group: int) -> Ints:
        members = np.flatnonzero(~self.missing & (self.groups == group))
        return members if len(members) else np.flatnonzero(~self.missing)


def mean_difference(values: Floats, x: Floats, categorical: bool) -> Floats:
    """Mean difference of each x to all ``values``, from their order and its running sum."""
    v = np.sort(values)
    below = np.searchsorted(v, x)
    if categorical:
        return 1 - (np.searchsorted(v, x, side="right") - below) / len(v)
    sums = np.concatenate([[0.0], np.cumsum(v)])
    return (x * (2 * below - len(v)) + sums[-1] - 2 * sums[below]) / len(v)
