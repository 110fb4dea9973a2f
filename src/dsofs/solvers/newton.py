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

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from dsofs.arrays.design import Block
from dsofs.arrays.linalg import factorise
from dsofs.arrays.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.point import Point

DIRECT = 256  # up to so many groups M is formed and factorised; beyond, conjugate gradients never form it
CG_TOL, CG_STEPS = 0.05, 50  # the step is damped anyway: a rough solution will do
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 0.3, 1e-8, 1.0
RELAX, TIGHTEN = 0.5, 4.0  # damping is multiplied by these after a success and after a failure
FAR = 4.0  # g^2 / e, which is 1 at a solution
SHRINK = 0.01  # a weight shrinks at most to this part in one step; rows leave by the rules of the working set


class Newton:
    """Levenberg-Marquardt damping, and the step for the damping so far."""

    def __init__(self) -> None:
        self.damping = FIRST_DAMPING

    def learn(self, accepted: bool) -> None:
        factor = RELAX if accepted else TIGHTEN
        self.damping = float(np.clip(self.damping * factor, LEAST_DAMPING, MOST_DAMPING))

    def propose(self, problem: Problem, point: Point) -> Floats | None:
        """New weights, or None where there are no factors, or too many rows at a p where plain steps are as good."""
        if point.factors is None or (problem.p > 1 and len(point.rows) > DIRECT):
            return None  # above p = 1 all rows stay, and plain steps converge fast
        active = np.flatnonzero(point.weights)
        r = problem.p / (2 - problem.p)
        d = point.weights[active]
        e = d ** (r - 1)
        scale = d ** (r / 2)
        g2 = problem.norms(point.G, point.rows)[active] ** 2
        excess = g2 / e
        rhs = 0.5 * scale * (excess - 1)
        if len(active) <= DIRECT and isinstance(point.X, Block):
            z = self._solve(_curvature(problem, point, active, np.sqrt(d / e)), (r - 1) / 2, rhs)
        else:
            z = self._solve_by_products(_curvature_product(problem, point, active, np.sqrt(d / e)), rhs)
        proposal = np.zeros_like(point.weights)
        change = np.maximum(1 + z / scale, SHRINK)
        # Far below its optimum a weight grows by half at most in Newton's model, and at once by plain reweighting.
        far = excess > FAR
        change[far] = np.maximum(change[far], excess[far] ** (1 - problem.p / 2))
        proposal[active] = d * change
        return proposal

    def _solve(self, M: Floats, penalty: float, rhs: Floats) -> Floats:
        """(M + penalty + damping) z = rhs, without the penalty's curvature where that is not positive definite."""
        try:
            return factorise(M, self.damping + penalty).solve(rhs)
        except np.linalg.LinAlgError:
            return factorise(M, self.damping).solve(rhs)

    def _solve_by_products(self, product: Callable[[Floats], Floats], rhs: Floats) -> Floats:
        """The same by conjugate gradients, always without the penalty's curvature."""
        operator = LinearOperator((len(rhs), len(rhs)), matvec=lambda z: product(z) + self.damping * z, dtype=rhs.dtype)
        return cg(operator, rhs, rtol=CG_TOL, maxiter=CG_STEPS)[0]


def _curvature(problem: Problem, point: Point, active: Ints, root: Floats) -> Floats:
    """M = sum_j T_j'T_j."""
    assert isinstance(point.X, Block)
    M = np.zeros((len(active), len(active)))
    for T in sensitivities(problem, point, point.X, point.rows, point.G, active):
        T *= root
        M += T.T @ T
    return M


def _curvature_product(problem: Problem, point: Point, active: Ints, root: Floats) -> Callable[[Floats], Floats]:
    """z -> M z by two products with X, all classes at once."""
    labels = _labels(problem, point.rows, active)
    U = (root if labels is None else root[labels])[:, None] * point.G
    factors = point.factors or []

    def product(z: Floats) -> Floats:
        R = point.X.dot(U * (z if labels is None else z[labels])[:, None])
        B = np.zeros_like(R)
        for j, factor in enumerate(factors):
            B[factor.index, j] = factor.solve(R[factor.index, j])
        result = np.einsum("ij,ij->i", U, point.X.tdot(B))
        return result if labels is None else np.asarray(np.bincount(labels, result, len(active)), dtype=np.float64)

    return product


def _labels(problem: Problem, rows: Ints, groups: Ints) -> Ints | None:
    """Position in ``groups`` of the group of each of ``rows``; None if every row is its own group."""
    return None if problem.groups is None else np.searchsorted(groups, problem.groups[rows])


def sensitivities(problem: Problem, point: Point, X: Block, rows: Ints, G: Floats, groups: Ints) -> Iterator[Floats]:
    """For each class j the matrix L_j^{-1} X_F diag(X'b_j), its columns added up within each of ``groups``.

    Its Gram matrix is minus half the derivative of (X_i'b_j)^2 by the weights. X holds the columns ``rows``, G = X'B.
    """
    assert point.factors is not None
    labels = _labels(problem, rows, groups)
    for j, factor in enumerate(point.factors):
        Z = X.Z[factor.index] * G[:, j]
        yield factor.half_solve(Z if labels is None else _sum_columns(Z, labels, len(groups)))


def _sum_columns(Z: Floats, labels: Ints, n_groups: int) -> Floats:
    total = np.zeros((n_groups, len(Z)))
    np.add.at(total, labels, Z.T)
    return total.T
