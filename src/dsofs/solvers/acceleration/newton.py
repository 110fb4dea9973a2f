"""Newton's step for the weights, a faster proposal than reweighting alone.

Reweighting minimises, over the weights d >= 0 of the groups,

    phi(d) = 1/2 sum(A(d)) + (2-p)/(2p) sum d^r,    r = p / (2-p),     gradient  1/2 (e - g^2),   e = d^(r-1),

where g_i = ||X_i'B||. In the scaled variable z = d^(r/2) (d+ - d) / d its Hessian is

    M + (r-1)/2 I,     M = sum_j diag(u_j) P_j diag(u_j),     u_j = sqrt(d / e) X'b_j,

P_j being the ``Curvature`` of class j. M has eigenvalues between 0 and 1 at a solution, and plain reweighting is
gradient descent with the step 2 - p that fits them; the second derivative replaces hundreds of its steps by about ten.
For p = 1 phi is convex. Below, r - 1 < 0: the damping starts by covering it, which linearises the concave penalty. Near
a stationary point that is no minimum such steps would crawl: there each direction is gone along by the size of its
curvature, whatever its sign.
Where groups differ in p, each has its own r.

At p = 1 weights may be zero, d >= 0 is the only constraint, and the quadratic model of phi,

    1/2 sum (1 - g^2) (d+ - d) + 1/2 (d+ - d)' M (d+ - d),     d+ >= 0,

holds for groups of weight zero too: those that violate the dual constraint g <= 1 are taken in together with a step for
those there are (``BoundedNewton``). M belongs to the samples that are on the margin now, and says the less about others
the further away the solution is: the damping is proportional to the largest violation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from dsofs.design.interface import Design
from dsofs.design.linalg import GroupSums, factorise
from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.loop.point import Point

DIRECT = 256  # up to so many groups M is formed and factorised; beyond, conjugate gradients never form it
CG_TOL, CG_STEPS = 0.05, 50  # the step is damped anyway: a rough solution will do
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 0.3, 1e-8, 1.0
RELAX, TIGHTEN = 0.5, 4.0  # damping is multiplied by these after a success and after a failure
# g^2 / e is 1 at a solution.
NEAR, FAR = 0.2, 4.0  # no further than the former from 1 for all groups: near a stationary point; above the latter: far
SHRINK = 0.01  # a weight shrinks at most to this part in one step; rows leave by the rules of the working set
# Of the bounded step, in units of the largest g^2 - 1.
BOUNDED_DAMPING, LEAST_BOUNDED_DAMPING = 0.07, 1e-6
CAUTIOUS, CONFIDENT = 4.0, 0.5  # it is multiplied by these after a failure and, back to where it was, a success
EXCHANGES = 3  # so often at most the groups that the model takes below their bound are put there
TINY = 1e-12  # of the largest: a weight that is as good as none


class Newton:
    """Levenberg-Marquardt damping, and the step for the damping so far."""

    def __init__(self) -> None:
        self.damping = FIRST_DAMPING

    def learn(self, accepted: bool) -> None:
        factor = RELAX if accepted else TIGHTEN
        self.damping = float(np.clip(self.damping * factor, LEAST_DAMPING, MOST_DAMPING))

    def propose(self, problem: Problem, point: Point) -> Floats | None:
        """New weights, or None: without factors, with too many rows where plain steps are as good, after rounding."""
        if point.curvature is None or (np.min(problem.p) > 1 and len(point.rows) > DIRECT):
            return None  # above p = 1 all rows stay, and plain steps converge fast
        active = np.flatnonzero(point.weights)
        p = problem.powers[active]
        fixed = p == 2  # d = 1, whatever w
        r = np.where(fixed, 1.0, p / np.where(fixed, 1.0, 2 - p))
        d = point.weights[active]
        e = d ** (r - 1)
        scale = d ** (r / 2)
        g2 = problem.norms(point.G, point.rows)[active] ** 2
        excess = np.where(fixed, 1.0, g2 / e)
        rhs = 0.5 * scale * (excess - 1)
        root = np.where(fixed, 0.0, np.sqrt(d / e))
        if len(active) <= DIRECT:
            M = curvature_matrix(problem, point, point.X, point.rows, point.G, active)
            at_rest = bool(np.abs(excess - 1).max() < NEAR)
            try:
                z = self._solve(M * np.outer(root, root), (r - 1) / 2, rhs, at_rest)
            except np.linalg.LinAlgError:
                return None
        else:
            z = self._solve_by_products(_curvature_product(problem, point, active, root), (r - 1) / 2, rhs)
        proposal = np.zeros_like(point.weights)
        change = np.maximum(1 + z / scale, SHRINK)
        # Far below its optimum a weight grows by half at most in Newton's model, and at once by plain reweighting.
        far = excess > FAR
        change[far] = np.maximum(change[far], excess[far] ** (1 - p[far] / 2))
        proposal[active] = d * change
        return proposal

    def _solve(self, M: Floats, penalty: Floats, rhs: Floats, at_rest: bool) -> Floats:
        """(M + penalty + damping) z = rhs; if indefinite, without the penalty's curvature or, at rest, its sign."""
        try:
            return factorise(M, self.damping + penalty).solve(rhs)
        except np.linalg.LinAlgError:
            if at_rest:
                curvature, directions = np.linalg.eigh(M + np.diag(penalty))
                return np.asarray(directions @ ((directions.T @ rhs) / (np.abs(curvature) + self.damping)))
            return factorise(M, self.damping + np.maximum(penalty, 0.0)).solve(rhs)

    def _solve_by_products(self, product: Callable[[Floats], Floats], penalty: Floats, rhs: Floats) -> Floats:
        """The same by conjugate gradients, always without the penalty's curvature where that is negative."""
        ridge = self.damping + np.maximum(penalty, 0.0)
        operator = LinearOperator((len(rhs), len(rhs)), matvec=lambda z: product(z) + ridge * z, dtype=rhs.dtype)
        return cg(operator, rhs, rtol=CG_TOL, maxiter=CG_STEPS)[0]


class BoundedNewton:
    """The step for some groups of p = 1, in the light of what became of the steps before."""

    def __init__(self) -> None:
        self.caution = 1.0

    def learn(self, accepted: bool) -> None:
        self.caution = max(1.0, CONFIDENT * self.caution) if accepted else CAUTIOUS * self.caution

    def propose(self, problem: Problem, point: Point, groups: Ints) -> Floats | None:
        """New weights of ``groups``, the others being left as they are; None if rounding spoils the model."""
        rows, X, G = problem.rows_of(groups), point.X, point.G
        if not np.array_equal(rows, point.rows):
            X = problem.X.take(rows)
            G = X.tdot(point.B)
        M = curvature_matrix(problem, point, X, rows, G, groups)
        d, gain = point.weights[groups], (problem.norms(G, rows)[groups] ** 2 - 1) / 2
        size = np.sqrt(_sizes(d, gain, M.diagonal(), float(point.weights.max())))
        damping = self._damping(d, gain) if M.any() else MOST_DAMPING
        M *= np.outer(size, size)
        M.flat[:: len(M) + 1] += damping
        least = SHRINK * d / size
        try:
            return size * (least + _non_negative(M, size * gain + M @ (d / size - least)))
        except np.linalg.LinAlgError:
            return None

    def _damping(self, d: Floats, gain: Floats) -> float:
        if self.caution == 1 and not d.any():  # all of them return: the others, left as they are, restrain them enough
            return LEAST_BOUNDED_DAMPING
        return min(self.caution * max(BOUNDED_DAMPING * 2 * float(gain.max()), LEAST_BOUNDED_DAMPING), MOST_DAMPING)


def _sizes(d: Floats, gain: Floats, curvature: Floats, largest: float) -> Floats:
    """The weight of each group or, if that is larger, the one that the model sees for it alone, up to the largest."""
    rise = np.maximum(gain, 0.0)
    alone = rise / np.maximum(curvature, rise / largest + np.finfo(np.float64).tiny)
    return np.maximum(np.maximum(d, alone), TINY * largest)


def _non_negative(M: Floats, target: Floats) -> Floats:
    """About the minimum of 1/2 v'Mv - target'v over v >= 0."""
    positive = np.ones(len(M), dtype=bool)
    for _ in range(EXCHANGES):
        factor = factorise(M, 0.0, positive)
        v = np.zeros(len(M))
        v[factor.index] = factor.solve(target[factor.index])
        if v.min() >= 0:
            break
        positive &= v > 0
    return np.maximum(v, 0.0)


def curvature_matrix(problem: Problem, point: Point, X: Design, rows: Ints, G: Floats, groups: Ints) -> Floats:
    """sum_j diag(G_j) P_j diag(G_j) on ``rows``, whose columns are X and whose X'B is G, added up within ``groups``."""
    assert point.curvature is not None
    sums = None if problem.groups is None else GroupSums.of(np.searchsorted(groups, problem.groups[rows]), len(groups))
    M = np.zeros((len(groups), len(groups)))
    for columns, curvature in point.curvature:
        M += curvature.matrix(X, rows, G[:, columns], sums)
    return M


def _curvature_product(problem: Problem, point: Point, active: Ints, root: Floats) -> Callable[[Floats], Floats]:
    """z -> M z, M never being formed."""
    assert point.curvature is not None
    labels = None if problem.groups is None else np.searchsorted(active, problem.groups[point.rows])
    U = (root if labels is None else root[labels])[:, None] * point.G
    products = [curvature.product(U[:, columns]) for columns, curvature in point.curvature]

    def product(z: Floats) -> Floats:
        z = z if labels is None else z[labels]
        result = sum((product(z) for product in products), start=np.zeros(len(z)))
        return result if labels is None else np.asarray(np.bincount(labels, result, len(active)), dtype=np.float64)

    return product
