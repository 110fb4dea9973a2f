"""Weights that may be better than plain reweighting: Newton's, on a working set of rows.

At p = 1 most rows of the optimum are zero, so the loop works on few of them: small rows that will not stay leave, and
rows that violate the dual constraint ||X_i'B|| <= 1 return. Below p = 1 a zero row is a local optimum and stays zero.
Where groups differ in p, those of p = 1 leave only if all others are convex too: otherwise none could return.
A proposal is only that: the loop keeps it if the objective does not rise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from dsofs.design.linalg import factorise
from dsofs.design.types import Bools, Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.local_search import gains_of_leaving, has_estimates, superfluous
from dsofs.solvers.loop.point import DIRECT, Point, curvature_matrix

# Plain steps come first. Below p = 1 they choose the local optimum, from even weights better than Newton's; among few
# rows, where Newton's cost little more, fewer plain ones choose as well.
FEW_PLAIN_STEPS, PLAIN_STEPS, PLAIN_STEPS_OF_FEW_ROWS = 3, 10, 6
# A loop below p = 1 that goes on from the solution of a neighbouring problem has little left to choose: it needs fewer
# plain steps, and less damping at first.
WARM_PLAIN_STEPS, WARM_DAMPING = 1, 0.03
# The part of the rows that each of them keeps, as those of the optimum are soon among the largest, and the part of the
# penalty that the others may have together once there are few. The smallest rows that have the last part of it leave in
# any case. Up to so many samples that saves no time, as Newton's steps become more.
KEPT, AMONG_FEW, NEGLIGIBLE, KEPT_ALL = 0.8, 0.05, 0.01, 256
WORKING_SET = 3  # groups per sample in the first working set; optima have one to three
GONE = 1e-5  # a row this small, relative to the largest, is as good as zero
LEAVING_NORM, LEAVING_DUAL = 1e-3, 0.9  # a row this small, with a dual norm this far below 1, will not stay
# Up to so many groups, Newton's step is one for those there are and those that return. At the least, at the most, and
# in between while that costs no more than conjugate gradients would, in units of the root of the entries of Y.
FEW_TOGETHER, MANY_TOGETHER, TOGETHER = 256, 512, 11
MIN_RETURNING, RETURNING = 50, 0.2  # how many rows may return at a time, the latter as a part of those present
# A row that returned so often stays, with at least this part of the largest weight: multipliers need it.
MAX_RETURNS, STAYING = 3, 1e-9
# Newton's steps:
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


def plain_steps(n_groups: int) -> int:
    """How many plain steps come before Newton's, below p = 1."""
    return PLAIN_STEPS if n_groups > DIRECT else PLAIN_STEPS_OF_FEW_ROWS


class Proposals:
    """What to try before a plain step, in the light of what succeeded so far."""

    def __init__(self, problem: Problem, warm: bool) -> None:
        """``warm``: the loop goes on from the solution of a neighbouring problem."""
        self.problem = problem
        self.can_return = problem.powers == 1 if problem.convex else np.zeros(problem.n_groups, dtype=bool)
        self.returns = np.zeros(problem.n_groups, dtype=np.intp)
        goes_on = warm and not problem.convex
        if goes_on:
            self.plain_steps_left = WARM_PLAIN_STEPS
        else:
            few = warm or self.can_return.any()
            self.plain_steps_left = FEW_PLAIN_STEPS if few else plain_steps(problem.n_groups)
        self.newton = Newton(WARM_DAMPING if goes_on else FIRST_DAMPING, removes=has_estimates(problem))
        self.bounded = BoundedNewton()
        many = problem.X.sample_size > KEPT_ALL
        self.may_thin = many and not (warm or problem.convex) and problem.terms is None
        self.together = np.clip(TOGETHER * np.sqrt(problem.Y.size), FEW_TOGETHER, MANY_TOGETHER)
        self.rows_may_leave = True
        self._learn = self._learn_nothing

    def propose(self, point: Point, plain: Floats, dual_norms: Floats | None) -> Floats | None:
        """Weights to try, or None if there are none better than ``plain``.

        ``dual_norms`` are ||X_i'B|| of all groups, where the certificate looked at all of them.
        """
        self._learn = self._learn_nothing
        if self.plain_steps_left > 0:
            self.plain_steps_left -= 1
            weights = self._largest(point, plain)
        else:
            bounded = self._bounded(point, plain, dual_norms)
            weights = self._by_newton(point, plain) if bounded is None else bounded
        if self.rows_may_leave:
            leaving = _leaving(self.problem, point, weights, self.can_return)
            staying = np.maximum(weights, STAYING * weights.max())
            weights[leaving] = np.where(self.returns < MAX_RETURNS, 0.0, staying)[leaving]
        return weights if weights.any() and not np.array_equal(weights, plain) else None

    def _largest(self, point: Point, plain: Floats) -> Floats:
        """Plain weights of the largest rows: of a working set where others can return, else of most of them."""
        weights = plain.copy()
        if not self.rows_may_leave:  # the objective rose without the others
            return weights
        if self.can_return.all():
            _keep_largest(weights, int(WORKING_SET * self.problem.X.sample_size))
            weights *= plain.sum() / weights.sum()  # they take over: as small as they were, slack would cost less
        elif self.may_thin:
            terms = self.problem.penalty.terms(point.norms)
            # Rows that left too early are exchanged in the end, where what they are worth is known.
            part = AMONG_FEW if self.newton.removes else NEGLIGIBLE
            most = max(int(np.ceil(KEPT * np.count_nonzero(plain))), min(DIRECT, _count_that_matters(terms, part)))
            _keep_largest(weights, min(most, _count_that_matters(terms, NEGLIGIBLE)))
        return weights

    def learn(self, accepted: bool) -> None:
        """Take note of what became of the last proposal."""
        self._learn(accepted)
        # A row that left too early must not spoil the next proposal as well.
        self.rows_may_leave = accepted

    def _by_newton(self, point: Point, plain: Floats) -> Floats:
        weights = self.newton.propose(self.problem, point)
        if weights is None:
            return plain.copy()
        self._learn = self.newton.learn
        return weights

    def _bounded(self, point: Point, plain: Floats, dual_norms: Floats | None) -> Floats | None:
        """A step for the groups that return, and at once for those there are if they are few and all can leave."""
        if point.curvature is None or not self.can_return.any():
            return None
        groups = back = _returning(point, self.can_return, dual_norms)
        if self.can_return.all() and self.problem.terms is None:  # residuals leave by the dozen, and come back so
            present = np.flatnonzero(point.weights)
            groups = np.union1d(present, back) if len(present) + len(back) <= self.together else back
        proposal = self.bounded.propose(self.problem, point, groups) if len(groups) else None
        if proposal is None:
            return None
        self._learn = self.bounded.learn
        weights = plain.copy()
        weights[groups] = proposal
        self.returns += (weights > 0) & (point.weights == 0)
        return weights

    def _learn_nothing(self, accepted: bool) -> None:
        pass


def _keep_largest(weights: Floats, count: int) -> None:
    if count < np.count_nonzero(weights):
        weights[np.argpartition(weights, -count)[:-count]] = 0.0


def _count_that_matters(terms: Floats, negligible: float) -> int:
    """How many of the largest of these terms hold all of their sum but this part."""
    falling = np.cumsum(np.sort(terms)[::-1])
    return int(np.searchsorted(falling, (1 - negligible) * falling[-1])) + 1


def _leaving(problem: Problem, point: Point, weights: Floats, can_return: Bools) -> Bools:
    """Groups that are as good as zero, and of those that can return also the small ones that will not stay.

    (Above p = 1 no row of an optimum is zero, however small.)
    """
    gone = _below(GONE, problem, weights)
    if not can_return.any():
        return gone & (problem.powers < 1)
    g = problem.norms(point.G, point.rows)
    # At a solution the mean of g^2 over the weights is 1; on the way there g is measured against it.
    d = np.where(can_return, point.weights, 0.0)
    if not d.any():
        return np.zeros_like(can_return)
    g /= np.sqrt(np.sum(d * g**2) / np.sum(d))
    return (d > 0) & ((gone & (g < 1)) | (_below(LEAVING_NORM, problem, weights) & (g < LEAVING_DUAL)))


def _below(part: float, problem: Problem, weights: Floats) -> Bools:
    """Groups whose norms, of which these would be the plain weights, are below this part of the largest."""
    if isinstance(problem.p, np.ndarray):
        return np.asarray(problem.shares(_norms_for(weights, np.minimum(problem.p, 1.0))) < part)
    return np.asarray(weights < part ** (2 - min(problem.p, 1.0)) * weights.max())


def _norms_for(weights: Floats, p: Floats) -> Floats:
    """The norms ||w|| of which these would be the plain weights, ||w||^(2-p)."""
    norms = np.zeros_like(weights)
    present = weights > 0
    norms[present] = weights[present] ** (1 / (2 - p[present]))
    return norms


def _returning(point: Point, can_return: Bools, dual_norms: Floats | None) -> Ints:
    """The groups outside the working set that violate the dual constraint most; none where it was not looked at."""
    if dual_norms is None:
        return np.empty(0, dtype=np.intp)
    violating = np.flatnonzero((dual_norms > 1) & (point.weights == 0) & can_return)
    most = max(MIN_RETURNING, int(RETURNING * np.count_nonzero(point.weights)))
    return np.sort(violating[np.argsort(dual_norms[violating])[-most:]])


class Newton:
    """Newton's step for the weights, with Levenberg-Marquardt damping: a faster proposal than reweighting alone.

    Reweighting minimises, over the weights d >= 0 of the groups,

        phi(d) = 1/2 sum(A(d)) + (2-p)/(2p) sum d^r,    r = p / (2-p),     gradient  1/2 (e - g^2),   e = d^(r-1),

    where g_i = ||X_i'B||. In the scaled variable z = d^(r/2) (d+ - d) / d its Hessian is

        M + (r-1)/2 I,     M = sum_j diag(u_j) P_j diag(u_j),     u_j = sqrt(d / e) X'b_j,

    P_j being the ``Curvature`` of class j. M has eigenvalues between 0 and 1 at a solution, and plain reweighting is
    gradient descent with the step 2 - p that fits them; the second derivative replaces hundreds of its steps by about
    ten. For p = 1 phi is convex. Below, r - 1 < 0: the damping starts by covering it, which linearises the concave
    penalty. Near a stationary point that is no minimum such steps would crawl: there each direction is gone along by
    the size of its curvature, whatever its sign. Where groups differ in p, each has its own r.

    Of the groups that shrink, those that cost more than they are worth (see ``local_search``) leave at
    once. A group with which that failed is not tried again here.
    """

    def __init__(self, damping: float = FIRST_DAMPING, *, removes: bool = False) -> None:
        self.damping, self.removes = damping, removes
        self.removed, self.needed = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)

    def learn(self, accepted: bool) -> None:
        if len(self.removed) and not accepted:  # which says nothing about the step
            self.needed = np.union1d(self.needed, self.removed)
            return
        factor = RELAX if accepted else TIGHTEN
        self.damping = min(max(self.damping * factor, LEAST_DAMPING), MOST_DAMPING)

    def propose(self, problem: Problem, point: Point) -> Floats | None:
        """New weights, or None: without factors, with too many rows where plain steps are as good, after rounding."""
        if point.curvature is None or (len(point.rows) > DIRECT and np.min(problem.p) > 1):
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
        M = None
        if len(active) <= DIRECT:
            M = curvature_matrix(problem, point, point.X, point.rows, point.G, active)
            at_rest = bool(np.abs(excess - 1).max() < NEAR)
            try:
                z = self._solve(root[:, None] * M * root, (r - 1) / 2, rhs, at_rest)
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
        if self.removes:
            shrinking = (change < 1) & ~np.isin(active, self.needed)
            gain = np.where(shrinking, gains_of_leaving(problem, point.norms, active), -np.inf)
            self.removed = active[superfluous(d, g2, M, gain)] if M is not None else active[:0]
            proposal[self.removed] = 0.0
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
    """Newton's step for some groups of p = 1, in the light of what became of the steps before.

    Weights may be zero, d >= 0 is the only constraint, and the quadratic model of phi (see ``Newton``),

        1/2 sum (1 - g^2) (d+ - d) + 1/2 (d+ - d)' M (d+ - d),     d+ >= 0,

    holds for groups of weight zero too: those that violate the dual constraint g <= 1 are taken in together with a step
    for those there are. M belongs to the samples that are on the margin now, and says the less about others the further
    away the solution is: the damping is proportional to the largest violation.
    """

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
