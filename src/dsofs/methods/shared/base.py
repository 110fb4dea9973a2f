"""What estimators share: standardised columns of X, a solution in its units, and one ranking of all features.

Any number of features can be taken from a ranking after the fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dsofs.design import Budget, Moments, NotFiniteError, StandardDesign, as_design, moments
from dsofs.design.backends.chunked import ChunkedArray
from dsofs.design.budget import single_threaded
from dsofs.design.linalg import on_host, widest_float
from dsofs.design.standard import Columns, Copies, probe, without_copies
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.problem import Solution, Status
from dsofs.ranking import first_ranked
from dsofs.validation import (
    NONE,
    Rule,
    check_parameters,
    check_squares,
    check_varies,
    explain_not_finite,
    integer,
    is_dispatched,
    reachable,
    real,
)

N_FEATURES_RULE: Rule = integer(1) | real(0, 1, closed="right") | NONE


def follow(estimator: BaseEstimator, X: AnyArray, y: AnyArray) -> None:
    """Move the fitted arrays to the library and device of X, and the classes to those of y where they are numbers."""
    for name, value in list(vars(estimator).items()):
        leader = y if name == "classes_" else X
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and is_dispatched(leader):
            setattr(estimator, name, moved_to(leader, value))


def moved_to(leader: AnyArray, host: np.ndarray) -> AnyArray:
    """A NumPy array in the library and on the device of ``leader``, in no more digits than that has."""
    if host.dtype.kind == "f":
        host = host.astype(np.float64 if widest_float(leader) == array_namespace(leader).float64 else np.float32)
    return array_namespace(leader).asarray(host, device=device(leader))


def check_same_library(estimator: BaseEstimator, X: AnyArray, fitted: AnyArray, method: str) -> None:
    """Refuse X of another array library, or on another device, than that of the fit, where libraries are kept apart."""
    if not (is_dispatched(X) or is_dispatched(fitted)):
        return
    both = is_dispatched(X) and is_dispatched(fitted)
    if not both or array_namespace(X) != array_namespace(fitted) or device(X) != device(fitted):
        raise ValueError(
            f"The X of {type(estimator).__name__}.{method}() must use the same namespace and device as that of fit(). "
            f"Got {type(X).__name__}, and the fit was on {type(fitted).__name__}."
        )


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
    _n_never: int = 0  # features or groups that cannot be selected

    def _n_selected(self, n_candidates: int) -> int:
        """The number of features, or groups of features, to select."""
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_candidates // 2)
        if isinstance(wanted, int | np.integer):
            return min(int(wanted), n_candidates)
        return max(1, int(wanted * n_candidates))

    def _n_candidates(self) -> int:
        every = self.n_features_in_ if self._groups is None else int(self._groups.max()) + 1
        return every - self._n_never

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
        check_parameters(self, {"n_features_to_select": N_FEATURES_RULE})  # it may have been changed
        return first_ranked(on_host(self.ranking_), self._groups, self._n_selected(self._n_candidates()))

    def transform(self, X: AnyArray) -> AnyArray:
        """X with the selected features alone."""
        check_is_fitted(self)
        X = reachable(self, X)
        check_same_library(self, X, self.ranking_, "transform")
        if not isinstance(X, ChunkedArray):
            return super().transform(X)
        validate_data(self, X.header(), reset=False, skip_check_array=True)
        return X.columns_of(self.get_support(indices=True))

    def inverse_transform(self, X: AnyArray) -> AnyArray:
        """The selected features in the places they were taken from, and zeros in all others."""
        if not is_dispatched(X):
            return super().inverse_transform(X)
        support = self.get_support(indices=True)
        whole = array_namespace(X).zeros((X.shape[0], self.n_features_in_), dtype=X.dtype, device=device(X))
        for place, column in enumerate(support):
            whole[:, int(column)] = X[:, place]
        return whole

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


# From X to standardised columns, and from a solution back to the units of X.


def standard_design(
    estimator: Any,
    X: AnyArray,
    targets: Floats | None = None,
    sample_weight: Floats | None = None,
    *,
    standardize: bool = True,
    bias: bool = False,
) -> tuple[StandardDesign, Moments]:
    """The design of X, whose columns vary and are finite, and their products with the targets: one pass over X."""
    budget = Budget.within(getattr(estimator, "memory_limit", None))
    try:
        stats = moments(X, targets, budget, sample_weight)
    except NotFiniteError:
        explain_not_finite(estimator, X)
        raise
    if not standardize:
        check_squares(estimator, stats.mean, stats.scale)
    design = as_design(X, stats, standardize=standardize, bias=float(bias), budget=budget, sample_weight=sample_weight)
    check_varies(estimator, design.kept, X.shape[1])
    return design, stats


def distinct_design(
    estimator: Any,
    X: AnyArray,
    p: float,
    groups: Ints | None = None,
    penalised: Bools | None = None,
    sample_weight: Floats | None = None,
    labels: Floats | None = None,
) -> tuple[StandardDesign, StandardDesign, Copies]:
    """The design as the estimator's ``standardize`` and ``fit_intercept`` say, of all features that vary and of those
    that are to be penalised; of the latter for p <= 1 without copies.

    ``labels``: what the fit multiplies X by first, if an X that takes long to read should be read less often.
    """
    standardize = estimator.standardize
    targets = probe(X.shape[0]) if labels is None else np.hstack([probe(X.shape[0]), labels])
    whole, stats = standard_design(
        estimator, X, targets, sample_weight, standardize=standardize, bias=estimator.fit_intercept
    )
    design = whole
    if penalised is not None:
        design = whole.part(np.flatnonzero(np.append(penalised[whole.kept], True)[: whole.n_columns]))
        check_varies(estimator, design.kept, X.shape[1])
    if p > 1:
        return whole, design, Copies.none()
    products = stats.targets[:, :2] * (1.0 if standardize else stats.scale[:, None])
    with single_threaded():
        return whole, *without_copies(design, products[design.kept], groups)


def publish_solution(estimator: Any, columns: Columns, solution: Solution, convex: bool, bias: float = 1.0) -> None:
    """Set the fitted attributes of a linear model, W in the units of the X that was given; ``bias``: of the design."""
    W = solution.W[: len(columns.kept)]
    estimator.coef_, offset = columns.in_units_of_X(W, estimator.n_features_in_)
    estimator.intercept_ = (bias * solution.W[-1] if len(solution.W) > len(W) else 0.0) - offset
    estimator.n_iter_ = solution.n_iter
    estimator.objective_ = solution.objective
    estimator.history_ = solution.history.as_arrays()
    estimator.status_ = solution.status.short
    estimator.duality_gap_ = solution.certificate if convex else np.nan
    estimator.stationarity_ = np.nan if convex else solution.certificate


def warn_not_converged(
    owner: str, solution: Solution, convex: bool, tol: float, cures: Mapping[Status, str], stacklevel: int = 5
) -> None:
    """Warn of a fit that did not converge: what its status means, and the cure."""
    if solution.status.converged:
        return
    name = "duality gap" if convex else "violation of stationarity"
    reached = f" after {solution.n_iter} steps: {name} {solution.certificate:.2g}, tol {tol:.2g}"
    warnings.warn(
        f"{owner}: {solution.status.value}{'' if solution.status.without_features else reached}. "
        f"{cures[solution.status]}",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
