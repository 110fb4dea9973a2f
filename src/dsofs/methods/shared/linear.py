"""What the linear models by reweighting share: the design of X, their fitted attributes, and the warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dsofs.design import StandardDesign, as_design, moments
from dsofs.design.copies import Copies, without_copies
from dsofs.design.threads import single_threaded
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.problem import Solution, Status
from dsofs.validation import check_squares, check_varies


class Scaled(Protocol):
    """Which features there are, and what is subtracted from them and divided by."""

    @property
    def kept(self) -> Ints: ...

    @property
    def mean(self) -> Floats: ...

    @property
    def scale(self) -> Floats: ...


def standard_design(estimator: Any, X: AnyArray, p: float, groups: Ints | None = None) -> tuple[StandardDesign, Copies]:
    """The design of a checked X, as the estimator's ``standardize`` and ``fit_intercept`` say; for p <= 1 no copies."""
    stats = moments(X)
    check_squares(estimator, stats.mean, stats.scale)
    design = as_design(X, stats, standardize=estimator.standardize, bias=estimator.fit_intercept)
    check_varies(estimator, design.kept, X.shape[1])
    if p > 1:
        return design, Copies.none()
    with single_threaded():
        return without_copies(design, groups)


def publish_solution(estimator: Any, data: Scaled, solution: Solution, convex: bool) -> None:
    """Set the fitted attributes of a linear model, W in the units of the X that was given."""
    coef = np.zeros((solution.W.shape[1], estimator.n_features_in_))
    coef[:, data.kept] = (solution.W[: len(data.kept)] / data.scale[:, None]).T
    bias = solution.W[-1] if estimator.fit_intercept else 0.0
    estimator.coef_ = coef
    estimator.intercept_ = bias - coef[:, data.kept] @ data.mean
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
