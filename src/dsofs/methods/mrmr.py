"""Minimum redundancy, maximum relevance (Peng, Long and Ding 2005; Ding and Peng 2005).

Features are chosen one at a time: first the most relevant one, then always the one of largest

    relevance - mean redundancy with those chosen   (a difference: MID, FCD)     or
    relevance / mean redundancy with those chosen   (a quotient: MIQ, FCQ).

Each step needs the redundancy of the feature chosen last with all others, and adds it to a running sum: choosing k of n
features takes k passes over the data and memory for n numbers, never an n x n matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse
from scipy.special import xlogy

from dsofs.design.budget import Budget, cuts, refuse_if_too_big, single_threaded
from dsofs.design.interface import Design
from dsofs.design.linalg import dense
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.methods.shared.base import N_FEATURES_RULE, RankedSelector, standard_design
from dsofs.methods.shared.scored import f_statistics
from dsofs.ranking import rank_kept, two_tier_scores
from dsofs.validation import (
    NONE,
    Rule,
    all_or_nothing,
    check_codes,
    check_parameters,
    check_weighted_X_y,
    indicators,
    integer,
    options,
    wrong_sample_weight,
)

# A value as far from the mean as the standard deviation, up to rounding, counts as beyond it: all values of a balanced
# binary feature lie there, and it would be left with one state.
AT_ONE_DEVIATION = 1 - 1e-9
# Two features can be exactly independent in a sample; a quotient needs a denominator.
LEAST_REDUNDANCY = 1e-9
# Criteria that agree to this many decimals, in units of the largest, are a tie: the first feature wins it, so that the
# order of summation does not matter.
TIE_DECIMALS = 12


def by_deviation(x: Floats, n_bins: int, weights: Floats | None = None) -> Ints:
    """Peng, Long and Ding's three states: below mean - std, above mean + std, and between."""
    largest = np.abs(x).max(axis=0)
    x = x / np.where(largest == 0, 1.0, largest)  # its square neither over- nor underflows
    deviation = x - np.average(x, axis=0, weights=weights)
    limit = AT_ONE_DEVIATION * np.sqrt(np.average(deviation**2, axis=0, weights=weights))
    return 1 + (deviation >= limit).astype(np.intp) - (deviation <= -limit)


def by_quantile(x: Floats, n_bins: int, weights: Floats | None = None) -> Ints:
    """``n_bins`` states of equal frequency, up to ties."""
    q = np.arange(1, n_bins) / n_bins
    edges = np.quantile(x, q, axis=0) if weights is None else weighted_quantiles(x, q, weights)
    return np.column_stack([np.searchsorted(bounds, column) for bounds, column in zip(edges.T, x.T, strict=True)])


def weighted_quantiles(x: Floats, q: Floats, weights: Floats) -> Floats:
    """``np.quantile`` of x with its rows repeated: between the values at floor and ceil of q (total - 1).

    Weights that add up to less than the number of rows are relative.
    """
    weights = weights * max(1.0, len(weights) / weights.sum())
    order = np.argsort(x, axis=0)
    ends = np.cumsum(weights[order], axis=0)  # the value in row k takes the places from the end of row k - 1 on
    place = q * (weights.sum() - 1)
    low, high = (
        np.stack([_at(x[:, j], order[:, j], ends[:, j], whole) for j in range(x.shape[1])], axis=1)
        for whole in (np.floor(place), np.ceil(place))
    )
    part = (place - np.floor(place))[:, None]
    step = high - low
    return np.where(part < 0.5, low + part * step, high - (1 - part) * step)  # as NumPy rounds


def _at(column: Floats, order: Ints, ends: Floats, places: Floats) -> Floats:
    """The values at these places of the repeated column, in increasing order."""
    return column[order[np.minimum(np.searchsorted(ends, places, side="right"), len(column) - 1)]]


def as_given(x: Floats, n_bins: int, weights: Floats | None = None) -> Ints:
    """Every distinct whole number of a column is a state."""
    above = x - x.min(axis=0)
    if above.max() < len(x):  # codes already, but for where they start; states that do not occur do no harm
        return above.astype(np.intp)
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in x.T])


DISCRETIZERS: dict[str | None, Callable[[Floats, int, Floats | None], Ints]] = {
    "std": by_deviation,
    "quantile": by_quantile,
    None: as_given,
}


def code_type(rule: str | None, n_bins: int, n_samples: int) -> np.dtype[Any]:
    """The smallest integers that hold every state."""
    return np.min_scalar_type({"std": 3, "quantile": n_bins, None: n_samples}[rule])


def discretized(X: AnyArray, rule: str | None, n_bins: int, weights: Floats | None = None) -> Ints:
    """States 0, 1, ... of every value of X, whose samples count by their weights."""
    codes = np.empty(X.shape, dtype=code_type(rule, n_bins, X.shape[0]), order="F")
    columns = csc_array(X) if issparse(X) else X
    for part in cuts(X.shape[1], Budget().columns(X.shape[0])):  # a cache-sized piece at a time
        codes[:, part] = DISCRETIZERS[rule](dense(columns[:, part]), n_bins, weights)
    return codes


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
        """Dependence of every feature on this one."""
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


Measure = MutualInformation | FTestCorrelation  # how features depend on the classes, and on each other


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


RULES: dict[str, Rule] = {
    "n_features_to_select": N_FEATURES_RULE,
    "scheme": options(*SCHEMES),
    "discretize": options(*(name for name in DISCRETIZERS if name)) | NONE,
    "n_bins": integer(2),
    "memory_limit": integer(1) | NONE,
}


class MRMRSelector(RankedSelector):
    """Features that say much about the classes and little about each other (mRMR).

    Chooses one feature at a time: the one of largest relevance for the classes, less (or divided by) its mean
    redundancy with those already chosen.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features are chosen, and how many ``transform`` keeps. May be changed after ``fit``: a smaller number
        keeps the first of those chosen; a larger one adds the most relevant of the others, whose redundancy was not
        considered. So fit with the largest number that you will need.
    scheme : {"MID", "MIQ", "FCD", "FCQ"}, default="MID"
        Mutual information of discretised features (MI), or the F-statistic and absolute correlations of continuous
        ones (FC); relevance minus redundancy (D), or divided by it (Q).
    discretize : {"std", "quantile"} or None, default="std"
        For MI: three states, cut one standard deviation below and above the mean, as in the paper; ``n_bins`` states of
        equal frequency; or None, where X holds codes (whole numbers).
    n_bins : int, default=3
        Number of states with ``discretize="quantile"``.
    memory_limit : int or None, default=None
        Bytes that the fit may use beyond X; None is the free memory. More is refused before it is allocated.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Above 1, up to 2: chosen, the higher the earlier. From 0 to 1: not chosen, relevance relative to the largest of
        these.
    ranking_ : ndarray of shape (n_features,)
        1 is best; a permutation of 1..n_features. Constant features come last.
    relevance_ : ndarray of shape (n_features,)
        Mutual information with the classes in nats, or the F-statistic; 0 for constant features.
    criterion_ : ndarray of shape (n_features,)
        The criterion of a feature when it was chosen, for thresholds; NaN if it was not chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray, if X came with names

    See Also
    --------
    DSOSelector : Direct sparsity optimisation, with its default settings.
    ReliefFSelector : Differences between near samples; finds interactions.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dsofs import MRMRSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> MRMRSelector(8).fit(X, y).transform(X).shape
    (1797, 8)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        scheme: str = "MID",
        discretize: str | None = "std",
        n_bins: int = 3,
        memory_limit: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.discretize = discretize
        self.n_bins = n_bins
        self.memory_limit = memory_limit

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None = None) -> MRMRSelector:
        """Choose features of X that tell the classes of y apart and are not redundant.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A sample of weight v counts as v equal samples, and one of weight 0 is ignored. None: all weights are 1.
        """
        check_parameters(self, RULES, others=wrong_sample_weight(self, sample_weight, y))
        X, classes, _, weights, _ = check_weighted_X_y(self, X, y, sample_weight)
        n = self.n_features_in_
        self._warn_if_too_many()
        with single_threaded():  # its many products are small
            kept, measure = self._measure(X, classes, weights)
            order, values = greedy_order(measure, self.scheme, min(self._n_selected(n), len(kept)))
        self.relevance_, self.criterion_ = np.zeros(n), np.full(n, np.nan)
        self.relevance_[kept], self.criterion_[kept[order]] = measure.relevance, values
        turn = np.zeros(len(kept))
        turn[order] = np.arange(len(order), 0, -1)
        self.scores_, self.ranking_ = rank_kept(two_tier_scores(turn, measure.relevance), kept, n)
        return self

    def _measure(self, X: AnyArray, classes: Ints, weights: Floats | None) -> tuple[Ints, Measure]:
        """Which features are not constant, and how they depend on the classes and on each other."""
        design, _ = standard_design(self, X, sample_weight=weights)
        kept = design.kept
        if self.scheme.startswith("FC"):
            return kept, FTestCorrelation(design.compact(), classes)
        if self.discretize is None:
            check_codes(self, X)
        n_bytes = code_type(self.discretize, self.n_bins, len(classes)).itemsize * X.shape[0] * X.shape[1]
        refuse_if_too_big(n_bytes, self.memory_limit, type(self).__name__)
        codes = discretized(X, self.discretize, self.n_bins, weights)
        return kept, MutualInformation(codes if len(kept) == X.shape[1] else codes[:, kept], classes, weights)


def make(k: int, seed: int = 0, **parameters: Any) -> MRMRSelector:
    return MRMRSelector(k, **parameters)
