"""The linear SVM with an l1 penalty: norms of its weights, and the F-test for features of weight 0."""

from __future__ import annotations

from typing import Any

from sklearn.svm import LinearSVC

from dsofs.arrays.norms import row_norms
from dsofs.arrays.types import Floats, Ints
from dsofs.ranking import two_tier_scores
from dsofs.selectors.scored import ScoreSelector, f_scores


def scores(Z: Floats, codes: Ints, k: int, random_state: Any) -> Floats:
    svm = LinearSVC(penalty="l1", dual=False, C=1.0, max_iter=10_000, random_state=random_state).fit(Z, codes)
    return two_tier_scores(row_norms(svm.coef_.T), f_scores(Z, codes, k, random_state))


def make(k: int, seed: int = 0) -> ScoreSelector:
    return ScoreSelector(k, score_func=scores, random_state=seed)
