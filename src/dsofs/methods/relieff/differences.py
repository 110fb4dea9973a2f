"""How far samples are apart, feature by feature and over all features: diff_f(i, j) in [0, 1].

* A number: |x_i - x_j| over the range of the feature.
* A category: 0 if equal, 1 if not. Its indicator columns, halved, have that as the sum of their differences, so a
  category is a few more columns of numbers.
* A missing value: the difference to be expected, see ``ExpectedDifferences``.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse, triu

from dsofs.design.budget import DOUBLE, Budget, Team, cuts
from dsofs.design.linalg import dense
from dsofs.design.standard import CONSTANT
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.methods.relieff.kernels import choose_kernels

CACHE_BYTES = 2**20  # columns that are compared at once: they should stay in a core's own cache
DEFAULT = Budget()
FEWEST_COLUMNS = 128  # of a piece, so that loops along it are worth starting


class Differences:
    """The differences of X (dense or sparse, NaN where a value is missing), a few columns at a time."""

    def __init__(self, X: AnyArray, categorical: Bools, groups: Ints, team: Team, budget: Budget = DEFAULT) -> None:
        self.X = csc_array(X) if issparse(X) else X
        self.categorical, self.groups, self.team, self.budget = categorical, groups, team, budget
        self.n_samples, self.n_features = X.shape
        self._measure_columns()
        complete = self.kept[~self.incomplete[self.kept]]
        n_columns = self.n_states[complete]
        piece_of = np.cumsum(n_columns) // max(FEWEST_COLUMNS, CACHE_BYTES // (DOUBLE * self.n_samples))
        self._parts = [part for part in np.split(complete, 1 + np.flatnonzero(np.diff(piece_of))) if len(part)]
        self._held: dict[int, tuple[Floats, Ints]] = {}
        self._hold = DOUBLE * self.n_samples * int(n_columns.sum()) <= budget.block
        self.kernels = choose_kernels(float(self.n_samples) ** 2 * self.n_features)

    def distances(self, rows: Ints) -> Floats:
        """sum_f diff_f(i, j) for i in ``rows`` and every j."""
        symmetric = np.array_equal(rows, np.arange(self.n_samples))
        D = self.team.sum(partial(self._distances_of_share, rows, symmetric))
        if symmetric:
            D = np.triu(D) + np.triu(D, 1).T
        for feature in self._features_with_gaps():
            D += self._expected(feature).of(rows)
        return D

    def _distances_of_share(self, rows: Ints, symmetric: bool, share: slice) -> Floats:
        """What one thread adds to the distances, from its pieces."""
        D = np.zeros((len(rows), self.n_samples))
        for number in range(len(self._parts))[share]:
            Z, _ = self._piece(number)
            self.kernels.add_manhattan(D, Z if symmetric else Z[rows], Z, symmetric)
        return D

    def weighted_sums(self, S: csr_array) -> Floats:
        """sum_ij S_ij diff_f(i, j) for every feature f."""
        pairs = csr_array(triu(S + S.T))  # a difference is symmetric: each pair once
        return self.team.sum(partial(self._sums_of_share, S, pairs))

    def _sums_of_share(self, S: csr_array, pairs: csr_array, share: slice) -> Floats:
        """What one thread adds to the sums, from its pieces and its features with gaps."""
        total = np.zeros(self.n_features)
        for number in range(len(self._parts))[share]:
            Z, owners = self._piece(number)
            np.add.at(total, owners, self.kernels.weighted_differences(Z, pairs))
        for feature in self._features_with_gaps()[share]:
            total[feature] = self._expected(feature).weighted_sum(S)
        return total

    def _measure_columns(self) -> None:
        """Ranges, which features vary (``kept``) or have missing values, and how many columns each takes."""
        self.low, self.half_range = np.zeros(self.n_features), np.ones(self.n_features)
        self.incomplete, varies = np.zeros((2, self.n_features), dtype=bool)
        self.n_states = np.ones(self.n_features, dtype=np.intp)
        for part in cuts(self.n_features, self.budget.columns(self.n_samples)):
            x = self._columns(part)
            low, high = np.fmin.reduce(x, axis=0), np.fmax.reduce(x, axis=0)
            self.low[part], self.half_range[part] = low, high / 2 - low / 2  # the range itself could overflow
            self.incomplete[part] = np.isnan(x).any(axis=0)
            for column in np.flatnonzero(self.categorical[part]):
                self.n_states[part.start + column] = len(np.unique(x[:, column]))
            varies[part] = self.half_range[part] > CONSTANT * np.maximum(np.abs(low), np.abs(high))
        self.kept = np.flatnonzero(varies)

    def _columns(self, part: slice | Ints) -> Floats:
        if not isinstance(part, slice) and part[-1] - part[0] == len(part) - 1:
            part = slice(part[0], part[-1] + 1)  # a view, where the others are copied one by one
        return dense(self.X[:, part])

    def _scaled(self, part: Ints) -> Floats:
        """Numbers from 0 to 1."""
        Z = self._columns(part) / 2
        Z -= self.low[part] / 2
        Z /= self.half_range[part]
        return Z

    def _piece(self, number: int) -> tuple[Floats, Ints]:
        """Columns whose absolute differences add up to those of some features, and the feature each belongs to."""
        if number in self._held:
            return self._held[number]
        part = self._parts[number]
        Z, owners = self._scaled(part), part
        categorical = self.categorical[part]
        if categorical.any():
            states = [0.5 * (column[:, None] == np.unique(column)) for column in Z[:, categorical].T]
            Z = np.column_stack([Z[:, ~categorical], *states])
            n_columns = [block.shape[1] for block in states]
            owners = np.concatenate([part[~categorical], np.repeat(part[categorical], n_columns)])
        piece = np.ascontiguousarray(Z), owners
        if self._hold:
            self._held[number] = piece
        return piece

    def _features_with_gaps(self) -> Ints:
        return self.kept[self.incomplete[self.kept]]

    def _expected(self, feature: int) -> ExpectedDifferences:
        x = self._scaled(np.array([feature]))[:, 0]
        return ExpectedDifferences(x, bool(self.categorical[feature]), self.groups)


class ExpectedDifferences:
    """diff(i, j) of one feature x, scaled to [0, 1], with NaN where it is missing (Kononenko's rule for categories).

    A missing value is taken as a random one, drawn from the known values of the sample's class. The difference of i and
    j is then its expectation. For categories that is ::

        1 - P(v_j | class of i)                                  if i is missing,
        1 - sum_v P(v | class of i) P(v | class of j)            if both are,

    and for numbers the mean of |v - v_j| or |v - v'| over the known values v, v' of those classes. A class without a
    known value takes those of all classes.
    """

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
