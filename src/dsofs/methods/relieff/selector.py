"""ReliefF (Kononenko 1994) and RReliefF (Robnik-Sikonja and Kononenko 1997): near neighbours tell features apart.

Both are a weighted sum of differences over pairs of a sample i and a near neighbour j,

    score_f = sum_ij S_ij diff_f(i, j),

where S is negative for neighbours that should be similar (of one class, or of close targets) and positive for others.
``nearest`` finds the neighbours; ``class_weights`` and ``target_weights`` are the two methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from dsofs.design.budget import DOUBLE, Team, cuts
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.methods.relieff.differences import Differences
from dsofs.methods.shared.base import N_FEATURES_RULE, RankedSelector
from dsofs.ranking import rank_kept
from dsofs.validation import (
    ANY_INT,
    ARRAY_LIKE,
    NONE,
    Rule,
    all_or_nothing,
    check_categorical,
    check_parameters,
    check_varies,
    check_X_target,
    check_X_y,
    integer,
    options,
    real,
    wrong_categorical,
)

# Distances that agree to this many decimals are a tie, which the first sample wins, in whatever order sums are taken.
TIE_DECIMALS = 9
RULES: dict[str, Rule] = {
    "n_features_to_select": N_FEATURES_RULE,
    "n_neighbors": integer(1),
    "task": options("classification", "regression"),
    "categorical_features": ARRAY_LIKE | NONE,
    "n_samples": integer(1) | real(0, 1, closed="right") | NONE,
    "sigma": real(0),
    "n_jobs": ANY_INT | NONE,
}
WORST = -1.0  # no score can be lower


@dataclass(frozen=True)
class Pairs:
    """Samples with their near neighbours, in the order of the samples."""

    sample: Ints
    neighbour: Ints
    distance: Floats
    n_samples: int  # that were given neighbours


def nearest(differences: Differences, samples: Ints, groups: Ints, k: int) -> Pairs:
    """The k nearest neighbours of each of ``samples`` in every group, or all where there are fewer; never itself."""
    step = max(1, differences.budget.block // (DOUBLE * differences.n_samples))
    found = []
    for part in cuts(len(samples), step):
        rows = samples[part]
        D = np.round(differences.distances(rows), TIE_DECIMALS)
        D[np.arange(len(rows)), rows] = np.inf
        chosen = np.zeros(D.shape, dtype=bool)
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            chosen[:, members] = smallest(D[:, members], k)
        row, column = np.nonzero(chosen)
        found.append((rows[row], column, D[row, column]))
    sample, neighbour, distance = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Pairs(sample, neighbour, distance, len(samples))


def smallest(D: Floats, k: int) -> Bools:
    """Marks the k smallest finite entries of each row; of equal ones the first."""
    k = min(k, D.shape[1])
    kth = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    below, equal = kth > D, kth == D
    room = k - below.sum(axis=1, keepdims=True)
    return (below | (equal & (np.cumsum(equal, axis=1) <= room))) & np.isfinite(D)


def class_weights(pairs: Pairs, codes: Ints) -> Floats:
    """ReliefF: -1 for hits, P(class of j) / (1 - P(class of i)) for misses, each over the neighbours of that class."""
    own, other = codes[pairs.sample], codes[pairs.neighbour]
    sizes = np.bincount(codes)
    prior = sizes / len(codes)
    sign = np.where(own == other, -1.0, prior[other] / (1 - prior[own]))
    same_class = pairs.sample * len(sizes) + other
    n_alike = np.bincount(same_class)[same_class]
    return sign / (n_alike * pairs.n_samples)


def target_weights(pairs: Pairs, y: Floats, sigma: float) -> Floats:
    """RReliefF: N_dC&dA / N_dC - (N_dA - N_dC&dA) / (m - N_dC), the nearer of the neighbours counting more."""
    order = np.lexsort((pairs.neighbour, pairs.distance, pairs.sample))
    starts = np.searchsorted(pairs.sample[order], pairs.sample[order])
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1) - starts
    influence = np.exp((1 - rank**2) / sigma**2)  # of the nearest 1, however small sigma is
    influence /= np.bincount(pairs.sample, weights=influence)[pairs.sample]
    apart = np.abs(y[pairs.sample] - y[pairs.neighbour]) / np.ptp(y)
    n_apart = float(influence @ apart)
    n_alike = pairs.n_samples - n_apart
    tiny = np.finfo(np.float64).tiny
    return influence * (apart / max(n_apart, tiny) - (1 - apart) / max(n_alike, tiny))


def relief_scores(differences: Differences, pairs: Pairs, weights: Floats) -> Floats:
    """sum_ij S_ij diff_f(i, j) for every feature f."""
    m = differences.n_samples
    S = csr_array((weights, (pairs.sample, pairs.neighbour)), shape=(m, m))
    return differences.weighted_sums(S)


class ReliefFSelector(RankedSelector):
    """ReliefF: a feature is good if it differs between near samples of different classes and not within a class.

    For each sample R, its k nearest hits H (of its class) and misses M (of every other class C) in the sum of all
    differences are found, and each feature scores ::

        mean over R of  - mean_H diff(R, H) + sum_C P(C) / (1 - P(class of R)) mean_M(C) diff(R, M)

    where diff is the difference over the range for numbers, 0 or 1 for categories, and an expectation where a value is
    missing.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features ``transform`` keeps: a number, a fraction, or half of them (None). May be changed after
        ``fit``.
    n_neighbors : int, default=10
        Neighbours k in each class; all of them if a class has fewer.
    task : {"classification", "regression"}, default="classification"
        "regression" is RReliefF, for a y of numbers. Never guessed from y.
    categorical_features : array-like or None, default=None
        Which features are codes of categories: a mask, positions, or names if X comes with names.
    n_samples : int, float in (0, 1] or None, default=None
        How many samples, drawn at random, are compared with their neighbours; None is all of them.
    sigma : float, default=20.0
        For regression: the neighbour of rank r counts exp(-(r / sigma)^2).
    random_state : int, RandomState or None, default=None
        Seed for drawing ``n_samples``.
    n_jobs : int or None, default=None
        Threads; -1 is all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Between -1 and 1, higher is better; about 0 or below for features that say nothing, -1 for constant ones.
    ranking_ : ndarray of shape (n_features,)
        1 is best; a permutation of 1..n_features. Constant features come last.
    n_features_in_ : int
    feature_names_in_ : ndarray, if X came with names

    Notes
    -----
    NaN in X is a missing value. With numba installed (the extra ``fast``), large problems run compiled loops, with the
    same result. Memory beyond X is a few blocks of 32 MiB and the neighbours found.

    See Also
    --------
    DSOSelector : Direct sparsity optimisation, with its default settings.
    MRMRSelector : Relevant features that are not redundant.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dsofs import ReliefFSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> ReliefFSelector(8).fit(X[:200], y[:200]).transform(X).shape
    (1797, 8)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        n_neighbors: int = 10,
        task: str = "classification",
        categorical_features: AnyArray | None = None,
        n_samples: int | float | None = None,
        sigma: float = 20.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.task = task
        self.categorical_features = categorical_features
        self.n_samples = n_samples
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray) -> ReliefFSelector:
        """Score the features of X by the neighbours of its samples."""
        check_parameters(self, RULES, others=wrong_categorical(type(self).__name__, self.categorical_features, X))
        by_class = self.task == "classification"
        X, y, *_ = check_X_y(self, X, y, allow_nan=True) if by_class else check_X_target(self, X, y, allow_nan=True)
        self._warn_if_too_many()
        categorical = check_categorical(self, self.categorical_features, self.n_features_in_)
        groups = y if by_class else np.zeros(len(y), dtype=np.intp)
        with Team(effective_n_jobs(self.n_jobs)) as team:
            differences = Differences(X, categorical, groups, team)
            check_varies(self, differences.kept, self.n_features_in_)
            pairs = nearest(differences, self._sampled(len(y)), groups, self.n_neighbors)
            weights = class_weights(pairs, y) if by_class else target_weights(pairs, y, self.sigma)
            scores = relief_scores(differences, pairs, weights)
        kept = differences.kept
        self.scores_, self.ranking_ = rank_kept(scores[kept], kept, self.n_features_in_, worst=WORST)
        return self

    def _sampled(self, m: int) -> Ints:
        """The samples that are given neighbours."""
        wanted = self.n_samples
        if wanted is None:
            return np.arange(m)
        count = min(int(wanted), m) if isinstance(wanted, int | np.integer) else max(1, int(wanted * m))
        return np.sort(check_random_state(self.random_state).permutation(m)[:count])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
