"""Solvers: problem in, solution out.

Which solver when, and why:

| problem | X | file | why |
|---|---|---|---|
| margins or equalities, any p | any | ``joint`` | decides between those below; slack where classes overlap |
| one column, p = 1, hard margins or hinge | any | ``linear_programs.interior`` | a linear program, 10 to 40 steps |
| all others | any | ``loop.reweight`` | THE loop: weights d, inner step, certificate |
| its inner step: hard margins, hinge | m <= n, hinge any | ``inner.margin`` | a QP per class, one m x m Gram matrix |
| hard margins | m > n | ``inner.support`` | the same QP on few samples: no m x m matrix |
| squared slack | any | ``inner.margin``, ``inner.features`` | that QP, or Newton's method on W: what takes less time |
| squared slack, 100 classes and more | m > n | ``inner.products`` | the latter without a matrix per class |
| squared slack, the first steps | sparse, m in thousands | ``inner.gradients`` | products with X, no matrix at all |
| equalities | any | ``inner.equality`` | a linear system, m x m or (with slack, m > n) n x n |
| sums of norms of residuals and rows (RFS) | any | ``rfs.general`` | the loop again, residuals being further rows |
| the paper's Algorithm 1 | any | ``alternating`` | for comparison: it stops above the optimum |

How they call each other:

    solve -> joint -> linear_programs.interior                                 where it applies
                   -> loop.reweight -> acceleration                            better weights
                                    -> local_search                            rows that can go, enter or be exchanged
                                    -> inner.margin | inner.equality           the inner step
                                         -> qp.pivoting                        0 <= a <= C
                                    -> problem.lower_bound                     is it enough?
                   -> separability                                             which classes overlap and so get slack

``loop.point`` holds what these hand to each other; what is solved is described in ``dsofs.problem``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dsofs.design.budget import single_threaded
from dsofs.design.types import Floats
from dsofs.problem import Problem, Solution, Survival
from dsofs.solvers.alternating import solve_alternating
from dsofs.solvers.joint import solve_joint

__all__ = ["SOLVERS", "SUPPORTS", "Supports", "solve"]

SOLVERS = {"joint": solve_joint, "alternating": solve_alternating}


@dataclass(frozen=True)
class Supports:
    """What a solver can do. An estimator reads it, and refuses the rest before it looks at X."""

    losses: Mapping[str, tuple[str, ...]]  # constraint -> ways in which its violation can be penalised
    no_slack: str = ""  # why no violation is allowed; empty where it is, at a cost C
    free_rows: bool = True  # whether rows can be left without penalty


LOSSES = {"margin": ("squared_hinge", "hinge"), "equality": ("squared_hinge",)}
SUPPORTS = {
    "joint": Supports(LOSSES),
    "alternating": Supports(LOSSES, no_slack="the paper's algorithm has no slack", free_rows=False),
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
