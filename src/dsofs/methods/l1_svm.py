"""The linear SVM with an l1 penalty: norms of its weights, and the F-test for features of weight 0."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.svm import LinearSVC

from dsofs.design.linalg import row_norms
from dsofs.design.types import Floats, Ints
from dsofs.methods.shared.scored import ScoreSelector, f_scores
from dsofs.ranking import two_tier_scores

# From 1 on the classes of wide data are separated, and the weights hardly change.
GRID = {"C": (0.01, 0.03, 0.1, 0.3, 1.0)}


def scores(Z: Floats, codes: Ints, k: int, random_state: Any, *, C: float = 1.0) -> Floats:
    svm = LinearSVC(penalty="l1", dual=False, C=C, max_iter=10_000, random_state=random_state).fit(Z, codes)
    return two_tier_scores(row_norms(svm.coef_.T), f_scores(Z, codes, k, random_state))


def make(k: int, seed: int = 0, *, C: float = 1.0) -> ScoreSelector:
    return ScoreSelector(k, score_func=partial(scores, C=C), random_state=seed)
