"""SVM-RFE (Guyon et al. 2002): fit a linear SVM, drop the features of small weight, fit again.

Half of the features are dropped in each round; from ``ONE_BY_ONE`` features on, one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from dsofs.design.linalg import row_norms
from dsofs.design.types import Floats, Ints
from dsofs.methods.shared.scored import ScoreSelector

ONE_BY_ONE = 64


def scores(Z: Floats, codes: Ints, k: int, random_state: Any) -> Floats:
    """The round in which a feature was dropped, and within it its share of the largest weight."""
    result, alive, round_ = np.zeros(Z.shape[1]), np.arange(Z.shape[1]), 0
    while len(alive):
        weights = row_norms(SVC(kernel="linear", C=1.0).fit(Z[:, alive], codes).coef_.T)
        result[alive] = round_ + weights / (2 * max(weights.max(), np.finfo(np.float64).tiny))
        n_left = len(alive) // 2 if len(alive) > ONE_BY_ONE else len(alive) - 1
        alive = np.sort(alive[np.argsort(-weights, kind="stable")[:n_left]])
        round_ += 1
    return result


def make(k: int, seed: int = 0) -> ScoreSelector:
    return ScoreSelector(k, score_func=scores)
