"""What the estimators share: from X to standardised columns, and from a solution back to the units of X."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dsofs.design import Budget, Moments, NotFiniteError, StandardDesign, as_design, moments
from dsofs.design.budget import single_threaded
from dsofs.design.standard import Columns, Copies, probe, without_copies
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.problem import Solution, Status
from dsofs.validation import check_squares, check_varies, explain_not_finite


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
) -> tuple[StandardDesign, StandardDesign, Copies]:
    """The design as the estimator's ``standardize`` and ``fit_intercept`` say, of all features that vary and of those
    that are to be penalised; of the latter for p <= 1 without copies."""
    standardize = estimator.standardize
    whole, stats = standard_design(
        estimator, X, probe(X.shape[0]), sample_weight, standardize=standardize, bias=estimator.fit_intercept
    )
    design = whole
    if penalised is not None:
        design = whole.part(np.flatnonzero(np.append(penalised[whole.kept], True)[: whole.n_columns]))
        check_varies(estimator, design.kept, X.shape[1])
    if p > 1:
        return whole, design, Copies.none()
    products = stats.targets[:, 0] * (1.0 if standardize else stats.scale)
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
    """Tell the user of a fit that did not converge what its status means, and the cure."""
    if solution.status.converged:
        return
    name = "duality gap" if convex else "violation of stationarity"
    reached = f" after {solution.n_iter} steps: {name} {solution.certificate:.2g}, tol {tol:.2g}"
    warnings.warn(
        f"{owner}: {solution.status.value}{'' if solution.status is Status.ZERO else reached}. "
        f"{cures[solution.status]}",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
