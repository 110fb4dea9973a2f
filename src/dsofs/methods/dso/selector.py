"""DSOSelector: the paper's method as a feature selector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dsofs.design.types import AnyArray
from dsofs.methods.dso.fit import (
    DSO_RULES,
    check_call,
    prepare,
    publish,
    ranked,
    solve_dso,
    warn_about,
    warn_without_features,
)
from dsofs.methods.shared.base import N_FEATURES_RULE, RankedSelector, follow
from dsofs.validation import DEPRECATED, all_or_nothing, wrong_sample_weight

RULES = DSO_RULES | {"n_features_to_select": N_FEATURES_RULE}


class DSOSelector(RankedSelector):
    """Feature selection by direct sparsity optimisation (DSO-FS).

    Finds the linear rules, one for each class against the rest, that use the fewest features: the weights W that
    minimise ``sum_i ||w_i||^p`` while every training sample is on the correct side with margin 1. All features are then
    ranked, and ``transform`` keeps the first ones. By default a sample may be on the wrong side, at a cost that needs
    no tuning; ``C=None`` is the paper's problem, which has no trade-off between fit and sparsity.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features ``transform`` keeps: a number, a fraction, or half of them (None). With ``feature_groups``
        it counts groups. May be changed after ``fit``, without fitting again.
    p : float in (0, 2), default=0.85
        Power of the norm. Smaller values keep fewer features. At 1 the problem is convex and solved to a certified
        optimum. The default had the best held-out accuracy on the data sets that it was chosen on.
    C : float, "auto" or None, default="auto"
        Cost of violated margins: ``p C / 2 * sum(slack^2)`` is added to ``sum ||w_i||^p``. "auto" sets it from the
        data: ``30 sqrt(c) / p`` times the smallest cost at which W is not zero at p = 1, for c columns of Y, and more
        if no feature has a weight at that cost. (With ``solver="alternating"`` it means hard margins.) None keeps
        margins hard, as in the paper, wherever a class can be separated from the rest; where it cannot, violations
        have a default cost.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        How slack is penalised. "hinge" is ``p C * sum(slack)``; it is deprecated and will be removed in version 0.2:
        its fits can stall, take ten times as long and are no more accurate.
    constraint : {"margin", "equality"}, default="margin"
        ``Y o (X W) >= 1`` (the paper's Eqn. 5) or ``X W = Y`` (its Eqn. 4).
    solver : {"joint", "alternating"}, default="joint"
        "alternating" is the paper's Algorithm 1. It is kept for comparison, and stops above the optimum.
    ranking : {"forward_backward", "forward", "backward", "survival", "norm"}, default="forward_backward"
        How features are ranked:

        - "forward": features with a nonzero weight first, each next one explaining most of what those before it leave
          unexplained; then the others by survival.
        - "backward": the hundred that survive longest, dropping the smallest weight of a ridge regression each time;
          then the others by survival.
        - "forward_backward": the first six forward, the others backward.
        - "survival": by how many steps of the fit a feature had a weight, then by its norm.
        - "norm": by ``||w_i||``, as in the paper; features at zero by survival.

        With ``feature_groups``, groups are compared with chance, so that large ones have no advantage.
    standardize : bool, default=True
        Whether to scale columns to mean 0 and standard deviation 1, so that the ranking does not depend on units.
    fit_intercept : bool, default=True
        Whether there is a bias. It is a row of W and penalised like any other, unless ``intercept_penalty`` says
        otherwise.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A group for each feature: features of a group (one-hot columns, a gene set) are selected together, stand next to
        each other in the ranking, and count as one in ``n_features_to_select``. The penalty of a group grows with its
        size (``penalty_factor_``), so that a category of many levels is selected by chance no more often than a single
        number.
    penalty_factor : array-like of shape (n_features,), dict or None, default=None
        What the penalty of each feature is multiplied by, ``sum_i v_i ||w_i||^p``; a dict gives the factors that are
        not 1, by name or position. A feature with a larger factor costs more. 0 makes it a covariate: always in the
        model, without penalty, and never selected. Infinity keeps it out.
    intercept_penalty : float, default=1.0
        The penalty factor of the bias: 1 as in the paper, 0 for no penalty, as in SVMs. On 34 data sets 0 predicts no
        better.
    include : array-like of names, positions or a mask, or None, default=None
        Features that are always selected, first and in this order, and counted in ``n_features_to_select``. They are
        in the model without penalty, so the others are ranked by what they add to them.
    exclude : array-like of names, positions or a mask, or None, default=None
        Features that are never selected and are not in the model.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the cost of slack for the samples of each class; no effect where margins are hard. With "balanced",
        all classes have the same total weight, whatever their numbers of samples.
    tol : float, default=1e-3
        The fit ends when its certificate is this small: the relative duality gap for p >= 1, the largest relative
        violation of stationarity for p < 1.
    max_iter : int, default=300
        Largest number of outer steps.
    memory_limit : int or None, default=None
        Bytes that the fit may use beyond X; None is the free memory. X is worked on in pieces that are small enough;
        a fit that needs more even so is refused before it starts.
    n_jobs : default="deprecated"
        No effect: a fit uses all cores, for large products only. It will be removed in version 0.2.
    verbose : int, default=0
        1 prints, after the fit, a line for each outer step.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Higher is better.
    ranking_ : ndarray of shape (n_features,)
        A permutation of 1..n_features; 1 is the best. Last come, in this order, copies of other features (equal up to
        sign once standardised; p <= 1), constant features, and covariates and excluded features.
    coef_ : ndarray of shape (n_classes or 1, n_features)
        Weights in the units of X.
    intercept_ : ndarray of shape (n_classes or 1,)
    classes_ : ndarray
    objective_ : float
        ``sum_i ||w_i||^p`` on the standardised features, bias included, plus the cost of slack; with groups
        ``sum_g v_g ||W_g||^p``.
    penalty_factor_ : ndarray of shape (n_features,)
        The factor v of each feature, times that for the size of its group; 0 for covariates and included features,
        infinity for excluded ones.
    duality_gap_ : float
        Certified relative distance from the optimum (p >= 1; NaN below).
    stationarity_ : float
        Largest relative violation of the stationarity conditions (p < 1; NaN above).
    status_ : str
        "converged", "converged_with_slack", "stalled", "max_iter", "zero", "relaxed", or "nothing_left" where
        covariates and included features separate the classes alone.
    conflicts_ : ndarray
        Samples in a proof that the classes cannot be separated. Empty if they can, and if ``C`` allows slack from the
        start.
    history_ : dict of ndarray
        objective, gap (the certificate), active (rows) and seconds (since the start), for each outer step.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray, if X came with names

    See Also
    --------
    DSOSelectorCV : p, C and the number of features chosen by cross-validation.
    DSOClassifier : The linear model itself, to predict with.
    RFSSelector : A row-sparse model with a loss that does not square residuals; also for regression.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dsofs import DSOSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> selector = DSOSelector(n_features_to_select=8).fit(X[:60], y[:60])
    >>> selector.status_, selector.transform(X).shape
    ('converged', (1797, 8))
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        p: float = 0.85,
        C: float | str | None = "auto",
        loss: str = "squared_hinge",
        constraint: str = "margin",
        solver: str = "joint",
        ranking: str = "forward_backward",
        standardize: bool = True,
        fit_intercept: bool = True,
        feature_groups: AnyArray | None = None,
        penalty_factor: AnyArray | None = None,
        intercept_penalty: float = 1.0,
        include: AnyArray | None = None,
        exclude: AnyArray | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int = 300,
        memory_limit: int | None = None,
        n_jobs: int | str | None = DEPRECATED,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.p = p
        self.C = C
        self.loss = loss
        self.constraint = constraint
        self.solver = solver
        self.ranking = ranking
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.feature_groups = feature_groups
        self.penalty_factor = penalty_factor
        self.intercept_penalty = intercept_penalty
        self.include = include
        self.exclude = exclude
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None = None) -> DSOSelector:
        """Rank the features of X by how they separate the classes of y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A sample of weight v counts as v equal samples, and one of weight 0 is ignored. None: all weights are 1.
        """
        check_call(self, X, y, RULES, others=wrong_sample_weight(self, sample_weight, y))
        data = prepare(self, X, y, sample_weight)
        self._warn_if_too_many()
        problem, solution = solve_dso(self, data, self.p, self.C)
        warn_about(self, problem, solution, self.tol)
        warn_without_features(self, problem, solution)
        publish(self, data, problem, solution)
        self.scores_, self.ranking_ = ranked(self, data, problem, solution)
        follow(self, data.X, y)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags
