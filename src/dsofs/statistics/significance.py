"""Whether methods differ, over data sets and over trials on one; and how much a choice depends on the samples.

Over data sets: Wilcoxon with Holm's correction, Friedman with Nemenyi's difference; scores are given as an array of
data sets x methods, higher is better (Demsar, JMLR 2006). Over random splits of one data set, which share samples:
Student's t with the variance of Nadeau and Bengio (Machine Learning 2003). Stability: Nogueira, Sechidis
and Brown (JMLR 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, norm, rankdata, studentized_range, t, wilcoxon

from dsofs.design.types import Floats, Ints


@dataclass(frozen=True)
class Comparison:
    """One method against each of the others: mean differences, p-values, and these corrected for their number."""

    differences: Floats
    p_values: Floats
    corrected: Floats


@dataclass(frozen=True)
class Ranks:
    """Mean ranks (1 is best), Friedman's p-value for all being equal, and Nemenyi's critical difference."""

    mean: Floats
    p_value: float
    critical_difference: float


def compare_with_first(scores: Floats) -> Comparison:
    """The first column against each other one: two-sided Wilcoxon signed-rank tests over the data sets."""
    differences = scores[:, :1] - scores[:, 1:]
    p_values = np.array([signed_rank_p(column) for column in differences.T])
    return Comparison(differences.mean(axis=0), p_values, holm(p_values))


def signed_rank_p(differences: Floats) -> float:
    """Differences of zero are split between the sides."""
    return float(wilcoxon(differences, zero_method="zsplit").pvalue) if np.any(differences) else 1.0


def holm(p_values: Floats) -> Floats:
    """The smallest times n, the next times n - 1, and so on; never below one before it, nor above 1."""
    order = np.argsort(p_values)
    n = len(p_values)
    corrected = np.empty(n)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * np.arange(n, 0, -1)))
    return corrected


def mean_ranks(scores: Floats, *, level: float = 0.05) -> Ranks:
    """Ranks of at least three methods over the data sets; methods that differ by less than the
    critical difference do not differ significantly at ``level``."""
    n_data, n_methods = scores.shape
    ranks = rankdata(-scores, axis=1)
    tied = bool(np.all(ranks == ranks[0, 0]))  # Friedman's statistic is 0 / 0 then
    p_value = 1.0 if tied else float(friedmanchisquare(*scores.T).pvalue)
    q = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return Ranks(ranks.mean(axis=0), p_value, float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data))))


def resampled_error(deviation: Floats, n_splits: int, ratio: float) -> Floats:
    """Standard error of a mean over splits that share samples; ``ratio`` is test samples over training samples."""
    return deviation * np.sqrt(1 / n_splits + ratio)


def error_by_chance(units: Ints) -> float:
    """Standard error of the balanced accuracy of guesses, one for each of the u_j samples (or groups) of t classes::

        sqrt( 1/t (1 - 1/t) sum_j 1/u_j ) / t

    More splits of the same samples do not make it smaller.
    """
    t = len(units)
    return float(np.sqrt((1 / t) * (1 - 1 / t) * np.sum(1 / units)) / t)


def resampled_p(differences: Floats, ratio: float) -> float:
    """Two-sided p-value for a mean of 0 of what was measured on random splits of the same samples."""
    if not np.any(differences):
        return 1.0
    error = resampled_error(differences.std(ddof=1), len(differences), ratio)
    with np.errstate(divide="ignore"):  # without any spread, p is 0
        return float(2 * t.sf(abs(differences.mean()) / error, len(differences) - 1))


@dataclass(frozen=True)
class Stability:
    """1 if the sets are equal, 0 on average if they are drawn by chance; with the ends of a confidence interval."""

    index: float
    low: float
    high: float


def stability(sets: Sequence[Ints], n_features: int, *, confidence: float = 0.95) -> Stability:
    """The stability of M >= 2 sets of features, of any sizes (Definition 4 and Theorem 7 of Nogueira et al.).

    With p_f the part of the sets that hold feature f, s_f^2 = M/(M-1) p_f (1 - p_f) and q the mean size of a set over
    n_features::

        index = 1 - mean_f s_f^2 / (q (1 - q))

    It is not defined (NaN) if all sets are empty or hold every feature.
    """
    if len(sets) < 2:
        raise ValueError(f"stability needs at least 2 sets of features. Got {len(sets)} instead.")
    Z = np.zeros((len(sets), n_features))
    for row, features in zip(Z, sets, strict=True):
        row[np.asarray(features, dtype=np.intp)] = 1.0
    M, share = len(Z), Z.mean(axis=0)
    q = share.mean()
    chance = q * (1 - q)
    if chance == 0:
        return Stability(np.nan, np.nan, np.nan)
    index = 1 - M / (M - 1) * np.mean(share * (1 - share)) / chance
    size = Z.mean(axis=1)
    each = (Z @ share / n_features - size * q + index / 2 * (2 * q * size - size - q + 1)) / chance
    variance = 4 / M**2 * np.sum((each - each.mean()) ** 2)
    margin = norm.ppf((1 + confidence) / 2) * np.sqrt(variance)
    return Stability(float(index), float(index - margin), float(index + margin))
