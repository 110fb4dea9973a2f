"""ReliefF (Kononenko 1994) and RReliefF (Robnik-Sikonja and Kononenko 1997): near neighbours tell features apart.

Both are a weighted sum of differences over pairs of a sample i and a near neighbour j,

    score_f = sum_ij S_ij diff_f(i, j),

where S is negative for neighbours that should be similar (of one class, or of close targets) and positive for others.
``nearest`` finds the neighbours; ``class_weights`` and ``target_weights`` are the two methods.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from dsofs.design.budget import DOUBLE, cuts
from dsofs.design.types import Bools, Floats, Ints
from dsofs.methods.relieff.differences import Differences

# Distances that agree to this many decimals are a tie, which the first sample wins, in whatever order sums are taken.
TIE_DECIMALS = 9


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
