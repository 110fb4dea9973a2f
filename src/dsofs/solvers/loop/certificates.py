"""Certificates: how far a W can be from optimal, from nothing but W and its multipliers.

With A >= 0, B = Y o A, g_i = ||X_i'B|| for every group (those that have left too) and S = sum(A) = <Y, B>, the dual of

    (1/p) sum ||w_i||^p + 1/2 sum xi^2 / s     is     S - (1/q) sum g_i^q - 1/2 sum s A^2,     1/p + 1/q = 1,

where at p = 1 the middle term turns into the constraint g_i <= 1; with a p for every group, each has its own q. Any
multiple of A is as good: the best one is taken.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.types import Floats
from dsofs.problem import SUPPORT, Conjugate, Problem
from dsofs.solvers.loop.point import Point

# All rows are looked at again once the gap on the active ones fell to this part of the last gap over all,
# and after so many steps at the latest.
RECHECK, RECHECK_STEPS = 0.8, 4
BISECTIONS = 50


class Certifier:
    """The certificate of each point: the gap to the best bound so far for p >= 1, stationarity below."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.bound, self.last_full_gap, self.steps = -np.inf, np.inf, 0
        self.B: Floats | None = None  # the multipliers of the best bound

    def __call__(self, point: Point) -> tuple[float, Floats | None]:
        """The certificate, and ||X_i'B|| of all groups if all were looked at."""
        problem = self.problem
        if not problem.convex:
            return stationarity(problem, point), None
        g = problem.norms(point.G, point.rows)
        if len(point.rows) < problem.X.n_columns:
            gap = relative_gap(point.objective, lower_bound(problem, point.B, g))
            self.steps += 1
            if gap > max(self.tol, RECHECK * self.last_full_gap) and self.steps < RECHECK_STEPS:
                return relative_gap(point.objective, self.bound), None
            g = problem.dual_norms(point.B)
        self.steps = 0
        bound = lower_bound(problem, point.B, g)
        if bound > self.bound:
            self.bound, self.B = bound, point.B
        self.last_full_gap = relative_gap(point.objective, self.bound)
        return self.last_full_gap, g


def lower_bound(problem: Problem, B: Floats, g: Floats) -> float:
    """A bound that no feasible W can go below (p >= 1); ``g`` holds ||X_i'B|| of all groups."""
    gain = float(np.sum(problem.Y * B))
    if gain <= 0:
        return 0.0
    conjugates, most = problem.penalty.conjugates(g), problem.penalty.largest_multiple(g)
    if problem.misfit is not None:
        conjugates += problem.misfit.conjugates(B)
        most = min(most, problem.misfit.largest_multiple(B))
    t = _best_multiple(gain, [conjugate for conjugate in conjugates if np.isfinite(conjugate.log_sum)], most)
    return t * gain - sum(conjugate.at(t) for conjugate in conjugates)


def _best_multiple(gain: float, conjugates: list[Conjugate], most: float) -> float:
    """The t <= most of largest  t gain - sum of conjugates;  with one of them it is known, with several it is less."""
    high = min([most, *(conjugate.multiple(gain) for conjugate in conjugates)])
    if len(conjugates) < 2:
        return high
    low = 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(conjugate.slope(middle) for conjugate in conjugates) < gain else (low, middle)
    return high


def relative_gap(objective: float, bound: float) -> float:
    """(objective - bound) / objective; infinite for an objective that is infinite or not a number."""
    if not 0 <= objective < np.inf:
        return np.inf
    return max(0.0, (objective - bound) / objective) if objective > 0 else 0.0


def stationarity(problem: Problem, point: Point) -> float:
    """p < 1: the largest relative violation of  X_i'B = ||w_i||^(p-2) w_i  over the support.

    Where other groups have p = 1, those of them outside the support must have ||X_i'B|| <= 1.
    """
    scale = problem.expand(problem.penalty.weights(point.norms))[point.rows]
    residual = scale[:, None] * point.G
    residual -= point.W
    violation = problem.norms(residual, point.rows)
    support = problem.shares(point.norms) > SUPPORT
    growing = problem.norms(point.G, point.rows)[~support & (problem.powers == 1)] - 1
    return float(np.max(violation[support] / point.norms[support], initial=growing.max(initial=0.0)))
