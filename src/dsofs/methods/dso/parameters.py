"""What the DSO estimators can be asked for: a rule for each parameter, and which settings go together."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dsofs.design.types import AnyArray
from dsofs.methods.dso.known import wrong_known
from dsofs.parameters import (
    ANY_INT,
    ARRAY_LIKE,
    BOOLEAN,
    DEPRECATED,
    MAPPING,
    NONE,
    Conflict,
    Rule,
    check_parameters,
    integer,
    options,
    real,
)
from dsofs.ranking import RANKINGS
from dsofs.solvers import SUPPORTS
from dsofs.validation import n_features_of, wrong_class_weight, wrong_groups

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
