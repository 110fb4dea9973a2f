"""Newton's step for the weights, a faster proposal than reweighting alone.

Reweighting minimises, over the weights d >= 0 of the groups,

    phi(d) = 1/2 sum(A(d)) + (2-p)/(2p) sum d^r,    r = p / (2-p),     gradient  1/2 (e - g^2),   e = d^(r-1),

where g_i = ||X_i'B||. In the scaled variable z = d^(r/2) (d+ - d) / d its Hessian is

    M + (r-1)/2 I,     M = sum_j T_j'T_j,     T_j = L_j^{-1} X_F diag(sqrt(d / e) * X'b_j),     K_FF = L_j L_j',

F being the passive samples of class j. M has eigenvalues between 0 and 1 at a solution, and plain reweighting is
gradient descent with the step 2 - p that fits them; the second derivative replaces hundreds of its steps by about ten.
For p = 1 phi is convex. Below, r - 1 < 0: the damping starts by covering it, which linearises the concave penalty.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dsofs.arrays.design import Block
from dsofs.arrays.linalg import factorise
from dsofs.arrays.memory import BLOCK_BYTES, DOUBLE
from dsofs.arrays.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.point import Point

MAX_GROUPS = int((BLOCK_BYTES / DOUBLE) ** 0.5)  # M fits in a block
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 0.3, 1e-8, 1.0
SHRINK = 0.01  # a weight shrinks at most to this part in one step; rows leave by the rules of the working set
RELAX, TIGHTEN = 0.5, 4.0  # damping is multiplied by these after a success and after a failure


class Newton:
    """Levenberg-Marquardt damping, and the step for the damping so far."""

    def __init__(self) -> None:
        self.damping = FIRST_DAMPING

    def learn(self, accepted: bool) -> None:
        factor = RELAX if accepted else TIGHTEN
        self.damping = float(np.clip(self.damping * factor, LEAST_DAMPING, MOST_DAMPING))

    def propose(self, problem: Problem, point: Point) -> Floats | None:
        """New weights, or None where the system is too large to be worth its solution."""
        active = np.flatnonzero(point.weights)
        if len(active) > MAX_GROUPS or not isinstance(point.X, Block) or point.factors is None:
            return None
        r = problem.p / (2 - problem.p)
        d = point.weights[active]
        e = d ** (r - 1)
        scale = d ** (r / 2)
        g2 = problem.norms(point.G, point.rows)[active] ** 2
        M = np.zeros((len(active), len(active)))
        for T in sensitivities(problem, point, point.X, point.rows, active):
            T *= np.sqrt(d / e)
            M += T.T @ T
        z = self._solve(M, (r - 1) / 2, 0.5 * scale * (g2 / e - 1))
        proposal = np.zeros_like(point.weights)
        proposal[active] = d * np.maximum(1 + z / scale, SHRINK)
        return proposal

    def _solve(self, M: Floats, penalty: float, rhs: Floats) -> Floats:
        """(M + penalty + damping) z = rhs, without the penalty's curvature where that is not positive definite."""
        try:
            return factorise(M, self.damping + penalty).solve(rhs)
        except np.linalg.LinAlgError:
            return factorise(M, self.damping).solve(rhs)


def sensitivities(problem: Problem, point: Point, X: Block, rows: Ints, groups: Ints) -> Iterator[Floats]:
    """For each class j the matrix L_j^{-1} X_F diag(X'b_j), its columns added up within each of ``groups``.

    Its Gram matrix is minus half the derivative of X_i'b_j squared by the weights. ``X`` holds the columns ``rows``.
    """
    assert point.factors is not None
    U = X.tdot(point.B)
    labels = None if problem.groups is None else np.searchsorted(groups, problem.groups[rows])
    for j, factor in enumerate(point.factors):
        Z = X.Z[factor.index] * U[:, j]
        yield factor.half_solve(Z if labels is None else _sum_columns(Z, labels, len(groups)))


def _sum_columns(Z: Floats, labels: Ints, n_groups: int) -> Floats:
    total = np.zeros((n_groups, len(Z)))
    np.add.at(total, labels, Z.T)
    return total.T
