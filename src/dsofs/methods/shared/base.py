"""What all selectors share: one ranking, from which any number of features can be taken after the fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from dsofs.design.types import Bools, Ints
from dsofs.parameters import NONE, Rule, integer, real
from dsofs.ranking import first_ranked

N_FEATURES_RULE: Rule = integer(1) | real(0, 1, closed="right") | NONE


class RankedSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Selects the ``n_features_to_select`` features of best rank.

    Subclasses set ``scores_`` (higher is better) and ``ranking_`` (1 is best, a permutation) in ``fit``.
    ``n_features_to_select`` may be changed after ``fit``: the next ``transform`` follows it. It counts groups where
    features come in groups.
    """

    n_features_to_select: int | float | None
    n_features_in_: int
    ranking_: Ints
    _groups: Ints | None = None  # of each feature, where features are selected by groups

    def _n_selected(self, n_candidates: int) -> int:
        """How many of so many features, or groups of features, are selected."""
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_candidates // 2)
        if isinstance(wanted, int | np.integer):
            return min(int(wanted), n_candidates)
        return max(1, int(wanted * n_candidates))

    def _n_candidates(self) -> int:
        return self.n_features_in_ if self._groups is None else int(self._groups.max()) + 1

    def _warn_if_too_many(self) -> None:
        wanted, n_candidates = self.n_features_to_select, self._n_candidates()
        if isinstance(wanted, int | np.integer) and wanted > n_candidates:
            kind = "features" if self._groups is None else "groups of features"
            warnings.warn(
                f"The 'n_features_to_select' parameter of {type(self).__name__} is {wanted}, and X has only "
                f"{n_candidates} {kind}: all are kept.",
                UserWarning,
                stacklevel=4,
            )

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return first_ranked(self.ranking_, self._groups, self._n_selected(self._n_candidates()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
