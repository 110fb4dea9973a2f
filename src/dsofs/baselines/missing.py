"""Differences to be expected where values are missing (Kononenko's rule, as in the textbook, for categories).

A missing value is taken as a random one, drawn from the known values of the sample's class. The difference of i and j
is then its expectation. For categories that is

    1 - P(v_j | class of i)                                  if i is missing,
    1 - sum_v P(v | class of i) P(v | class of j)            if both are,

and for numbers the mean of |v - v_j| or |v - v'| over the known values v, v' of those classes. A class without a known
value takes those of all classes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from dsofs.arrays.memory import BLOCK_BYTES, DOUBLE
from dsofs.arrays.types import Floats, Ints
from dsofs.labels import indicators


class ExpectedDifferences:
    """diff(i, j) of one feature x, scaled to [0, 1], with NaN where it is missing."""

    def __init__(self, x: Floats, categorical: bool, groups: Ints) -> None:
        self.x, self.categorical, self.groups = np.nan_to_num(x), categorical, groups
        self.missing = np.isnan(x)
        P = indicators(groups, int(groups.max()) + 1).T * ~self.missing  # how likely each known value is, by group
        P[P.sum(axis=1) == 0] = ~self.missing
        P /= P.sum(axis=1, keepdims=True)
        self.of_groups = np.zeros_like(P)
        for rows in self._row_blocks():
            self.of_groups += P[:, rows] @ self._known(rows)
        self.between_groups = self.of_groups @ P.T

    def of(self, rows: Ints | slice) -> Floats:
        """diff(i, j) for i in ``rows`` and every j."""
        D = self._known(rows)
        groups, gap = self.groups[rows], self.missing[rows]
        D[:, self.missing] = self.of_groups[self.groups[self.missing]][:, rows].T
        D[gap] = self.of_groups[groups[gap]]
        D[np.ix_(gap, self.missing)] = self.between_groups[np.ix_(groups[gap], self.groups[self.missing])]
        return D

    def weighted_sum(self, S: csr_array) -> float:
        """sum_ij S_ij diff(i, j)."""
        return float(sum(S[rows].multiply(self.of(rows)).sum() for rows in self._row_blocks()))

    def _known(self, rows: Ints | slice) -> Floats:
        """Differences where both values are known."""
        a, b = self.x[rows, None], self.x
        return (a != b).astype(np.float64) if self.categorical else np.abs(a - b)

    def _row_blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK_BYTES // (DOUBLE * len(self.x)))
        return (slice(first, first + step) for first in range(0, len(self.x), step))
