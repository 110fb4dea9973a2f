"""LassoSelector: the features of a sparse linear model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.base import clone

from dsofs.design.budget import DOUBLE, cuts, refuse_if_too_big, single_threaded
from dsofs.design.linalg import dense, row_norms
from dsofs.design.standard import Columns
from dsofs.design.types import AnyArray, Floats
from dsofs.methods.lasso.descent import SOLVERS, dual_norms, lasso_weights
from dsofs.methods.shared.base import N_FEATURES_RULE, RankedSelector, standard_design
from dsofs.ranking import rank_kept, two_tier_scores
from dsofs.validation import (
    ANY_INT,
    BOOLEAN,
    NONE,
    Conflict,
    Rule,
    all_or_nothing,
    check_parameters,
    check_positive,
    check_X_y,
    integer,
    one_versus_rest,
    options,
    real,
)

RULES: dict[str, Rule] = {
    "n_features_to_select": N_FEATURES_RULE,
    "lam": real(0) | NONE,
    "lam_share": real(0),
    "multi_task": BOOLEAN,
    "solver": options(*SOLVERS),
    "standardize": BOOLEAN,
    "fit_intercept": BOOLEAN,
    "tol": real(0),
    "max_iter": integer(1),
    "memory_limit": integer(1) | NONE,
    "n_jobs": ANY_INT | NONE,
}
CONFLICTS = (
    Conflict(
        {"solver": options("celer"), "multi_task": Rule(bool, "True")},
        "solver='celer' has no multi-task form here: use 'auto' or 'sklearn' with multi_task=True.",
    ),
)

# At a tenth of the lam at which W leaves 0, the top features of 13 wide data sets classified about as well as with lam
# tuned for each set.
DEFAULT_SHARE = 0.1
COLUMNS_AT_ONCE = 128  # that stay in the cache while they are turned round and scaled


@dataclass(frozen=True)
class LassoPath:
    """Models for many values of lam, in the units of X."""

    lams: Floats
    coef: Floats  # (n_lams, n_classes or 1, n_features)
    intercept: Floats  # (n_lams, n_classes or 1)


@dataclass(frozen=True)
class LassoData:
    """A (standardised, centred, without constant columns) and centred Y, and the way back to the units of X."""

    A: Floats
    Y: Floats
    columns: Columns
    Y_mean: Floats

    def residual(self, W: Floats) -> Floats:
        """Y - A W, from the few rows of W that are not zero."""
        used = np.flatnonzero(W.any(axis=1))
        return self.Y - self.A[:, used] @ W[used]

    def in_units_of_X(self, W: Floats, n_features: int) -> tuple[Floats, Floats]:
        """Coefficients (..., c, n_features) and intercepts (..., c) from W (..., n, c)."""
        coef, offset = self.columns.in_units_of_X(W, n_features)
        return coef, self.Y_mean - offset


class LassoSelector(RankedSelector):
    """Features with the largest weights in a linear model with an l1 penalty (Lasso), one class against the rest.

    Minimises, for each column y of Y (+1 for the class, -1 for the rest; one column for two classes), ::

        ||X w - y||^2 + lam ||w||_1

    or, with ``multi_task``, ``||X W - Y||^2 + lam sum_i ||w_i||_2``, which selects a feature for all classes or none.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=10
        How many features ``transform`` keeps: a number, a fraction, or half of them (None). May be changed after
        ``fit``.
    lam : float or None, default=None
        Penalty of the weights, in the units of the formula. None is ``lam_share`` times ``lam_max_``.
    lam_share : float, default=0.1
        ``lam`` as a fraction of the smallest lam at which all weights are 0; ignored if ``lam`` is given.
    multi_task : bool, default=False
        Whether the classes share their features.
    solver : {"auto", "sklearn", "celer"}, default="auto"
        "sklearn", which is also "auto", is scikit-learn's coordinate descent on working sets of the features, and, for
        small ``lam`` without ``multi_task``, Newton's method there. "celer" (the extra ``fast``), which has no
        ``multi_task`` here, can be quicker along a long path.
    standardize : bool, default=True
        Work on columns of mean 0 and standard deviation 1, so that the ranking does not depend on units.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised. Otherwise ``intercept_`` is what standardising subtracts.
    tol : float, default=1e-4
        The duality gap, relative to ``||y||^2``, at which the descent ends.
    max_iter : int, default=10000
        Largest number of passes over a working set of the features, or of Newton's steps.
    memory_limit : int or None, default=None
        Bytes that the fit may use beyond X; None is the free memory. More is refused before it is allocated. X is held
        once more inside, standardised, and sparse X made dense.
    n_jobs : int or None, default=None
        Classes in parallel.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Above 1, up to 2: 1 plus ``||w_i||`` relative to the largest. From 0 to 1: features of weight 0, by how near
        they are to entering the model (the correlation with the residual, relative to the largest of these).
    ranking_ : ndarray of shape (n_features,)
        1 is best; a permutation of 1..n_features. Constant features come last.
    coef_ : ndarray of shape (n_classes or 1, n_features)
        Weights in the units of X.
    intercept_ : ndarray of shape (n_classes or 1,)
    classes_ : ndarray
    lam_ : float
        The lam that was used.
    lam_max_ : float
        The smallest lam at which all weights are 0.
    n_iter_ : int
        Passes over the features and Newton's steps (with celer: working sets), of the class that took most.
    n_features_in_ : int
    feature_names_in_ : ndarray, if X came with names

    See Also
    --------
    DSOSelector : Direct sparsity optimisation, with its default settings.
    RFSSelector : A row-sparse model with a loss that does not square residuals; also for regression.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dsofs import LassoSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> LassoSelector(8, multi_task=True).fit(X[:200], y[:200]).transform(X).shape
    (1797, 8)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        lam: float | None = None,
        lam_share: float = DEFAULT_SHARE,
        multi_task: bool = False,
        solver: str = "auto",
        standardize: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        memory_limit: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lam = lam
        self.lam_share = lam_share
        self.multi_task = multi_task
        self.solver = solver
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray) -> LassoSelector:
        """Rank the features of X by their weights in a model of the classes of y."""
        with single_threaded():
            data = self._prepare(X, y)
            self._warn_if_too_many()
            (*_, W), n_iter = self._solve(data, _approach(self._chosen_lam(), self.lam_max_))
            self._publish(data, W, n_iter)
        return self

    def fit_each(self, X: AnyArray, y: AnyArray, settings: Sequence[Mapping[str, Any]]) -> list[LassoSelector]:
        """A fitted selector for each of the settings, values of ``lam`` or ``lam_share``, solved as one path.

        The estimator itself is not fitted. ``n_iter_`` is that of the whole path.
        """
        model = clone(self)
        for given in settings:
            check_parameters(clone(self).set_params(**given), RULES, CONFLICTS)
        with single_threaded():
            data = model._prepare(X, y)
            fits = [copy(model).set_params(**given) for given in settings]
            lams = np.array([fit._chosen_lam() for fit in fits])
            weights, n_iter = model._solve(data, np.concatenate([lams, _approach(lams.min(), model.lam_max_)]))
            for fit, W in zip(fits, weights, strict=False):
                fit._publish(data, W, n_iter)
        return fits

    def path(self, X: AnyArray, y: AnyArray, lams: AnyArray | None = None) -> LassoPath:
        """Models for all ``lams``, each starting where the next larger one ended; the estimator is not fitted.

        None is 100 values from the one at which the weights leave 0 to a thousandth of it, equally spaced in logarithm.
        """
        model, wanted = clone(self), None if lams is None else check_positive(self, "lams", lams)
        with single_threaded():
            data = model._prepare(X, y)
            lams = model.lam_max_ * np.geomspace(1, 1e-3, 100) if wanted is None else wanted
            model._refuse_if_too_big(data.A, len(lams))
            W, _ = model._solve(data, lams)
        return LassoPath(lams, *data.in_units_of_X(W, model.n_features_in_))

    def _prepare(self, X: AnyArray, y: AnyArray) -> LassoData:
        check_parameters(self, RULES, CONFLICTS)
        X, codes, self.classes_ = check_X_y(self, X, y)
        self._refuse_if_too_big(X, n_models=1)
        design, stats = standard_design(self, X, standardize=self.standardize)
        columns = design.columns
        if self.fit_intercept:
            columns = columns.centred_at(stats.mean[columns.kept])
        Y = one_versus_rest(codes, len(self.classes_))
        Y_mean = Y.mean(axis=0) if self.fit_intercept else np.zeros(Y.shape[1])
        data = LassoData(column_major(X, columns), Y - Y_mean, columns, Y_mean)
        # Positive also where no feature correlates with the classes: solvers divide by lam.
        self.lam_max_ = max(float(dual_norms(data.A, data.Y, self.multi_task).max()), np.finfo(np.float64).eps)
        return data

    def _refuse_if_too_big(self, X: AnyArray, n_models: int) -> None:
        m, n = X.shape
        weights = 2 * n_models * len(self.classes_) * n  # of all models, and in the order in which they are solved
        # X once more, and the Gram matrix that Newton's method works on.
        refuse_if_too_big(DOUBLE * (m * n + min(m, n) ** 2 + weights), self.memory_limit, type(self).__name__)

    def _chosen_lam(self) -> float:
        return self.lam_share * self.lam_max_ if self.lam is None else float(self.lam)

    def _publish(self, data: LassoData, W: Floats, n_iter: int) -> None:
        self.lam_, self.n_iter_ = self._chosen_lam(), n_iter
        self.coef_, self.intercept_ = data.in_units_of_X(W, self.n_features_in_)
        scores = two_tier_scores(row_norms(W), dual_norms(data.A, data.residual(W), self.multi_task))
        self.scores_, self.ranking_ = rank_kept(scores, data.columns.kept, self.n_features_in_)

    def _solve(self, data: LassoData, lams: Floats) -> tuple[Floats, int]:
        return lasso_weights(
            data.A, data.Y, lams, multi_task=self.multi_task, solver=self.solver, tol=self.tol, max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        )  # fmt: skip


def _approach(lam: float, lam_max: float) -> Floats:
    """Decades from below ``lam_max`` down to lam: descent from 0 to a small lam can take 70 times longer."""
    n_decades = max(0, int(np.log10(lam_max / lam)))
    return np.asarray(lam * 10.0 ** np.arange(n_decades, -1, -1))


def column_major(X: AnyArray, columns: Columns) -> Floats:
    """(X - mean) / scale with each column in one piece, as coordinate descent reads them."""
    kept, mean, scale = columns.kept, columns.mean, columns.scale
    Z = np.empty((len(kept), X.shape[0]))
    X = csc_array(X) if issparse(X) else X
    for part in cuts(len(kept), COLUMNS_AT_ONCE):
        piece = X[:, kept[part]] if len(kept) < X.shape[1] else X[:, part]
        np.subtract(dense(piece, X.dtype).T, mean[part, None], out=Z[part])
        Z[part] /= scale[part, None]
    return Z.T
