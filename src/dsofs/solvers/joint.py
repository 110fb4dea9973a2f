"""Our solver: each outer step solves for all of W at once, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dsofs.arrays.types import Floats
from dsofs.problem import Problem, Solution, Status, Survival
from dsofs.solvers.equality import EqualityStep
from dsofs.solvers.margin import MarginStep
from dsofs.solvers.point import Step
from dsofs.solvers.reweight import reweight
from dsofs.solvers.separability import default_C, even_weights, find_conflicts

STEPS: dict[str, Callable[[Problem], Step]] = {"margin": MarginStep, "equality": EqualityStep}


def solve_joint(
    problem: Problem, *, tol: float, max_iter: int, weights: Floats | None = None, survival: Survival | None = None
) -> Solution:
    """Hard constraints where they can be met; squared slack for the classes where they cannot."""
    run = partial(_run, tol=tol, max_iter=max_iter)
    solution = run(problem, weights=weights, survival=survival)
    if solution is None and weights is not None:
        solution = run(problem)  # the rows to start from are too few, which says nothing about the others
    if solution is None and problem.C is not None:
        raise ValueError(
            "The 'C' parameter is too large for classes that cannot be separated: lower it, or leave it None."
        )
    return solution or _solve_relaxed(problem, run)


def _run(problem: Problem, **options: Any) -> Solution | None:
    return reweight(problem, STEPS[problem.constraint](problem), **options)


def _solve_relaxed(problem: Problem, run: Callable[..., Solution | None]) -> Solution:
    conflicts = find_conflicts(problem)
    relaxed = np.array([len(samples) > 0 for samples in conflicts])
    if not relaxed.any():
        solution = run(problem, weights=even_weights(problem))  # columns of very different size drown each other
        if solution is not None:
            return solution
    solution = None
    if relaxed.any() and problem.constraint == "margin":
        solution = run(problem.with_C(default_C(problem, relaxed)))
    if solution is None:
        # X W = Y has no solution, or a class can be separated by less than floating point can tell.
        solution = run(problem.with_C(default_C(problem, np.ones_like(relaxed))))
    assert solution is not None, "a problem with slack for all classes has a solution"
    status = Status.CONVERGED_WITH_SLACK if solution.status is Status.CONVERGED else solution.status
    return replace(solution, status=status, conflicts=np.unique(np.concatenate(conflicts)))
