"""RFS: robust feature selection by joint l_{2,1} norms of weights and residuals, and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsofs.design.budget import Budget, refuse_if_too_big
from dsofs.design.types import AnyArray, Floats
from dsofs.methods.shared.base import (
    N_FEATURES_RULE,
    RankedSelector,
    distinct_design,
    publish_solution,
    warn_not_converged,
)
from dsofs.problem import Problem, Status
from dsofs.ranking import RANKINGS, rank_features
from dsofs.solvers.rfs.general import Term, minimise_terms
from dsofs.validation import (
    BOOLEAN,
    NONE,
    Rule,
    all_or_nothing,
    check_parameters,
    check_weighted_X_target,
    check_weighted_X_y,
    integer,
    one_versus_rest,
    options,
    real,
    wrong_sample_weight,
)

RULES: dict[str, Rule] = {
    "n_features_to_select": N_FEATURES_RULE,
    "lam": real(0),
    "p": real(0, 2, closed="right"),
    "q": real(0, 2, closed="right"),
    "task": options("classification", "regression"),
    "ranking": options(*RANKINGS),
    "standardize": BOOLEAN,
    "fit_intercept": BOOLEAN,
    "tol": real(0),
    "max_iter": integer(1),
    "memory_limit": integer(1) | NONE,
    "verbose": integer(0),
}

GRID = {"lam": (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)}  # the paper's

CURES = {
    Status.MAX_ITER: "Raise max_iter or tol.",
    Status.STALLED: "Raise tol.",
    Status.ZERO: "Lower lam.",
}


class RFSSelector(RankedSelector):
    """Robust feature selection (RFS): a row-sparse linear model whose loss does not square the residuals.

    Minimises, over the weights W with rows w_i, ::

        sum_j v_j ||(X W - Y)_j||^q + lam sum_i ||w_i||^p

    where Y is +1 for the class of a sample and -1 for the others (one column for two classes), or the targets of a
    regression; v_j is the weight of sample j, 1 unless ``fit`` is given weights. p = q = 1 is RFS as published (Nie et
    al. 2010); q = 2 is least squares.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features ``transform`` keeps: a number, a fraction, or half of them (None). May be changed after
        ``fit``.
    lam : float, default=1.0
        Penalty of the weights, in the units of the formula.
    p : float in (0, 2], default=1.0
        Power of the norms of the weights. Smaller values keep fewer features; above 1 no weight is zero.
    q : float in (0, 2], default=1.0
        Power of the norms of the residuals. Smaller values are more robust to outliers.
    task : {"classification", "regression"}, default="classification"
        "regression" is for a y of numbers, in one column or several. Never guessed from y.
    ranking : {"norm", "survival", "forward"}, default="norm"
        How features are ranked: by the norm of their weights, as published; by survival, that is by how many steps
        of the fit they had a weight; or by forward selection among those with a nonzero weight. Others by survival.
    standardize : bool, default=True
        Work on columns of mean 0 and standard deviation 1, so that the ranking does not depend on units.
    fit_intercept : bool, default=True
        Whether there is a bias. It is the row of W for a feature of ones and is penalised like any other, as published.
        The targets of a regression are then centred, so that a shift of y changes nothing else.
    tol : float, default=1e-3
        The fit ends when its certificate is this small: the relative duality gap if p and q are at least 1, the largest
        relative violation of stationarity otherwise.
    max_iter : int, default=300
        Largest number of outer steps.
    memory_limit : int or None, default=None
        Bytes that the fit may use beyond X; None is the free memory. More is refused before it is allocated.
    verbose : int, default=0
        1 prints, after the fit, a line for each outer step.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Higher is better.
    ranking_ : ndarray of shape (n_features,)
        1 is best; a permutation of 1..n_features. Constant features come last.
    coef_ : ndarray of shape (n_classes, n_targets or 1, n_features)
        Weights in the units of X.
    intercept_ : ndarray of shape (n_classes, n_targets or 1,)
    classes_ : ndarray
        For classification only.
    objective_ : float
        The minimum of the formula, on the standardised features, bias included. Below q = 1, rounding errors
        of residuals that are held at zero are not counted.
    duality_gap_ : float
        Certified relative distance from the optimum (p, q >= 1; NaN below).
    stationarity_ : float
        Largest relative violation of the stationarity conditions (p or q < 1; NaN above).
    status_ : str
        "converged", "stalled", "max_iter" or "zero".
    history_ : dict of ndarray
        objective, gap (the certificate), active (rows and residuals) and seconds (since the start), for each outer
        step.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray, if X came with names

    References
    ----------
    F. Nie, H. Huang, X. Cai, C. Ding: Efficient and Robust Feature Selection via Joint l2,1-Norms Minimization.
    NIPS 2010.

    See Also
    --------
    DSOSelector : Direct sparsity optimisation, with its default settings.
    LassoSelector : Weights of a linear model with an l1 penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dsofs import RFSSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> selector = RFSSelector(8).fit(X[:200], y[:200])
    >>> selector.status_, selector.transform(X).shape
    ('converged', (1797, 8))
    """

    intercept_: Floats

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        lam: float = 1.0,
        p: float = 1.0,
        q: float = 1.0,
        task: str = "classification",
        ranking: str = "norm",
        standardize: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 300,
        memory_limit: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lam = lam
        self.p = p
        self.q = q
        self.task = task
        self.ranking = ranking
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None = None) -> RFSSelector:
        """Rank the features of X by their weights in a model of y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A sample of weight v counts as v equal samples, and one of weight 0 is ignored. None: all weights are 1.
        """
        check_parameters(self, RULES, others=wrong_sample_weight(self, sample_weight, y))
        X, Y, Y_mean, weights = self._targets(X, y, sample_weight)
        self._warn_if_too_many()
        m, n = X.shape
        needed = Budget.within(self.memory_limit).fit_bytes(m, n, Y.shape[1])
        refuse_if_too_big(needed, self.memory_limit, type(self).__name__)
        p, convex = float(self.p), min(self.p, self.q) >= 1
        _, design, copies = distinct_design(self, X, p, sample_weight=weights)
        Z = design.compact()
        solution = minimise_terms(
            [Term(Z, -Y, float(self.q))], lam=self.lam, p=p, tol=self.tol, max_iter=self.max_iter, verbose=self.verbose
        )
        warn_not_converged(type(self).__name__, solution, convex, self.tol, CURES, stacklevel=4)
        publish_solution(self, design.columns, solution, convex)
        self.intercept_ += Y_mean
        self.scores_, self.ranking_ = rank_features(
            Problem(Z, Y, p, bias=self.fit_intercept), solution, self.ranking, design.kept, copies, self.n_features_in_
        )
        return self

    def _targets(
        self, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None
    ) -> tuple[AnyArray, Floats, Floats, Floats | None]:
        """Checked X, the columns of Y, what was subtracted from them, and the weights of these samples."""
        if self.task == "classification":
            X, codes, self.classes_, weights, _ = check_weighted_X_y(self, X, y, sample_weight)
            Y = one_versus_rest(codes, len(self.classes_))
            return X, Y, np.zeros(Y.shape[1]), weights
        X, y, weights = check_weighted_X_target(self, X, y, sample_weight)
        Y = y.reshape(len(y), -1)
        Y_mean = np.average(Y, axis=0, weights=weights) if self.fit_intercept else np.zeros(Y.shape[1])
        return X, Y - Y_mean, Y_mean, weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.task == "regression"
        return tags


def make(k: int, seed: int = 0, **parameters: Any) -> RFSSelector:
    return RFSSelector(k, **parameters)
