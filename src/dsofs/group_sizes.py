"""How much a group of features must weigh, so that many columns together are not chosen for their number alone.

A group enters W where ||X_g'B|| is large. For columns without information, ||X_g'B||^2 is about a multiple of a
chi-square variable. With K = X_g'X_g, whose trace is g for g columns of length 1, and c columns of B,

    df = (tr K)^2 / tr(K^2),        ||X_g'B||^2  ~  (g / df) chi2(df c),

which is Satterthwaite's approximation: df is the number of levels less one for a category of levels of equal size, and
1 for copies of one column. By chance the largest of n such variables is about the quantile at 1 - 1/n, so that of a
group is

    chance_g = chi2.isf(1/n, df c) / chi2.isf(1/n, c)

times that of a single column. So that a group comes first no more often than a column does, its norm is multiplied by

    s_g = sqrt(g / df  chance_g),        sum_g (s_g ||W_g||)^p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from dsofs.design.interface import Design
from dsofs.design.linalg import columns_of
from dsofs.design.types import Floats, Ints


@dataclass(frozen=True)
class GroupSizes:
    """What the norm of every group is multiplied by, and how much it explains by chance compared with one column."""

    factor: Floats  # s_g
    chance: Floats

    @classmethod
    def of(cls, X: Design, groups: Ints, n_targets: int) -> GroupSizes:
        """``groups`` is that of each of the first columns of X; ``n_targets`` is the number of columns of Y."""
        counts = np.bincount(groups)
        df = np.ones(len(counts))
        columns = columns_of(groups, len(groups))
        for group in np.flatnonzero(counts > 1):
            df[group] = _degrees_of_freedom(X.take(columns[group]))
        rare = 1 / max(len(groups), 2)
        chance = chi2.isf(rare, df * n_targets) / chi2.isf(rare, n_targets)
        return cls(np.sqrt(counts / df * chance), chance)


def _degrees_of_freedom(X: Design) -> float:
    """(tr K)^2 / tr(K^2) of K = X'VX, V the weights of samples, or of V^(1/2) X X' V^(1/2), if that is smaller.

    Both have the same eigenvalues.
    """
    m, n = X.n_samples, X.n_columns
    v = np.ones(m) if X.sample_weight is None else X.sample_weight
    K = X.normal_matrix(v) if n <= m else X.gram(np.ones(n))
    if n > m and X.sample_weight is not None:
        K *= np.sqrt(np.outer(v, v))
    return float(np.trace(K) ** 2 / np.sum(K**2))
