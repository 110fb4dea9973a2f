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

    Finds the weights W of least ``sum_i ||w_i||^p`` that keep every training sample on the correct side with margin 1
    (one-versus-rest), and ranks the features by them. By default a little slack is allowed, at a cost that needs no
    tuning; ``C=None`` is the paper's problem, in which there is no trade-off between fit and sparsity.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features ``transform`` keeps: a number, a part of all, or half of them (None). With ``feature_groups``
        it counts groups. May be changed after ``fit``.
    p : float in (0, 2), default=0.85
        Power of the norm. 1 is convex and solved to a certified optimum; smaller values keep fewer features. The
        default is the best over all numbers of features on the data it was chosen with.
    C : float, "auto" or None, default="auto"
        Cost of violated margins, ``p C / 2 * sum(slack^2)`` beside ``sum ||w_i||^p``. "auto" is ``30 sqrt(c) / p``
        times the cost at which W, bias included, leaves zero at p = 1, for c columns of Y; more if no feature is worth
        having at that (and hard margins with the alternating solver). None is the paper's: margins are hard wherever
        the classes can be separated, and slack of a default cost is given where they cannot.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        How slack is penalised. "hinge" is ``p C * sum(slack)``; it is deprecated and will be removed in version 0.2:
        its fits can stall, take ten times as long and are no more accurate.
    constraint : {"margin", "equality"}, default="margin"
        ``Y o (X W) >= 1`` (the paper's Eqn. 5) or ``X W = Y`` (its Eqn. 4).
    solver : {"joint", "alternating"}, default="joint"
        "alternating" is the paper's Algorithm 1, for comparison: it stops above the optimum.
    ranking : {"forward_backward", "forward", "backward", "survival", "norm"}, default="forward_backward"
        How features are ranked. "forward" puts those that are left at the end in the order of forward selection (each
        the one that explains most of the classes beside those before it), and then the others by how long they lasted
        in the iteration. "backward" takes the hundred that lasted longest and eliminates the one of smallest weight
        in ridge regression, again and again. "forward_backward" takes the first six forward and the others backward.
        "survival" is how long they lasted, then the norm; "norm" is the paper's (those at zero by how long they
        lasted). With ``feature_groups``, groups are compared with chance, so that large ones have no advantage.
    standardize : bool, default=True
        Work on columns of mean 0 and standard deviation 1, so that the ranking does not depend on units.
    fit_intercept : bool, default=True
        Whether there is a bias; it is a row of W, and penalised like one, as in the paper, unless
        ``intercept_penalty`` says otherwise.
    feature_groups : array-like of shape (n_features,) or None, default=None
        Labels of groups of features (one-hot blocks, gene sets) that are selected together: their coefficients are zero
        together or not at all, they stand next to each other in the ranking, and ``n_features_to_select`` counts
        groups. The penalty of a group grows with its size (``penalty_factor_``), so that a category of many levels is
        chosen no more often by chance than a number is.
    penalty_factor : array-like of shape (n_features,), dict or None, default=None
        What the penalty of each feature is multiplied by, ``sum_i v_i ||w_i||^p``; a dict names those that are not 1,
        by name or position. A larger factor is a cost. 0 is a covariate: it is always in the model, without penalty,
        and never selected. Infinity keeps a feature out.
    intercept_penalty : float, default=1.0
        The same for the bias: 1 is the paper's, 0 leaves it free as SVMs do, which predicts no better on 34 data sets.
    include : array-like of names, positions or a mask, or None, default=None
        Features that are always selected, first and in this order, and counted in ``n_features_to_select``. They are
        in the model without penalty, so the ranking says what else is worth having beside them.
    exclude : array-like of names, positions or a mask, or None, default=None
        Features that are never selected, and have no part in the model.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the cost of slack for the samples of each class. Without effect where margins are hard. "balanced"
        classes count alike, whatever their numbers of samples (or the sums of their weights).
    tol : float, default=1e-3
        The fit ends when its certificate is this small: the relative duality gap for p >= 1, the largest relative
        violation of stationarity below.
    max_iter : int, default=300
        Largest number of outer steps.
    memory_limit : int or None, default=None
        Bytes that the fit may use beyond X; None is the free memory. The pieces that X is worked on in become smaller
        to suit it; what does not fit even so is refused before it is allocated.
    n_jobs : default="deprecated"
        Without effect: a fit uses all cores for large products only. It will be removed in version 0.2.
    verbose : int, default=0
        1 prints, after the fit, a line for each outer step.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Higher is better.
    ranking_ : ndarray of shape (n_features,)
        1 is best; a permutation of 1..n_features. For p <= 1 features that equal another one, or its negative, once
        standardised come after all others and have weight 0; then constant features; covariates and excluded features
        come last.
    coef_ : ndarray of shape (n_classes or 1, n_features)
        Weights in the units of X.
    intercept_ : ndarray of shape (n_classes or 1,)
    classes_ : ndarray
    objective_ : float
        ``sum_i ||w_i||^p`` on the standardised features, bias included, plus the cost of slack; with groups
        ``sum_g v_g ||W_g||^p``.
    penalty_factor_ : ndarray of shape (n_features,)
        v of each feature, that of the size of its group included; 0 for covariates and included features, infinity
        for excluded ones.
    duality_gap_ : float
        Certified relative distance from the optimum (p >= 1; NaN below).
    stationarity_ : float
        Largest relative violation of the stationarity conditions (p < 1; NaN above).
    status_ : str
        "converged", "converged_with_slack", "stalled", "max_iter", "zero", "relaxed", or "nothing_left" where
        covariates and included features separate the classes alone.
    conflicts_ : ndarray
        Samples in a proof that the classes cannot be separated; empty if they can, and wherever ``C``
        gives them slack from the start.
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
            A sample of weight v counts as v equal samples, one of weight 0 not at all; None is 1 for all.
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
