"""What slack costs unless the user says: in units of the C at which W leaves zero, and raised while W has no feature.

    C  =  factor / p * entry_C,        entry_C  =  1 / max_g ||X_g'(v o Y)||,        then 10 C, 100 C, ...

with the weights v of the samples, 1 unless given; the C of a sample is multiplied by its weight.
At p = 1 and with hinge slack W is zero up to ``entry_C``, so costs in these units do not depend on the data's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dsofs.design.types import Bools, Floats
from dsofs.problem import Problem, Solution
from dsofs.solvers.inner.margin import free_model

Found = TypeVar("Found", bound=Solution | None)  # a solver of which it is known that there is a solution returns one

# Both chosen by held-out accuracy. C="auto" (benchmarks/defaults.py) falls with the root of the number of columns of Y;
# what it costs to give up a class must not. The other (benchmarks/slack.py) is for classes that hard margins cannot
# separate.
AUTO_C, DEFAULT_C = 30.0, 10.0
RAISED = (1.0, 1e1, 1e2, 1e3, 1e4)  # times that, if no feature is worth having at so low a cost of slack
UNCORRELATED = 0.01  # of the largest column: the least correlation with the labels that is taken for one


def entry_C(problem: Problem) -> float:
    """The C at which W leaves zero at p = 1: with rows that are not penalised, from the model of these alone."""
    entry = float(problem.dual_norms(problem.X.weighted(problem.Y * free_model(problem).missing)).max())
    features = problem.X.column_norms()[: problem.X.n_columns - problem.bias]
    # Where no column is correlated with the labels (exclusive or), W = 0 is the best whatever slack costs.
    return 1 / max(entry, UNCORRELATED * float(features.max()) * problem.X.total_weight**0.5)


def auto_C(problem: Problem, entry: float) -> Floats:
    """What C="auto" stands for, the C of entry being known."""
    return costs(problem, AUTO_C * problem.Y.shape[1] ** 0.5 / problem.p * entry)


def default_C(problem: Problem, relaxed: Bools) -> Floats:
    """C for the columns ``relaxed``, infinity (a hard margin) for the others."""
    return costs(problem, np.where(relaxed, DEFAULT_C / problem.p * entry_C(problem), np.inf))


def costs(problem: Problem, C: float | Floats) -> Floats:
    """C for every sample and column, by the importance of the sample."""
    importance = np.ones(len(problem.Y)) if problem.importance is None else problem.importance
    return np.broadcast_to(C * importance[:, None], problem.Y.shape)


def solve_with_features(
    problem: Problem, C: Floats, solve: Callable[..., Found], **start: Any
) -> tuple[Problem, Found]:
    """At the first of C, 10 C, ... at which some feature is worth having, or at C if none is; ``start`` is for C."""
    first = None
    for factor in RAISED:
        soft = problem.with_C(factor * C)
        solution = solve(soft, **(start if first is None else {}))
        if solution is None or not soft.without_features(solution.W):
            return soft, solution
        first = first or (soft, solution)
    assert first is not None
    return first
