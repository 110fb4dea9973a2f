"""Below p = 1: rows that can go, and rows that should enter or take the place of others.

There a row of zeros stays one, whatever it is worth, and the loop can come to rest at a point where it would pay to
remove a row, to add one, or to exchange one for another. What is most promising by an estimate is tried, and kept if
the objective falls.

While no sample changes sides, phi(d) (see ``acceleration.Newton``) changes with the weight of one row as follows. With
r = p / (2-p), g_i = ||X_i'B||, M = sum_j diag(g_j) P_j diag(g_j) of the ``Curvature`` P, and h_i = M_ii / g_i^2:

    k leaves              cost_k - gain_k,      cost_k = 1/2 l_k g_k^2,   l_k = d_k / (1 - d_k h_k),
                                                gain_k = (1/p - 1/2) d_k^r
    i enters, weight d    (1/p - 1/2) d^r  -  1/2 d g_i^2 / (1 + d h_i)

Without row k the others pull harder:

    g_i  becomes  g_i + l_k M_ik / g_i,         M_ii  becomes  M_ii + l_k M_ik^2 / g_k^2.

For one column of Y all of this is exact; with several it takes their sum for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dsofs.design.linalg import factorise, row_norms
from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem, Status
from dsofs.ranking import descending
from dsofs.solvers.loop.point import DIRECT, Point, Step, curvature_matrix

WORTHWHILE = 1e-6  # relative descent; less is no other optimum, or rounding
MAX_FAILURES = 3  # in a row, of the most promising moves: the others will not pay either
LIKELY = 2.0  # a removal is tried if so many times its gain exceed its cost, an estimate as samples may change sides
TOGETHER_GAIN = 0.5  # of the sum of what moves are worth alone: with less, they should not be made at once
# Where no estimate tells which rows can go, a loop that goes on from a neighbour's solution tries them once the
# certificate is below this: converging first with them, then without, takes twice as many steps.
WARM_SETTLED = 0.1
# Rows are exchanged before the loop has converged, which it then does only once; and again while that lowers the
# objective by more than this part, so many times at the most.
SETTLED, PAID, EXCHANGES = 0.03, 1e-3, 2
# Of the rows of zeros, so many with the largest ||X_i'B|| may enter, and of these the most promising by the curvature
# that all classes have in the mean.
NEAREST, PROMISING = 256, 32
COPIES = 3  # of the columns of these rows and of those in use, while their worth is estimated
LEAST_CURVATURE = 1e-3  # of a row by itself, where rounding or the mean over classes leaves less to the others
# Rows that are not worth their cost, by Newton's model, leave at once instead of shrinking step by step: at most this
# part of them in a step, as the model holds for few.
LEAVING_AT_ONCE = 0.05
ROUGH_CLASSES = 100  # from so many classes on inner steps are too rough to tell what a row is worth
REWEIGHTINGS = 30  # of a row that enters, towards its best weight
INFO = np.finfo(np.float64)


class LocalSearch:
    """When to look for better rows."""

    def __init__(self, problem: Problem, step: Step, *, warm: bool) -> None:
        """``warm``: the loop goes on from the solution of a neighbouring problem."""
        self.problem, self.step = problem, step
        estimated = has_estimates(problem)
        self.removes_early = warm and not estimated
        self.exchanges_left = EXCHANGES if estimated and not warm and problem.groups is None else 0

    def __call__(self, point: Point, status: Status | None, certificate: float) -> Point | None:
        """A point with a lower objective; None where there is none, or where it is not the time to look."""
        converged = status is Status.CONVERGED
        if (status is not None and not converged) or point.curvature is None:
            return None
        better, early = None, self.removes_early and certificate < WARM_SETTLED
        if converged or early:
            self.removes_early &= not early
            better = without_superfluous_rows(self.problem, self.step, point)
        if better is None and self.exchanges_left and (converged or certificate < SETTLED):
            better = with_exchanged_rows(self.problem, self.step, point)
            paid = better is not None and better.objective < (1 - PAID) * point.objective
            self.exchanges_left = self.exchanges_left - 1 if paid else 0
        return better


@dataclass(frozen=True)
class Moves:
    """Changes of the weights, the most promising first: that of ``out`` becomes 0, then that of ``into`` ``weight``."""

    out: Ints
    into: Ints
    weight: Floats
    worth: Floats  # an estimate, or less than nothing where there is none

    def part(self, which: slice | Ints) -> Moves:
        return Moves(self.out[which], self.into[which], self.weight[which], self.worth[which])

    def made(self, weights: Floats) -> Floats:
        weights[self.out] = 0.0
        weights[self.into] = self.weight
        return weights

    def __len__(self) -> int:
        return len(self.out)


def descended(problem: Problem, step: Step, point: Point, moves: Moves) -> Point | None:
    """The point after the moves that lower the objective; None if none of the first few does.

    Each is tried with an inner step: first one, then two at once, then four, ... while the gain is about the sum of
    what each would gain alone, then fewer again.
    """
    best, failures, at_once, growth = point, 0, 1, 2
    while len(moves) and failures < MAX_FAILURES:
        count = max(1, min(at_once, int(np.count_nonzero(moves.worth > 0))))
        some, candidate = moves.part(slice(count)), None  # the last may be as large as the point: let go of it
        weights = some.made(problem.penalty.weights(best.norms))
        candidate = step.roughly(weights, best) if weights.any() else None
        gain = -np.inf if candidate is None else best.objective - candidate.objective
        if candidate is not None and gain > max(WORTHWHILE * best.objective, TOGETHER_GAIN * some.worth[1:].sum()):
            best, failures, at_once = candidate, 0, growth * count
        elif count > 1:
            at_once, growth = count // 2, 1
            continue
        else:
            failures += 1
        moves = moves.part(slice(count, None))
    return None if best is point else best


def without_superfluous_rows(problem: Problem, step: Step, point: Point) -> Point | None:
    """A point without some of the rows whose objective is lower; None if no single row can go.

    With hard margins removing a row changes which samples are on the margin, and there is no estimate: the smallest
    rows are tried first, one at a time.
    """
    if np.count_nonzero(point.weights) > DIRECT:
        return None
    return descended(problem, step, point, _removals(problem, point))


def _removals(problem: Problem, point: Point) -> Moves:
    """Those that may pay; of equal ones the last comes first, so that the first row stays."""
    groups = np.flatnonzero(point.weights)
    worth = -point.norms[groups]
    if all_soft(problem):
        M = curvature_matrix(problem, point, point.X, point.rows, point.G, groups)
        g2 = problem.norms(point.G, point.rows)[groups] ** 2
        cost = 0.5 * g2 * levers(point.weights[groups], g2, M.diagonal())
        gain = gains_of_leaving(problem, point.norms, groups)
        likely = LIKELY * gain > cost
        groups, worth = groups[likely], (gain - cost)[likely]
    order = np.lexsort((-groups, descending(worth)))
    groups, worth = groups[order], worth[order]
    return Moves(groups, groups, np.zeros(len(groups)), worth)


def with_exchanged_rows(problem: Problem, step: Step, point: Point) -> Point | None:
    """A point with further rows, or with others instead of some, whose objective is lower; None if there is none.

    None, too, where no feature is left at all: slack then costs too little, which the callers of the loop see to.
    """
    zero, active = np.flatnonzero(point.weights == 0), np.flatnonzero(point.weights)
    n_features = len(active) - (problem.bias and active[-1:] == problem.n_groups - 1)
    n_nearest = min(NEAREST, len(zero))
    has_room = problem.X.budget.holds(problem.X.n_samples, COPIES * (len(active) + n_nearest))
    if not (n_nearest and n_features and has_room) or len(active) > DIRECT:
        return None
    zero = _promising(problem, point, active, _nearest(problem, point, zero, n_nearest))
    return descended(problem, step, point, _exchanges(problem, point, active, zero))


class Rows(NamedTuple):
    """g_i^2 and M_ii of some rows, see ``worth``."""

    g2: Floats
    curvature: Floats


def _exchanges(problem: Problem, point: Point, active: Ints, zero: Ints) -> Moves:
    """Those that are worth more than they cost, no row in two of them."""
    rows = np.union1d(active, zero)
    X = problem.X.take(rows)
    G = X.tdot(point.B)
    M = curvature_matrix(problem, point, X, rows, G, rows)
    here, there = np.searchsorted(rows, active), np.searchsorted(rows, zero)
    all_rows = Rows(row_norms(G) ** 2, M.diagonal())
    present, new = (Rows(*(values[index] for values in all_rows)) for index in (here, there))
    worth, weight = _worth(problem, point, present, new, M[here][:, there])
    out, into = np.nonzero(worth > WORTHWHILE * point.objective)
    order = np.lexsort((into, out, descending(worth[out, into])))
    out, into = out[order], into[order]
    leaving = np.where(out == 0, zero[into], active[out - 1])  # a row that enters alone takes its own place
    moves = Moves(leaving, zero[into], weight[out, into], worth[out, into])
    return moves.part(_disjoint(moves))


def _disjoint(moves: Moves) -> Ints:
    """Of moves with a row in common only the most promising."""
    used, kept = set[int](), list[int]()
    for place, pair in enumerate(zip(moves.out.tolist(), moves.into.tolist(), strict=True)):
        if used.isdisjoint(pair):
            used.update(pair)
            kept.append(place)
    return np.array(kept, dtype=np.intp)


def _nearest(problem: Problem, point: Point, zero: Ints, count: int) -> Ints:
    """Of the rows of zeros those with the largest ||X_i'B||."""
    if len(zero) == count:
        return zero
    g = problem.dual_norms(point.B)[zero]
    return np.sort(zero[np.argpartition(g, -count)[-count:]])


def _promising(problem: Problem, point: Point, active: Ints, zero: Ints) -> Ints:
    """Of the rows of zeros those that would be worth most, were the curvature of every class the mean of all.

    (And were there no rows without penalty.)
    """
    assert problem.slack is not None
    u, d = np.mean((point.B != 0) / problem.slack, axis=1), point.weights[active]
    X = problem.X.block(zero)
    Z, Z_active = X.on_host(), point.X.samples(slice(None)).on_host() * np.sqrt(d)
    weighted = (u[:, None] * Z_active).T
    factor = factorise(weighted @ Z_active, 1.0, overwrite=True)  # 1 + D^1/2 H D^1/2
    T = factor.half_solve(weighted @ Z)
    alone = u @ np.square(Z)
    own = np.maximum(alone - np.einsum("ij,ij->j", T, T), LEAST_CURVATURE * alone)
    across = factor.back_solve(T) / np.sqrt(d)[:, None]
    G, g2 = X.tdot(point.B), row_norms(point.G) ** 2
    present, new = Rows(g2, (1 - factor.inverse().diagonal()) / d * g2), row_norms(G) ** 2
    worth, _ = _worth(problem, point, present, Rows(new, own * new), point.G @ G.T * across)
    return np.sort(zero[np.argsort(worth.max(axis=0))[-PROMISING:]])


def _worth(problem: Problem, point: Point, present: Rows, new: Rows, across: Floats) -> tuple[Floats, Floats]:
    """What each new row is worth (a column each), and at which weight: alone, and in the place of each present one.

    ``across``: M between the present rows and the new ones.
    """
    active = np.flatnonzero(point.weights)
    lever = levers(point.weights[active], *present)
    cost = 0.5 * lever * present.g2 - gains_of_leaving(problem, point.norms, active)
    g2 = np.vstack([new.g2, pull_without(lever[:, None], new.g2, across)])
    more = (lever / np.maximum(present.g2, INFO.tiny))[:, None] * across**2
    curvature = np.vstack([new.curvature, new.curvature + more])
    weight, worth = worth_of_entering(float(problem.p), g2, curvature / np.maximum(new.g2, INFO.tiny))
    return worth - np.append(0.0, cost)[:, None], weight


def all_soft(problem: Problem) -> bool:
    """Whether all classes have squared slack: what removing a row costs can then be estimated."""
    return problem.slack is not None and bool(problem.soft_columns.all())


def has_estimates(problem: Problem) -> bool:
    """Whether what a row is worth is known well enough to remove it unseen, and to look for others."""
    few_classes = problem.Y.shape[1] < ROUGH_CLASSES
    return not problem.convex and problem.terms is None and few_classes and all_soft(problem)


def levers(d: Floats, g2: Floats, curvature: Floats) -> Floats:
    """l = d / (1 - d h)."""
    return np.asarray(d / np.maximum(1 - d * curvature / np.maximum(g2, INFO.tiny), INFO.eps))


def pull_without(lever: Floats | float, g2: Floats, across: Floats) -> Floats:
    """g_i^2 without row k; ``across``: M_ik."""
    return np.asarray((np.sqrt(g2) + lever * across / np.sqrt(np.maximum(g2, INFO.tiny))) ** 2)


def gains_of_leaving(problem: Problem, norms: Floats, groups: Ints) -> Floats:
    p = problem.powers[groups]
    return np.asarray((1 / p - 0.5) * norms[groups] ** p)


def superfluous(d: Floats, g2: Floats, M: Floats, gain: Floats) -> list[int]:
    """Positions of groups that are removed one after the other while a gain exceeds its cost, the best first.

    Of two that replace each other one stays, as the others pull harder without it.
    """
    gain, gone = gain.copy(), list[int]()
    for _ in range(max(1, int(LEAVING_AT_ONCE * len(d)))):
        lever = levers(d, g2, M.diagonal())
        worth = gain - 0.5 * lever * g2
        i = int(np.argmax(worth))
        if worth[i] <= 0:
            break
        gone.append(i)
        gain[i] = -np.inf
        g2 = pull_without(lever[i], g2, M[i])
    return gone


def worth_of_entering(p: float, g2: Floats, h: Floats) -> tuple[Floats, Floats]:
    """The best weight d of each row, and what it is then worth; -inf where no weight is worth its penalty."""
    r, h = p / (2 - p), np.maximum(h, INFO.tiny)
    g2 = np.where(g2 > INFO.eps * g2.max(initial=0.0), g2, 0.0)  # less is rounding, as of a copy of a covariate
    # The most that the worth can be per d^r, over all d, must exceed the penalty: it is largest at d h = 1/r - 1.
    worthy = r * (1 / r - 1) ** (1 - r) * g2 > (2 - p) / p * h ** (1 - r)
    d, worth = np.zeros(g2.shape), np.full(g2.shape, -np.inf)
    g2, h = g2[worthy], h[worthy]
    g, best = np.sqrt(g2), (np.sqrt(g2) / h) ** (2 - p)  # from above, as a weight of zero would stay zero
    for _ in range(REWEIGHTINGS):
        best = (best * g / (1 + best * h)) ** (2 - p)
    d[worthy], worth[worthy] = best, 0.5 * best * g2 / (1 + best * h) - (1 / p - 0.5) * best**r
    return d, worth
