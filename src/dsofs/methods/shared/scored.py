"""ScoreSelector: a function that scores features, as a selector with one ranking of all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dsofs.design import Block
from dsofs.design.budget import DOUBLE, refuse_if_too_big
from dsofs.design.interface import Design
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.methods.shared.base import N_FEATURES_RULE, RankedSelector, standard_design
from dsofs.ranking import rank_kept
from dsofs.validation import Rule, all_or_nothing, check_parameters, check_X_y, indicators

RULES: dict[str, Rule] = {
    "n_features_to_select": N_FEATURES_RULE,
    "score_func": Rule(callable, "a function (Z, codes, k, random_state) -> scores"),
}

NOTHING_WITHIN = 1e-12  # a part of the variance within the classes that rounding can leave

# (standardised columns Z, class codes, number of features wanted, random_state) -> a score >= 0 for every column
Score = Callable[[Floats, Ints, int, Any], Floats]


def f_scores(Z: Floats, codes: Ints, k: int, random_state: Any) -> Floats:
    """The F-statistic of each feature over the classes."""
    return f_statistics(Block(Z), codes)


def f_statistics(Z: Design, classes: Ints) -> Floats:
    """F of a one-way analysis of variance of every standardised column: the sum of its squares is m."""
    m, sizes = Z.total_weight, np.bincount(classes, Z.sample_weight)
    sums = Z.tdot(Z.weighted(indicators(classes, len(sizes))))
    between = np.sum(sums**2 / sizes, axis=1)
    # Classes that a feature tells apart without error leave nothing within, up to rounding.
    within = np.maximum(m - between, m * NOTHING_WITHIN)
    return (between / (len(sizes) - 1)) / (within / max(Z.sample_size - len(sizes), 1))


class ScoreSelector(RankedSelector):
    """Selects the features that a function scores highest; a wrapper for methods of other packages.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features ``transform`` keeps. May be changed after ``fit``; ``score_func`` was given the number at the
        time of the fit.
    score_func : callable, default=the F-test
        ``score_func(Z, codes, k, random_state)`` returns a number of at least 0 for every column of Z, higher is
        better. Z holds the columns that are not constant, with mean 0 and standard deviation 1; ``codes`` the classes
        0, 1, ...
    random_state : int, RandomState or None, default=None
        Passed to ``score_func``.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Higher is better; 0 for constant features.
    ranking_ : ndarray of shape (n_features,)
        1 is best; a permutation of 1..n_features. Constant features come last.
    n_features_in_ : int
    feature_names_in_ : ndarray, if X came with names
    """

    def __init__(
        self, n_features_to_select: int | float | None = 10, *, score_func: Score = f_scores, random_state: Any = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.score_func = score_func
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray) -> ScoreSelector:
        """Score the features of X for the classes of y."""
        check_parameters(self, RULES)
        X, codes, _ = check_X_y(self, X, y)
        n = self.n_features_in_
        self._warn_if_too_many()
        refuse_if_too_big(DOUBLE * X.shape[0] * n, None, type(self).__name__)
        design, _ = standard_design(self, X)
        k = min(self._n_selected(n), len(design.kept))
        scores = self.score_func(design.materialise().on_host(), codes, k, self.random_state)
        self.scores_, self.ranking_ = rank_kept(scores, design.kept, n)
        return self
