"""Row norms, group norms and sums, and the l_{r,p} norm of the paper's Eqn. 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsofs.design.budget import cuts
from dsofs.design.interface import Design
from dsofs.design.linalg import row_norms as row_norms
from dsofs.design.types import Floats, Ints


def lrp_norm(A: Floats, r: float = 2.0, p: float = 1.0) -> float:
    """The l_{r,p} norm of a matrix, Eqn. 1: (sum_i ||a_i||_r^p)^(1/p), for r, p > 0.

    Below 1 it is not a norm (no triangle inequality), which nothing here needs.
    """
    if not (r > 0 and p > 0):
        raise ValueError(f"lrp_norm needs r > 0 and p > 0. Got r={r!r}, p={p!r} instead.")
    A = np.abs(np.atleast_2d(np.asarray(A, dtype=np.float64)))
    largest = float(A.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    # Scaled by the largest entry, so that no power over- or underflows on the way.
    rows = np.sum((A / largest) ** r, axis=1) ** (1.0 / r)
    return largest * float(np.sum(rows**p)) ** (1.0 / p)


def group_norms(W: Floats, groups: Ints | None, n_groups: int) -> Floats:
    """||W_g||_F for each group of rows; with ``groups=None`` every row is its own group."""
    if groups is None:
        return row_norms(W)
    squares = np.einsum("ij,ij->i", W, W)
    return np.sqrt(np.bincount(groups, weights=squares, minlength=n_groups))


@dataclass(frozen=True)
class GroupSums:
    """Adds up the columns of each group."""

    order: Ints  # of the columns, group by group
    labels: Ints  # their groups, in that order
    n_groups: int

    @classmethod
    def of(cls, groups: Ints, n_groups: int) -> GroupSums:
        """``groups``: that of every column; each of them has at least one."""
        order = np.argsort(groups, kind="stable")
        return cls(order, groups[order], n_groups)

    def of_columns(self, A: Floats) -> Floats:
        return np.add.reduceat(A.take(self.order, axis=1), _starts(self.labels), axis=1)

    def of_design(self, X: Design, samples: Ints, g: Floats) -> Floats:
        """Of the columns of X times g, for some samples: a few columns at a time, as few groups may have many."""
        sums = np.zeros((len(samples), self.n_groups))
        for part in cuts(len(self.order), X.budget.columns(X.n_samples)):
            columns, place = np.unique(self.order[part], return_inverse=True)
            labels = self.labels[part]
            starts = _starts(labels)
            Z = X.block(columns).on_host().take(samples, axis=0) * g[columns]
            sums[:, labels[starts]] += np.add.reduceat(Z.take(place, axis=1), starts, axis=1)
        return sums


def _starts(labels: Ints) -> Ints:
    """Where each run of equal labels begins."""
    return np.flatnonzero(np.diff(labels, prepend=-1))
