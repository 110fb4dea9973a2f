"""Labellings that would be as likely as the true one if the features said nothing about the classes.

Without groups every labelling with the same class counts is. Samples of one group (a patient) belong together, so with
groups only these exchange their labels:

* pure groups, whose samples all have one label: the labels move among the pure groups, of any size;
* mixed groups: their label vectors move among the mixed groups of equal size, and labels move within each group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from dsofs.design.types import Floats, Ints


def shuffle_labels(codes: Ints, groups: Ints | None, rng: np.random.Generator) -> Ints:
    """One of these labellings, each as likely as any other."""
    if groups is None:
        return rng.permutation(codes)
    pure, mixed = _exchangeable(codes, groups)
    shuffled = codes.copy()
    for rows, label in zip(pure, rng.permutation(_labels(codes, pure)), strict=True):
        shuffled[rows] = label
    for rows in mixed:
        shuffled[rows] = rng.permuted(codes[rows][rng.permutation(len(rows))], axis=1)
    return shuffled


def smallest_p(codes: Ints, groups: Ints | None) -> float:
    """The smallest p-value that all these labellings together allow.

    Of N labellings, those equal to the true one up to the names of the classes predict as well as it does::

        smallest p = (number of renamings that lead to one of the N) / N

    Classes are taken to be interchangeable if the sets of counts they have in the groups agree.
    """
    n_classes = int(codes.max()) + 1
    of_pure, mixed = np.bincount(codes), list[Ints]()
    if groups is not None:
        pure, mixed = _exchangeable(codes, groups)
        of_pure = np.bincount(_labels(codes, pure), minlength=n_classes)
    log_labellings = _log_arrangements(of_pure)
    counts = [of_pure[None, :]]
    for rows in mixed:
        within = np.stack([np.bincount(codes[group], minlength=n_classes) for group in rows])
        log_labellings += _log_arrangements(np.unique(within, axis=0, return_counts=True)[1])
        log_labellings += sum(_log_arrangements(group) for group in within)
        counts.append(np.sort(within, axis=0))
    alike = np.unique(np.concatenate(counts), axis=1, return_counts=True)[1]
    return float(np.exp(min(0.0, float(np.sum(gammaln(alike + 1.0))) - log_labellings)))


def _exchangeable(codes: Ints, groups: Ints) -> tuple[list[Ints], list[Ints]]:
    """The rows of each pure group, and for each size of mixed groups their rows (groups x size)."""
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    pure = [rows for rows in members if (codes[rows] == codes[rows[0]]).all()]
    mixed = [rows for rows in members if (codes[rows] != codes[rows[0]]).any()]
    return pure, [np.stack([rows for rows in mixed if len(rows) == size]) for size in sorted({len(r) for r in mixed})]


def _labels(codes: Ints, pure: list[Ints]) -> Ints:
    """The one label of each pure group."""
    return np.array([codes[rows[0]] for rows in pure], dtype=np.intp)


def _log_arrangements(counts: Sequence[int] | Ints | Floats) -> float:
    """log of the number of orders of a multiset with these counts: (sum counts)! / prod counts!"""
    counts = np.asarray(counts, dtype=np.float64)
    return float(gammaln(counts.sum() + 1) - np.sum(gammaln(counts + 1)))
