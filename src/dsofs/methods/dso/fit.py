"""What the DSO estimators share: rules for their parameters, problems from (X, y), attributes from a solution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dsofs.design import Design
from dsofs.design.backends.chunked import ChunkedArray
from dsofs.design.budget import DOUBLE, Budget, refuse_if_too_big, single_threaded
from dsofs.design.standard import Copies, StandardDesign
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.group_sizes import GroupSizes
from dsofs.methods.dso.known import FreeColumns, Known, wrong_factors_in_groups, wrong_known
from dsofs.methods.shared.base import distinct_design, publish_solution, warn_not_converged
from dsofs.problem import Problem, Solution, Status
from dsofs.ranking import RANKINGS, rank_features
from dsofs.solvers import SUPPORTS, solve
from dsofs.solvers.joint import auto_C, costs, entry_C, solve_with_features
from dsofs.validation import (
    ANY_INT,
    ARRAY_LIKE,
    BOOLEAN,
    DEPRECATED,
    MAPPING,
    NONE,
    Conflict,
    Rule,
    check_groups,
    check_parameters,
    check_weighted_X_y,
    integer,
    n_features_of,
    one_versus_rest,
    options,
    real,
    sample_importance,
    wrong_class_weight,
    wrong_groups,
)

AUTO = "auto"
HINGE = "hinge"
LOSSES = ("squared_hinge", HINGE)
CONSTRAINTS = tuple(dict.fromkeys(constraint for supports in SUPPORTS.values() for constraint in supports.losses))
DSO_RULES: dict[str, Rule] = {
    "p": real(0, 2),
    "C": options(AUTO) | real(0) | NONE,
    "loss": options(*LOSSES),
    "constraint": options(*CONSTRAINTS),
    "solver": options(*SUPPORTS),
    "ranking": options(*RANKINGS),
    "standardize": BOOLEAN,
    "fit_intercept": BOOLEAN,
    "feature_groups": ARRAY_LIKE | NONE,
    "penalty_factor": ARRAY_LIKE | MAPPING | NONE,
    "intercept_penalty": real(0, closed="left"),
    "include": ARRAY_LIKE | NONE,
    "exclude": ARRAY_LIKE | NONE,
    "class_weight": options("balanced") | MAPPING | NONE,
    "tol": real(0),
    "max_iter": integer(1),
    "memory_limit": integer(1) | NONE,
    "n_jobs": options(DEPRECATED) | ANY_INT | NONE,
    "verbose": integer(0),
}
ELIMINATION = 4  # copies of X, dense, that Algorithm 1's elimination holds
GRAMS = 3  # m x m matrices that equalities without slack, and hinge, hold whatever the shape of X


# What can be asked for: a rule for each parameter, and which settings go together.


def dso_conflicts(cost: str, asks_for_slack: Rule, cure: str) -> tuple[Conflict, ...]:
    """What solvers do not support, as each declares; ``cost`` is the parameter that holds the C, or several."""
    table = []
    for solver, supports in SUPPORTS.items():
        if supports.no_slack:
            sentence = f"The {cost!r} parameter {cure} with {solver=}: {supports.no_slack}."
            table.append(Conflict({"solver": options(solver), cost: asks_for_slack}, sentence))
        for constraint, losses in supports.losses.items():
            missing = options(*(loss for loss in LOSSES if loss not in losses))
            sentence = f"The 'loss' parameter of {{owner}} must be {options(*losses).words} with {constraint=}."
            clash = {"solver": options(solver), "constraint": options(constraint), "loss": missing}
            table.append(Conflict(clash, sentence))
    return tuple(table)


DSO_CONFLICTS = dso_conflicts("C", real(0), "must be None")


def check_call(
    estimator: Any,
    X: AnyArray,
    y: AnyArray,
    rules: Mapping[str, Rule],
    conflicts: Iterable[Conflict] = DSO_CONFLICTS,
    others: Iterable[str] = (),
) -> None:
    """Refuse all that is wrong with the parameters in one error, before the first pass over X."""
    owner = type(estimator).__name__
    groups = wrong_groups(owner, estimator.feature_groups, n_features_of(X))
    weights = wrong_class_weight(owner, estimator.class_weight, y)
    known = [*wrong_known(owner, estimator, X), *_wrong_without_penalty(estimator)]
    check_parameters(estimator, rules, conflicts, [*others, *groups, *weights, *known])
    if estimator.loss == HINGE:
        _warn_deprecated(
            f"loss={HINGE!r} of {owner} is deprecated and will be removed in version 0.2: its fits can stall, take ten "
            "times as long and are no more accurate. Use loss='squared_hinge', the default."
        )
    if rules["n_jobs"].test(DEPRECATED) and estimator.n_jobs != DEPRECATED:
        _warn_deprecated(
            f"The 'n_jobs' parameter of {owner} has no effect, is deprecated and will be removed in version 0.2. Leave "
            "it out; large products use all cores without it."
        )


def _wrong_without_penalty(estimator: Any) -> Iterator[str]:
    """Not all solvers and losses can leave a row without penalty."""
    supported = SUPPORTS[estimator.solver].free_rows if estimator.solver in SUPPORTS else True
    if supported and estimator.loss != HINGE:
        return
    given = estimator.penalty_factor
    values = list(given.values()) if isinstance(given, Mapping) else given
    zero = values is not None and ARRAY_LIKE.test(values) and any(value == 0 for value in values)
    if zero or estimator.intercept_penalty == 0 or (estimator.include is not None and len(estimator.include)):
        yield (
            f"{type(estimator).__name__} can leave features or the bias without penalty (include, penalty_factor or "
            "intercept_penalty of 0) only with solver='joint' and loss='squared_hinge'."
        )


def _warn_deprecated(text: str) -> None:
    warnings.warn(text, FutureWarning, stacklevel=5)  # at the line that calls ``fit``


# From (X, y) to problems, and from a solution to fitted attributes.


@dataclass(frozen=True)
class TrainingData:
    """Checked data, its standardised design and its labels: everything of a problem but p and C."""

    X: AnyArray
    classes: np.ndarray
    codes: Ints
    known: Known
    size: Floats | None  # s_g of the group of every feature, see ``GroupSizes``; None if all are 1
    copies: Copies  # features that repeat one of the kept
    view: StandardDesign  # of the features that are penalised, and neither constant nor copies
    design: Design  # the same, held in memory if it fits
    free: FreeColumns
    groups: Ints | None  # of the rows of W
    chance: Floats | None  # of these groups
    importance: Floats | None  # of each sample: the product of its weight and that of its class
    constraint: str
    loss: str
    intercept_penalty: float
    given: Ints | None = None  # where the samples are in the X of the user, if some have weight 0

    @property
    def Y(self) -> Floats:
        """One column of +1 / -1 per class; for two classes one column, +1 for the second."""
        return one_versus_rest(self.codes, len(self.classes))

    def problem(self, p: float, C: float | None) -> Problem:
        """``C``: of every sample of importance 1; None for hard constraints."""
        view = self.scaled_view(p)
        design = self.design if view is self.view else view.compact()
        hard = Problem(
            design, self.Y, float(p), self.constraint, None, self.loss, self.groups, self.chance, self.importance,
            view.bias != 0, free=self.free.F if self.free.F.size else None, factor=self._factor_of_groups,
        )  # fmt: skip
        return hard if C is None else hard.with_C(costs(hard, C))

    @cached_property
    def _factor_of_groups(self) -> Floats | None:
        """v of every group of rows of W; None if all are 1."""
        if self.known.plain and self.intercept_penalty in (0, 1):
            return None
        factor = self.known.factor[self.view.kept]
        factor = np.append(factor, self.intercept_penalty) if self.view.bias else factor
        return factor if self.groups is None else factor[np.unique(self.groups, return_index=True)[1]]

    def scaled_view(self, p: float) -> StandardDesign:
        """With columns divided by v^(1/p):  ||v^(1/p) w||^p  is  v ||w||^p."""
        factor = self.known.factor[self.view.kept]
        if (factor == 1).all() and self.intercept_penalty == 1:
            return self.view
        return self.view.divided_by(factor ** (1 / p), (self.intercept_penalty or 1.0) ** (1 / p))

    @cached_property
    def entry_C(self) -> float:
        """The C at which W leaves zero at p = 1."""
        with single_threaded():
            return entry_C(self.problem(1.0, None), self.scaled_view(1.0).column_norms())


def prepare(estimator: Any, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None = None) -> TrainingData:
    """Check the data, refuse what does not fit in memory, and set up the design."""
    X, codes, classes, weights, given_at = check_weighted_X_y(estimator, X, y, sample_weight)
    given = estimator.feature_groups
    estimator._groups = None if given is None else check_groups(estimator, given, X.shape[1])
    estimator._n_never = _n_never(estimator, _known(estimator, X.shape[1]))
    importance = sample_importance(estimator.class_weight, classes, codes, weights)
    if weights is not None:
        importance = weights if importance is None else importance * weights
    data = training_data(estimator, X, codes, classes, importance, weights)
    return data if given_at is None else replace(data, given=given_at)


def training_data(
    estimator: Any,
    X: AnyArray,
    codes: Ints,
    classes: np.ndarray,
    importance: Floats | None,
    sample_weight: Floats | None,
) -> TrainingData:
    n = X.shape[1]
    needed = _needed_bytes(estimator, X, len(classes))
    refuse_if_too_big(needed, estimator.memory_limit, type(estimator).__name__)
    known = _known(estimator, n)
    penalised = None if known.plain else np.isfinite(known.factor) & (known.factor > 0)
    targets = None
    if isinstance(X, ChunkedArray):  # the first pass takes its products with the labels along
        Y = one_versus_rest(codes, len(classes))
        targets = Y if sample_weight is None else sample_weight[:, None] * Y
    whole, design, copies = distinct_design(
        estimator, X, _largest_p(estimator), estimator._groups, penalised, sample_weight, targets
    )
    free_bias = estimator.fit_intercept and estimator.intercept_penalty == 0
    free = FreeColumns.of(whole, known, free_bias)
    if free_bias:
        design = design.part(np.arange(len(design.kept)))
    groups = chance = size = None
    if estimator._groups is not None:
        labels, groups = np.unique(estimator._groups[design.kept], return_inverse=True)
        with single_threaded():
            sizes = GroupSizes.of(design, groups, n_targets=1 if len(classes) == 2 else len(classes))
        design, chance = design.divided_by(sizes.factor[groups]), sizes.chance
        size, present = np.ones(n), np.isin(estimator._groups, labels)
        size[present] = sizes.factor[np.searchsorted(labels, estimator._groups[present])]
        if design.bias:  # it is a group of its own
            groups, chance = np.append(groups, len(labels)), np.append(chance, 1.0)
    return TrainingData(
        X, classes, codes, known, size, copies, design, design.compact(), free, groups, chance,
        importance, estimator.constraint, estimator.loss, float(estimator.intercept_penalty),
    )  # fmt: skip


def _needed_bytes(estimator: Any, X: AnyArray, n_classes: int) -> int:
    """What a fit needs beyond X."""
    m, n = X.shape
    needed = Budget.within(estimator.memory_limit).fit_bytes(m, n, n_classes, chunked=isinstance(X, ChunkedArray))
    if estimator.solver == "alternating":
        needed += ELIMINATION * DOUBLE * m * n
    equalities = estimator.constraint == "equality" and _asks_for_none(estimator)
    if equalities or estimator.loss == HINGE or estimator.solver == "alternating":
        needed += GRAMS * DOUBLE * m**2
    return needed


def _known(estimator: Any, n_features: int) -> Known:
    known = Known.of(estimator, n_features, estimator._groups)
    if estimator._groups is not None:
        for sentence in wrong_factors_in_groups(type(estimator).__name__, known.factor, estimator._groups):
            raise ValueError(sentence)
    return known


def _n_never(estimator: Any, known: Known) -> int:
    """How many features, or groups of them, are never selected."""
    never = np.flatnonzero(~known.selectable)
    return len(never) if estimator._groups is None else len(np.unique(estimator._groups[never]))


def _largest_p(estimator: Any) -> float:
    """The power of the norm; of a cross-validation the largest."""
    return float(estimator.p) if hasattr(estimator, "p") else max(map(float, estimator.ps), default=1.0)


def _asks_for_none(estimator: Any) -> bool:
    """Whether there is to be no slack, in a cross-validation at least for once."""
    if hasattr(estimator, "C"):
        return estimator.C is None
    return estimator.Cs is not None and any(C is None for C in estimator.Cs)


@single_threaded()
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
    view = data.scaled_view(problem.unit)
    publish_solution(estimator, view.columns, solution, problem.convex, view.bias)
    data.free.add_to(estimator, solution.free)
    estimator.classes_ = data.classes
    estimator.conflicts_ = solution.conflicts if data.given is None else data.given[solution.conflicts]
    factor = np.ones(1) if data.size is None else data.size**problem.p
    estimator.penalty_factor_ = data.known.factor * factor


def ranked(estimator: Any, data: TrainingData, problem: Problem, solution: Solution) -> tuple[Floats, Ints]:
    """Scores and ranks of all features, by the estimator's rule."""
    scores, ranking = rank_features(
        problem, solution, estimator.ranking, data.view.kept, data.copies, estimator.n_features_in_
    )
    return data.known.ranked(scores, ranking)


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
        Status.NOTHING_LEFT: "Leave some of them out, or trust them alone.",
        Status.ZERO: "Raise C if it was set; otherwise no linear rule does better than none.",
        Status.RELAXED: "Use solver='joint', which keeps the margins where they can be kept.",
    }
    warn_not_converged(owner, solution, problem.convex, tol, cures)


def warn_without_features(estimator: BaseEstimator, problem: Problem, solution: Solution) -> None:
    """Tell the user of a selector that what it ranks by is not the model."""
    if solution.status is Status.CONVERGED and problem.without_features(solution.W):
        warnings.warn(
            f"{type(estimator).__name__}: no feature has a weight, the bias alone is optimal. Features are "
            "ranked by their correlation with the classes. Raise C, or use loss='squared_hinge'.",
            UserWarning,
            stacklevel=4,
        )
