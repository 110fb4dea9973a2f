"""Whether methods differ: over data sets, and over trials on one.

Over data sets: Wilcoxon with Holm's correction, Friedman with Nemenyi's difference; scores are given as an array of
data sets x methods, higher is better (Demsar, JMLR 2006). Over random splits of one data set, which share samples:
Student's t with the variance of Nadeau and Bengio (Machine Learning 2003).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, t, wilcoxon

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

    Splits of the same samples cannot know it better, however many they are.
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
