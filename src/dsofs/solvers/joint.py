"""Our solver: each outer step solves for all of W at once, exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dsofs.arrays.types import Floats
from dsofs.problem import Problem, Solution, Status, Survival
from dsofs.solvers.equality import equality_step
from dsofs.solvers.margin import margin_step
from dsofs.solvers.point import Step
from dsofs.solvers.reweight import reweight
from dsofs.solvers.separability import default_slack, find_conflicts

STEPS: dict[str, Step] = {"margin": margin_step, "equality": equality_step}


def solve_joint(
    problem: Problem, *, tol: float, max_iter: int, weights: Floats | None = None, survival: Survival | None = None
) -> Solution:
    """Hard constraints where they can be met; squared slack for the classes where they cannot."""
    step = STEPS[problem.constraint]
    solution = reweight(problem, step, tol=tol, max_iter=max_iter, weights=weights, survival=survival)
    return solution or _solve_relaxed(problem, step, tol=tol, max_iter=max_iter)


def _solve_relaxed(problem: Problem, step: Step, *, tol: float, max_iter: int) -> Solution:
    conflicts = find_conflicts(problem)
    relaxed = np.array([len(samples) > 0 for samples in conflicts])
    if not relaxed.any() or problem.constraint == "equality":
        relaxed[:] = True  # separable by less than floating point can tell, or X W = Y has no solution
    slack = default_slack(problem, relaxed)
    solution = reweight(problem.with_slack(slack), step, tol=tol, max_iter=max_iter)
    assert solution is not None, "a problem with slack always has a solution"
    status = Status.CONVERGED_WITH_SLACK if solution.status is Status.CONVERGED else solution.status
    return replace(solution, status=status, conflicts=np.unique(np.concatenate(conflicts)))
