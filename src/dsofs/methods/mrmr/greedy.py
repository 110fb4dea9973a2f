"""Minimum redundancy, maximum relevance (Peng, Long and Ding 2005; Ding and Peng 2005).

Features are chosen one at a time: first the most relevant one, then always the one of largest

    relevance - mean redundancy with those chosen   (a difference: MID, FCD)     or
    relevance / mean redundancy with those chosen   (a quotient: MIQ, FCQ).

Each step needs the redundancy of the feature chosen last with all others, and adds it to a running sum: choosing k of n
features takes k passes over the data and memory for n numbers, never an n x n matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.special import xlogy

from dsofs.design.budget import Budget, cuts
from dsofs.design.interface import Design
from dsofs.design.types import Floats, Ints
from dsofs.validation import indicators

# Two features can be exactly independent in a sample; a quotient needs a denominator.
LEAST_REDUNDANCY = 1e-9
# Criteria that agree to this many decimals, in units of the largest, are a tie: the first feature wins it, so that the
# order of summation does not matter.
TIE_DECIMALS = 12
NOTHING_WITHIN = 1e-12  # a part of the variance within the classes that rounding can leave


class Measure(Protocol):
    """How features depend on the classes and on each other."""

    relevance: Floats

    def redundancy(self, feature: int) -> Floats:
        """Dependence of every feature on this one."""


class MutualInformation:
    """I(a; b) = H(a) + H(b) - H(a, b) in nats, of features given as codes 0, 1, ... and of the classes."""

    def __init__(self, codes: Ints, classes: Ints, weights: Floats | None = None) -> None:
        self.codes, self.weights = codes, weights
        self.total = float(len(codes) if weights is None else weights.sum())
        self.n_states = int(codes.max()) + 1
        whole = np.arange(len(codes) + 1.0)
        self._table = xlogy(whole, whole)  # of every count there can be, without weights
        self.entropy = self._joint_entropy(np.zeros(len(codes), dtype=np.intp))
        self.relevance = self._with(classes)

    def redundancy(self, feature: int) -> Floats:
        return self._with(self.codes[:, feature])

    def _with(self, variable: Ints) -> Floats:
        own = np.log(self.total) - self._n_log_n(np.bincount(variable, self.weights)).sum() / self.total
        return np.maximum(self.entropy + own - self._joint_entropy(variable), 0.0)

    def _joint_entropy(self, variable: Ints) -> Floats:
        """H(feature, variable) of every feature, from the counts that a product of indicators gives."""
        m, n = self.codes.shape
        kind = "f4" if self.weights is None else "f8"  # single precision counts exactly up to 2^24
        states = indicators(variable, int(variable.max()) + 1).astype(kind).T
        if self.weights is not None:
            states = states * self.weights
        total = np.zeros(n)
        for part in cuts(n, Budget().columns(m)):
            for state in range(self.n_states):
                counts = states @ (self.codes[:, part] == state).astype(kind)
                total[part] += self._n_log_n(counts).sum(axis=0)
        return np.log(self.total) - total / self.total

    def _n_log_n(self, counts: np.ndarray) -> Floats:
        if self.weights is None:
            return self._table[counts.astype(np.intp)]
        return np.asarray(xlogy(counts, counts))


class FTestCorrelation:
    """The F-statistic of each feature over the classes, and absolute correlations, of standardised columns Z."""

    def __init__(self, Z: Design, classes: Ints) -> None:
        self.design = Z
        self.relevance = f_statistics(Z, classes)

    def redundancy(self, feature: int) -> Floats:
        column = self.design.block(np.array([feature])).on_host()
        return np.abs(self.design.tdot(self.design.weighted(column))[:, 0]) / self.design.total_weight


def f_statistics(Z: Design, classes: Ints) -> Floats:
    """F of a one-way analysis of variance of every standardised column: the sum of its squares is m."""
    m, sizes = Z.total_weight, np.bincount(classes, Z.sample_weight)
    sums = Z.tdot(Z.weighted(indicators(classes, len(sizes))))
    between = np.sum(sums**2 / sizes, axis=1)
    # Classes that a feature tells apart without error leave nothing within, up to rounding.
    within = np.maximum(m - between, m * NOTHING_WITHIN)
    return (between / (len(sizes) - 1)) / (within / max(Z.sample_size - len(sizes), 1))


def difference(relevance: Floats, redundancy: Floats) -> Floats:
    return relevance - redundancy


def quotient(relevance: Floats, redundancy: Floats) -> Floats:
    return relevance / np.maximum(redundancy, LEAST_REDUNDANCY)


SCHEMES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "MID": difference,
    "MIQ": quotient,
    "FCD": difference,
    "FCQ": quotient,
}


def greedy_order(measure: Measure, scheme: str, k: int) -> tuple[Ints, Floats]:
    """The first k features in the order in which they are chosen, and the criterion at which each was."""
    relevance = measure.relevance
    free, redundancy = np.ones(len(relevance), dtype=bool), np.zeros(len(relevance))
    chosen, values = np.empty(k, dtype=np.intp), np.empty(k)
    criterion = relevance
    for size in range(k):
        if size:
            redundancy += measure.redundancy(chosen[size - 1])
            criterion = SCHEMES[scheme](relevance, redundancy / size)
        largest = max(float(np.abs(criterion).max()), np.finfo(np.float64).tiny)
        best = int(np.argmax(np.where(free, np.round(criterion / largest, TIE_DECIMALS), -np.inf)))
        chosen[size], values[size] = best, criterion[best]
        free[best] = False
    return chosen, values
