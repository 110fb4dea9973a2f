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

from dsofs.arrays.memory import BLOCK_BYTES, DOUBLE
from dsofs.arrays.types import Floats, Ints


class ExpectedDifferences:
    """diff(i, j) of one feature x, scaled to [0, 1], with NaN where it is missing."""

    def __init__(self, x: Floats, categorical: bool, groups: Ints) -> None:
        self.missing = np.isnan(x)
        self.x, self.categorical, self.groups = np.where(self.missing, 0.0, x), categorical, groups
        members = [self._known_members(group) for group in range(int(groups.max()) + 1)]
        self.of_groups = np.stack([mean_difference(self.x[known], self.x, categorical) for known in members])
        self.between_groups = np.stack([self.of_groups[:, known].mean(axis=1) for known in members], axis=1)

    def of(self, rows: Ints) -> Floats:
        """diff(i, j) for i in ``rows`` and every j."""
        a, b = self.x[rows, None], self.x
        D = (a != b).astype(np.float64) if self.categorical else np.abs(a - b)
        groups, gap = self.groups[rows], self.missing[rows]
        D[:, self.missing] = self.of_groups[self.groups[self.missing]][:, rows].T
        D[gap] = self.of_groups[groups[gap]]
        D[np.ix_(gap, self.missing)] = self.between_groups[np.ix_(groups[gap], self.groups[self.missing])]
        return D

    def weighted_sum(self, S: csr_array) -> float:
        """sum_ij S_ij diff(i, j)."""
        rows = np.flatnonzero(np.diff(S.indptr))
        step = max(1, BLOCK_BYTES // (DOUBLE * len(self.x)))
        blocks = (rows[first : first + step] for first in range(0, len(rows), step))
        return float(sum(S[block].multiply(self.of(block)).sum() for block in blocks))

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
