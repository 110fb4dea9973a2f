"""Solvers: problem in, solution out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dsofs.design.threads import single_threaded
from dsofs.design.types import Floats
from dsofs.problem import Problem, Solution, Survival
from dsofs.solvers.joint import solve_joint
from dsofs.solvers.paper.alternating import solve_alternating

__all__ = ["SOLVERS", "SUPPORTS", "Supports", "solve"]

SOLVERS = {"joint": solve_joint, "alternating": solve_alternating}


@dataclass(frozen=True)
class Supports:
    """What a solver can do. An estimator reads it, and refuses the rest before it looks at X."""

    losses: Mapping[str, tuple[str, ...]]  # constraint -> ways in which its violation can be penalised
    no_slack: str = ""  # why no violation is allowed; empty where it is, at a cost C


LOSSES = {"margin": ("squared_hinge", "hinge"), "equality": ("squared_hinge",)}
SUPPORTS = {
    "joint": Supports(LOSSES),
    "alternating": Supports(LOSSES, no_slack="the paper's algorithm has no slack"),
}


def solve(
    problem: Problem,
    solver: str = "joint",
    *,
    tol: float = 1e-3,
    max_iter: int = 300,
    weights: Floats | None = None,
    survival: Survival | None = None,
    verbose: int = 0,
) -> Solution:
    """Solve ``problem``, starting from ``weights`` (one per group; all ones if None).

    ``survival`` carries on the record of the run that the weights come from.
    """
    with single_threaded():
        solution = SOLVERS[solver](problem, tol=tol, max_iter=max_iter, weights=weights, survival=survival)
    if verbose:
        print(solution.history)
    return solution
