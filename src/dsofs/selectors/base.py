"""What all selectors share: one ranking, from which any number of features can be taken after the fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from dsofs.arrays.types import Bools, Ints
from dsofs.validation import NONE, Rule, integer, real

N_FEATURES_RULE: Rule = integer(1) | real(0, 1, closed="right") | NONE


class RankedSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Selects the ``n_features_to_select`` features of best rank.

    Subclasses set ``scores_`` (higher is better) and ``ranking_`` (1 is best, a permutation) in ``fit``.
    ``n_features_to_select`` may be changed after ``fit``: the next ``transform`` follows it.
    """

    n_features_to_select: int | float | None
    ranking_: Ints

    def _n_selected(self, n_features: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_features // 2)
        if isinstance(wanted, int | np.integer):
            return min(int(wanted), n_features)
        return max(1, int(wanted * n_features))

    def _warn_if_too_many(self, n_features: int) -> None:
        wanted = self.n_features_to_select
        if isinstance(wanted, int | np.integer) and wanted > n_features:
            warnings.warn(
                f"The 'n_features_to_select' parameter of {type(self).__name__} is {wanted}, and X has only "
                f"{n_features} features: all are kept.",
                UserWarning,
                stacklevel=3,
            )

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return np.asarray(self.ranking_ <= self._n_selected(len(self.ranking_)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
