"""MRMRSelector: minimum redundancy, maximum relevance."""

from __future__ import annotations

import numpy as np

from dsofs.design.budget import refuse_if_too_big, single_threaded
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.methods.mrmr.discretize import DISCRETIZERS, code_type, discretized
from dsofs.methods.mrmr.greedy import SCHEMES, FTestCorrelation, Measure, MutualInformation, greedy_order
from dsofs.methods.shared.base import N_FEATURES_RULE, RankedSelector, standard_design
from dsofs.ranking import rank_kept, two_tier_scores
from dsofs.validation import (
    NONE,
    Rule,
    all_or_nothing,
    check_codes,
    check_parameters,
    check_weighted_X_y,
    integer,
    options,
    wrong_sample_weight,
)

RULES: dict[str, Rule] = {
    "n_features_to_select": N_FEATURES_RULE,
    "scheme": options(*SCHEMES),
    "discretize": options(*(name for name in DISCRETIZERS if name)) | NONE,
    "n_bins": integer(2),
    "memory_limit": integer(1) | NONE,
}


class MRMRSelector(RankedSelector):
    """Features that say much about the classes and little about each other (mRMR).

    Chooses one feature at a time: the one of largest relevance for the classes, less (or divided by) its mean
    redundancy with those already chosen.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features are chosen, and how many ``transform`` keeps. May be changed after ``fit``: a smaller number
        keeps the first of those chosen; a larger one adds the most relevant of the others, whose redundancy was not
        considered. So fit with the largest number that you will need.
    scheme : {"MID", "MIQ", "FCD", "FCQ"}, default="MID"
        Mutual information of discretised features (MI), or the F-statistic and absolute correlations of continuous
        ones (FC); relevance minus redundancy (D), or divided by it (Q).
    discretize : {"std", "quantile"} or None, default="std"
        For MI: three states, cut one standard deviation below and above the mean, as in the paper; ``n_bins`` states of
        equal frequency; or None, where X holds codes (whole numbers).
    n_bins : int, default=3
        Number of states with ``discretize="quantile"``.
    memory_limit : int or None, default=None
        Bytes that the fit may use beyond X; None is the free memory. More is refused before it is allocated.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Above 1, up to 2: chosen, the higher the earlier. From 0 to 1: not chosen, relevance relative to the largest of
        these.
    ranking_ : ndarray of shape (n_features,)
        1 is best; a permutation of 1..n_features. Constant features come last.
    relevance_ : ndarray of shape (n_features,)
        Mutual information with the classes in nats, or the F-statistic; 0 for constant features.
    criterion_ : ndarray of shape (n_features,)
        The criterion of a feature when it was chosen, for thresholds; NaN if it was not chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray, if X came with names

    See Also
    --------
    DSOSelector : Direct sparsity optimisation, with its default settings.
    ReliefFSelector : Differences between near samples; finds interactions.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dsofs import MRMRSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> MRMRSelector(8).fit(X, y).transform(X).shape
    (1797, 8)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        scheme: str = "MID",
        discretize: str | None = "std",
        n_bins: int = 3,
        memory_limit: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.discretize = discretize
        self.n_bins = n_bins
        self.memory_limit = memory_limit

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None = None) -> MRMRSelector:
        """Choose features of X that tell the classes of y apart and are not redundant.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A sample of weight v counts as v equal samples, and one of weight 0 is ignored. None: all weights are 1.
        """
        check_parameters(self, RULES, others=wrong_sample_weight(self, sample_weight, y))
        X, classes, _, weights, _ = check_weighted_X_y(self, X, y, sample_weight)
        n = self.n_features_in_
        self._warn_if_too_many()
        with single_threaded():  # its many products are small
            kept, measure = self._measure(X, classes, weights)
            order, values = greedy_order(measure, self.scheme, min(self._n_selected(n), len(kept)))
        self.relevance_, self.criterion_ = np.zeros(n), np.full(n, np.nan)
        self.relevance_[kept], self.criterion_[kept[order]] = measure.relevance, values
        turn = np.zeros(len(kept))
        turn[order] = np.arange(len(order), 0, -1)
        self.scores_, self.ranking_ = rank_kept(two_tier_scores(turn, measure.relevance), kept, n)
        return self

    def _measure(self, X: AnyArray, classes: Ints, weights: Floats | None) -> tuple[Ints, Measure]:
        """Which features are not constant, and how they depend on the classes and on each other."""
        design, _ = standard_design(self, X, sample_weight=weights)
        kept = design.kept
        if self.scheme.startswith("FC"):
            return kept, FTestCorrelation(design.compact(), classes)
        if self.discretize is None:
            check_codes(self, X)
        n_bytes = code_type(self.discretize, self.n_bins, len(classes)).itemsize * X.shape[0] * X.shape[1]
        refuse_if_too_big(n_bytes, self.memory_limit, type(self).__name__)
        codes = discretized(X, self.discretize, self.n_bins, weights)
        return kept, MutualInformation(codes if len(kept) == X.shape[1] else codes[:, kept], classes, weights)
