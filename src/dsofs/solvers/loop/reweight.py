"""THE outer loop: reweight, solve the inner step, until a certificate says that it is enough.

    (1/p) ||w||^p <= 1/2 ||w||^2 / d + const,  with equality at d = ||w||^(2-p)

so the inner optimum for d = ||w_old||^(2-p) is never worse than w_old (the paper's Lemma 2). Better weights than these
may be proposed; they are kept only if the objective does not rise.
"""

from __future__ import annotations

import time

import numpy as np

from dsofs.design.types import Floats
from dsofs.problem import SUPPORT, History, Problem, Solution, Status, Survival
from dsofs.solvers.acceleration import Proposals
from dsofs.solvers.inner.margin import free_model, objective_at_zero
from dsofs.solvers.local_search import LocalSearch
from dsofs.solvers.loop.point import Point, Step, relative_gap

COLLAPSED = 1e-9  # all norms below this part of the largest there ever was
NO_MARGIN = 1e-6  # all margins below this, where 1 is asked for
ROUNDING = 5e-11  # relative rise that rounding can cause
REST, REST_STEPS = 1e-10, 20  # the objective is at rest if it falls by less than this part over so many steps
# All rows are looked at again once the gap on the active ones fell to this part of the last gap over all,
# and after so many steps at the latest.
RECHECK, RECHECK_STEPS = 0.8, 4
NO_PULL = 1e-12  # rounding
TINY = np.finfo(np.float64).tiny


def reweight(
    problem: Problem,
    step: Step,
    *,
    tol: float,
    max_iter: int,
    weights: Floats | None = None,
    survival: Survival | None = None,
    accelerate: bool = True,
    rest: float = REST,
) -> Solution | None:
    """Run the loop from ``weights`` (default: all ones); None if already the first inner step has no solution."""
    clock = time.perf_counter()
    point = step(np.ones(problem.n_groups) if weights is None else weights, None)
    if point is None:
        return None
    warm = survival is not None
    proposals = Proposals(problem, warm) if accelerate else None
    searches = accelerate and not problem.convex and problem.terms is None
    search = LocalSearch(problem, step, warm=warm) if searches else None
    survival = survival.copy() if survival else Survival.start(len(problem.of_W(point.norms)))
    history, certify = History(), Certifier(problem, tol)
    while True:
        survival.record(problem.of_W(point.norms))
        plain = problem.penalty.weights(point.norms)
        certificate, dual_norms = certify(point, plain)
        history.append(point.objective * problem.unit, certificate, len(point.rows), time.perf_counter() - clock)
        status = _status(history, tol, max_iter, rest)
        if status is None or not problem.convex:  # below p = 1 nothing left means nothing that is not stationary
            status = _collapsed(problem, point, survival) or status
        following = search(point, status, certificate) if search else None
        if following is None and status is None:
            following = _next_point(problem, step, point, plain, proposals, dual_norms)
        if following is None:
            return _solution(problem, point, certify, status or _at_rest(problem, point), history, survival)
        point = following


def _next_point(
    problem: Problem, step: Step, point: Point, plain: Floats, proposals: Proposals | None, dual_norms: Floats | None
) -> Point | None:
    """From the weights ``plain`` of reweighting, or better ones."""
    proposal = proposals.propose(point, plain, dual_norms) if proposals else None
    point.release()
    if proposals is not None and proposal is not None:
        candidate = step(proposal, point)
        accepted = candidate is not None and candidate.objective <= (1 + ROUNDING) * point.objective
        proposals.learn(accepted)
        if accepted:
            return candidate
        candidate = None  # it may be as large as the point: let go of it before the next
    following = step(plain, point)
    while following is not None and not following.exact and following.objective > point.objective:
        following = step(plain, point)  # a step is the more exact the more there were before it
    # A rise can only come from rounding: there is nothing left to gain.
    return None if following is None or following.objective > (1 + ROUNDING) * point.objective else following


def _status(history: History, tol: float, max_iter: int, rest: float) -> Status | None:
    if history.gap[-1] <= tol:
        return Status.CONVERGED
    if len(history.gap) >= max_iter:
        return Status.MAX_ITER
    recent = history.objective[-REST_STEPS - 1 :]
    if len(recent) > REST_STEPS and recent[0] - recent[-1] <= rest * recent[-1]:
        return Status.STALLED
    return None


def _collapsed(problem: Problem, point: Point, survival: Survival) -> Status | None:
    """Whether all rows are on their way to zero, which only slack and residuals allow."""
    misfit = problem.C is not None or problem.terms is not None
    if misfit and problem.of_W(point.norms).max() <= COLLAPSED * survival.largest:
        return Status.ZERO
    return None


def _at_rest(problem: Problem, point: Point) -> Status:
    """Rounding keeps the objective from falling: before the certificate is reached, or because W is nothing else."""
    if problem.slack is None:
        return Status.STALLED
    # With squared slack s a multiplier is (1 - t) / s: do all of them say that the margin t is that without features?
    missing = free_model(problem).missing
    nothing = np.abs(missing - problem.slack * np.abs(point.B)).max() <= NO_MARGIN
    return Status.ZERO if nothing else Status.STALLED


def _solution(
    problem: Problem, point: Point, certify: Certifier, status: Status, history: History, survival: Survival
) -> Solution:
    B = point.B if certify.B is None else certify.B
    W = np.zeros((problem.X.n_columns, problem.Y.shape[1]))
    if status is Status.ZERO or not (problem.convex or _better_than_zero(problem, point)):
        at_zero, free = objective_at_zero(problem)
        if status is Status.ZERO or at_zero < (1 - REST) * point.objective:
            # Below p = 1 a row of zeros is a local optimum.
            certificate = relative_gap(at_zero, certify.bound) if problem.convex else 0.0
            return Solution(W, B, Status.ZERO, at_zero * problem.unit, certificate, history, survival, free)
    W[point.rows] = point.W
    return Solution(W, B, status, history.objective[-1], history.gap[-1], history, survival, point.free)


def _better_than_zero(problem: Problem, point: Point) -> bool:
    """p < 1: whether a lower bound of the objective of W = 0, by the multipliers of the point, is above the point's."""
    if problem.terms is not None:
        return False
    return problem.lower_bound(point.B, np.empty(0)) > point.objective


class Certifier:
    """The certificate of each point: the gap to the best bound so far for p >= 1, stationarity below."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.bound, self.last_full_gap, self.steps = -np.inf, np.inf, 0
        self.B: Floats | None = None  # the multipliers of the best bound

    def __call__(self, point: Point, plain: Floats) -> tuple[float, Floats | None]:
        """The certificate, and ||X_i'B|| of all groups if all were looked at; ``plain``: ||w_i||^(2-p)."""
        problem = self.problem
        if not problem.convex:
            return stationarity(problem, point, plain), None
        g = problem.norms(point.G, point.rows)
        if len(point.rows) < problem.X.n_columns:
            gap = relative_gap(point.objective, problem.lower_bound(point.B, g))
            self.steps += 1
            if gap > max(self.tol, RECHECK * self.last_full_gap) and self.steps < RECHECK_STEPS:
                return relative_gap(point.objective, self.bound), None
            g = problem.dual_norms(point.B, rough=True)
        self.steps = 0
        B, pull = point.B, free_pull(problem, point.B)
        if pull.max(initial=0.0) > NO_PULL:  # dividing B repairs no row that is not penalised
            B = problem.repaired(B)
            g = problem.dual_norms(B, rough=True)
        bound = problem.lower_bound(B, g) - float(np.sum(np.abs(problem.F.T @ B) * np.abs(point.free)))
        if bound > self.bound:
            self.bound, self.B = bound, B
        self.last_full_gap = relative_gap(point.objective, self.bound)
        return self.last_full_gap, g


def free_pull(problem: Problem, B: Floats) -> Floats:
    """|F'B|, zero at an optimum, relative to the most that its terms add up to without their signs in any class."""
    if problem.free is None:
        return np.empty((0, B.shape[1]))
    most = (np.abs(problem.F.T) @ np.abs(B)).max(axis=1, keepdims=True)
    return np.abs(problem.F.T @ B) / np.maximum(most, TINY)


def stationarity(problem: Problem, point: Point, plain: Floats) -> float:
    """p < 1: the largest relative violation of  ||w_i||^(2-p) X_i'B = w_i  over the support.

    Where other groups have p = 1, those of them outside the support must have ||X_i'B|| <= 1.
    """
    scale = problem.expand(plain)[point.rows]
    residual = scale[:, None] * point.G
    residual -= point.W
    violation = problem.norms(residual, point.rows)
    support = problem.shares(point.norms) > SUPPORT
    most = free_pull(problem, point.B).max(initial=0.0)
    if isinstance(problem.p, np.ndarray):
        returning = ~support & (problem.p == 1)
        most = max(most, np.max(problem.norms(point.G, point.rows)[returning] - 1, initial=0.0))
    return float(np.max(violation[support] / point.norms[support], initial=most))
