"""Our solver: each outer step solves for all of W at once, exactly; slack where classes cannot be separated.

Unless the user sets C, slack costs so many times the C at which W leaves zero, and more while W has no feature:

    C  =  factor / p * entry_C,        entry_C  =  1 / max_g ||X_g'(v o Y)||,        then 10 C, 100 C, ...

with the weights v of the samples, 1 unless given; the C of a sample is multiplied by its weight.
At p = 1 and with hinge slack W is zero up to ``entry_C``, so costs in these units do not depend on the data's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dsofs.design.types import Bools, Floats
from dsofs.problem import History, Problem, Solution, Status, Survival, one_column
from dsofs.solvers.inner.equality import EqualityStep
from dsofs.solvers.inner.margin import FEW_SAMPLES, FreeModel, MarginStep, free_model
from dsofs.solvers.linear_programs.interior import solve_interior
from dsofs.solvers.loop.point import Step
from dsofs.solvers.loop.reweight import reweight
from dsofs.solvers.separability import even_weights, find_conflicts

STEPS: dict[str, Callable[[Problem], Step]] = {"margin": MarginStep, "equality": EqualityStep}
Found = TypeVar("Found", bound=Solution | None)  # a solver of which it is known that there is a solution returns one

# Both chosen by held-out accuracy. C="auto" (benchmarks/defaults.py) falls with the root of the number of columns of Y;
# what it costs to give up a class must not. The other (benchmarks/slack.py) is for classes that hard margins cannot
# separate.
AUTO_C, DEFAULT_C = 30.0, 10.0
RAISED = (1.0, 1e1, 1e2, 1e3, 1e4)  # times that, if no feature is worth having at so low a cost of slack
UNCORRELATED = 0.01  # of the largest column: the least correlation with the labels that is taken for one


def solve_joint(
    problem: Problem, *, tol: float, max_iter: int, weights: Floats | None = None, survival: Survival | None = None
) -> Solution:
    """Hard constraints where they can be met; squared slack for the classes where they cannot."""
    model = free_model(problem)
    if model.separates:
        return _without_features(problem, model)
    run = partial(_run, tol=tol, max_iter=max_iter)
    solution = run(problem, weights=weights, survival=survival)
    if solution is None and weights is not None:
        solution = run(problem)  # the rows to start from are too few, which says nothing about the others
    if solution is None and problem.C is not None:
        raise ValueError(
            "The 'C' parameter, or what 'auto' stands for, is too large for floating point: lower it, leave it None, "
            "or use standardize=True if that is off."
        )
    return solution or _solve_relaxed(problem, run)


def _without_features(problem: Problem, model: FreeModel) -> Solution:
    """W = 0, which nothing can better, since the rows that are not penalised do all there is to do."""
    W, survival = np.zeros((problem.X.n_columns, problem.Y.shape[1])), Survival.start(problem.n_groups)
    history = History()
    survival.record(np.zeros(problem.n_groups))
    history.append(0.0, 0.0, 0, 0.0)
    return Solution(W, np.zeros_like(problem.Y), Status.NOTHING_LEFT, 0.0, 0.0, history, survival, model.weights)


def _run(
    problem: Problem, weights: Floats | None = None, survival: Survival | None = None, **options: Any
) -> Solution | None:
    if weights is None and suits_interior(problem):  # a linear program; where this does not end well the loop decides
        solution = solve_interior(problem, **options)
        if solution is not None:
            return solution
    if problem.convex or weights is None or weights.all():
        step = STEPS[problem.constraint](problem)
        return reweight(problem, step, weights=weights, survival=survival, **options)
    # Below p = 1 a row of zeros stays one: only the others take part.
    groups = np.flatnonzero(weights)
    part = _run(problem.part(groups), weights[groups], survival and survival.part(groups), **options)
    if part is None:
        return None
    W = np.zeros((problem.X.n_columns, problem.Y.shape[1]))
    W[problem.rows_of(groups)] = part.W
    survival = survival or Survival.start(problem.n_groups)
    return replace(part, W=W, survival=survival.with_part(groups, part.survival))


def suits_interior(problem: Problem) -> bool:
    """Whether this is a problem for ``solve_interior``."""
    if problem.terms is not None or problem.groups is not None or problem.free is not None:
        return False
    if problem.constraint != "margin":
        return False
    if problem.p != 1 or problem.Y.shape[1] > 1:
        return False
    if problem.C is None:  # more samples than this can hardly be separated, which the loop finds out sooner
        return problem.X.sample_size <= max(2 * problem.X.n_columns, FEW_SAMPLES)
    return problem.loss == "hinge" and bool(np.all((problem.C > 0) & np.isfinite(problem.C)))


def _solve_relaxed(problem: Problem, run: Callable[..., Solution | None]) -> Solution:
    conflicts = find_conflicts(problem)
    relaxed = np.array([len(samples) > 0 for samples in conflicts])
    if not relaxed.any():
        solution = run(problem, weights=even_weights(problem))  # columns of very different size drown each other
        solution = solution or _solve_from_convex(problem, run)
        if solution is not None:
            return solution
    solution = None
    if relaxed.any() and problem.constraint == "margin":
        _, solution = solve_with_features(problem, default_C(problem, relaxed), run)
    if solution is None:
        # X W = Y has no solution, or a class can be separated by less than floating point can tell.
        _, solution = solve_with_features(problem, default_C(problem, np.ones_like(relaxed)), run)
    assert solution is not None, "a problem with slack for all classes has a solution"
    status = Status.CONVERGED_WITH_SLACK if solution.status is Status.CONVERGED else solution.status
    return replace(solution, status=status, conflicts=np.unique(np.concatenate(conflicts)))


def _solve_from_convex(problem: Problem, run: Callable[..., Solution | None]) -> Solution | None:
    """From the solution at p = 1, which keeps margins too narrow for the inner step; if that fails, that itself."""
    convex = None if problem.convex else run(replace(problem, p=1.0))
    if convex is None:
        return None
    norms = problem.norms(convex.W)
    solution = run(problem, weights=problem.penalty.weights(norms))
    objective = problem.penalty.value(norms) * problem.unit
    return solution or replace(convex, status=Status.STALLED, objective=objective, certificate=np.inf)


def entry_C(problem: Problem, norms: Floats | None = None) -> float:
    """The C at which W leaves zero at p = 1: with rows that are not penalised, from the model of these alone.

    ``norms``: of the columns, where they are known.
    """
    entry = float(problem.dual_norms(problem.X.weighted(problem.Y * free_model(problem).missing)).max())
    norms = problem.X.column_norms() if norms is None else norms
    features = norms[: problem.X.n_columns - problem.bias]
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
        soft = problem.with_C(one_column(partial(np.multiply, factor), C))
        solution = solve(soft, **(start if first is None else {}))
        if solution is None or not soft.without_features(solution.W):
            return soft, solution
        first = first or (soft, solution)
    assert first is not None
    return first
