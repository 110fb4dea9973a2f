"""What the DSO estimators share: from (X, y) to problems, and from a solution to fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dsofs.design import Design
from dsofs.design.budget import DOUBLE, Budget, refuse_if_too_big
from dsofs.design.copies import Copies
from dsofs.design.standard import Columns
from dsofs.design.threads import single_threaded
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.group_sizes import GroupSizes
from dsofs.methods.dso.parameters import HINGE
from dsofs.methods.shared.linear import distinct_design, publish_solution, warn_not_converged
from dsofs.problem import Problem, Solution, Status
from dsofs.ranking import rank_features
from dsofs.solvers import solve
from dsofs.solvers.slack import auto_C, costs, entry_C, solve_with_features
from dsofs.validation import check_groups, check_X_y, one_versus_rest, sample_importance

ELIMINATION = 4  # copies of X, dense, that Algorithm 1's elimination holds
GRAMS = 3  # m x m matrices that equalities without slack, and hinge, hold whatever the shape of X


@dataclass(frozen=True)
class TrainingData:
    """Checked data, its standardised design and its labels: everything of a problem but p and C."""

    X: AnyArray
    classes: np.ndarray
    codes: Ints
    columns: Columns  # the features that are neither constant nor copies, and what is subtracted and divided by
    factor: Floats  # s_g of the group of every feature, see ``GroupSizes``
    copies: Copies  # features that repeat one of the kept
    design: Design
    groups: Ints | None  # of the rows of W
    chance: Floats | None  # of these groups
    importance: Floats | None
    constraint: str
    loss: str
    bias: bool

    @property
    def Y(self) -> Floats:
        """One column of +1 / -1 per class; for two classes one column, +1 for the second."""
        return one_versus_rest(self.codes, len(self.classes))

    def problem(self, p: float, C: float | None) -> Problem:
        """``C``: of every sample of importance 1; None for hard constraints."""
        hard = Problem(
            self.design, self.Y, float(p), self.constraint, None, self.loss, self.groups, self.chance, self.importance,
            self.bias,
        )  # fmt: skip
        return hard if C is None else hard.with_C(costs(hard, C))

    @cached_property
    def entry_C(self) -> float:
        """The C at which W leaves zero at p = 1."""
        with single_threaded():
            return entry_C(self.problem(1.0, None))


def prepare(estimator: Any, X: AnyArray, y: AnyArray) -> TrainingData:
    """Check the data, refuse what does not fit in memory, and set up the design."""
    X, codes, classes = check_X_y(estimator, X, y)
    given = estimator.feature_groups
    estimator._groups = None if given is None else check_groups(estimator, given, X.shape[1])
    importance = sample_importance(estimator.class_weight, classes, codes)
    return training_data(estimator, X, codes, classes, importance)


def training_data(
    estimator: Any, X: AnyArray, codes: Ints, classes: np.ndarray, importance: Floats | None
) -> TrainingData:
    owner, (m, n) = type(estimator).__name__, X.shape
    needed = Budget.within(estimator.memory_limit).fit_bytes(m, n, len(classes))
    if estimator.solver == "alternating":
        needed += ELIMINATION * DOUBLE * m * n
    equalities = estimator.constraint == "equality" and _asks_for_none(estimator)
    if equalities or estimator.loss == HINGE or estimator.solver == "alternating":
        needed += GRAMS * DOUBLE * m**2
    refuse_if_too_big(needed, estimator.memory_limit, owner)
    design, copies = distinct_design(estimator, X, _largest_p(estimator), estimator._groups)
    groups = chance = None
    factor = np.ones(n)
    if estimator._groups is not None:
        labels, groups = np.unique(estimator._groups[design.kept], return_inverse=True)
        with single_threaded():
            sizes = GroupSizes.of(design, groups, n_targets=1 if len(classes) == 2 else len(classes))
        design, chance = design.divided_by(sizes.factor[groups]), sizes.chance
        known = np.isin(estimator._groups, labels)
        factor[known] = sizes.factor[np.searchsorted(labels, estimator._groups[known])]
        if estimator.fit_intercept:  # the bias is a group of its own
            groups, chance = np.append(groups, len(labels)), np.append(chance, 1.0)
    return TrainingData(
        X, classes, codes, design.columns, factor, copies, design.compact(), groups, chance,
        importance, estimator.constraint, estimator.loss, estimator.fit_intercept,
    )  # fmt: skip


def _largest_p(estimator: Any) -> float:
    """The power of the norm; of a cross-validation the largest."""
    return float(estimator.p) if hasattr(estimator, "p") else max(map(float, estimator.ps), default=1.0)


def _asks_for_none(estimator: Any) -> bool:
    """Whether there is to be no slack, in a cross-validation at least for once."""
    if hasattr(estimator, "C"):
        return estimator.C is None
    return estimator.Cs is not None and any(C is None for C in estimator.Cs)


def solve_dso(
    estimator: Any, data: TrainingData, p: float, C: float | str | None, **start: Any
) -> tuple[Problem, Solution]:
    """The problem of an estimator for p and C, and its solution."""
    settings = {name: getattr(estimator, name) for name in ("solver", "tol", "max_iter", "verbose")}
    run: Callable[..., Solution] = partial(solve, **settings)
    if not isinstance(C, str):
        problem = data.problem(p, C)
        return problem, run(problem, **start)
    hard = data.problem(p, None)
    if estimator.solver != "alternating":  # the paper's algorithm has no slack
        problem, solution = solve_with_features(hard, auto_C(hard, data.entry_C), run, **start)
        if not problem.without_features(solution.W):
            return problem, solution
        start = {}
    return hard, run(hard, **start)


def publish(estimator: Any, data: TrainingData, problem: Problem, solution: Solution) -> None:
    """Set the fitted attributes of a DSO estimator, W in the units of the X that was given."""
    publish_solution(estimator, data.columns, solution, problem.convex)
    estimator.classes_ = data.classes
    estimator.conflicts_ = solution.conflicts
    estimator.penalty_factor_ = data.factor**problem.p


def ranked(estimator: Any, data: TrainingData, problem: Problem, solution: Solution) -> tuple[Floats, Ints]:
    """Scores and ranks of all features, by the estimator's rule."""
    return rank_features(problem, solution, estimator.ranking, data.columns.kept, data.copies, estimator.n_features_in_)


def warn_about(estimator: BaseEstimator, problem: Problem, solution: Solution, tol: float) -> None:
    """Tell the user what the status means and what to do about it."""
    owner = type(estimator).__name__
    if len(solution.conflicts):
        warnings.warn(
            f"{owner}: the classes cannot be separated: {len(solution.conflicts)} samples contradict each other "
            "(conflicts_). Their classes were given slack. Look for wrong labels among them, or set C.",
            UserWarning,
            stacklevel=4,
        )
    elif solution.status is Status.CONVERGED_WITH_SLACK:
        reason = {
            "margin": "the margins cannot be met in floating point, though nothing proves that the classes overlap: "
            "some samples of different classes may be almost equal",
            "equality": "X W = Y has no solution",
        }[problem.constraint]
        warnings.warn(
            f"{owner}: {reason}. Slack was allowed. Set C, or fit with an intercept if there is none.",
            UserWarning,
            stacklevel=4,
        )
    cures = {
        Status.MAX_ITER: "Raise max_iter or tol.",
        Status.STALLED: "Raise tol, lower a very large C, or use solver='joint' if it is not in use.",
        Status.ZERO: "Raise C if it was set; otherwise no linear rule does better than none.",
        Status.RELAXED: "Use solver='joint', which keeps the margins where they can be kept.",
    }
    warn_not_converged(owner, solution, problem.convex, tol, cures)


def warn_without_features(estimator: BaseEstimator, problem: Problem, solution: Solution) -> None:
    """Tell the user of a selector that what it ranks by is not the model."""
    if solution.status is Status.CONVERGED and problem.without_features(solution.W):
        warnings.warn(
            f"{type(estimator).__name__}: no feature is worth its weight, the bias alone is the best. Features are "
            "ranked by their correlation with the classes. Raise C, or use loss='squared_hinge'.",
            UserWarning,
            stacklevel=4,
        )
