"""How much the chosen features depend on the samples: Nogueira, Sechidis and Brown (JMLR 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from dsofs.design.types import Ints


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
