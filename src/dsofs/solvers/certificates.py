"""Certificates: how far a W can be from optimal, from nothing but W and its multipliers.

With A >= 0, B = Y o A, g_i = ||X_i'B|| for every group (those that have left too) and S = sum(A) = <Y, B>, the dual of

    (1/p) sum ||w_i||^p + 1/2 sum xi^2 / s     is     S - (1/q) sum g_i^q - 1/2 sum s A^2,     1/p + 1/q = 1,

where at p = 1 the middle term turns into the constraint g_i <= 1. Any multiple of A is as good: the best one is taken.
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.types import Floats
from dsofs.problem import Problem
from dsofs.solvers.point import Point

# Rows below this part of the largest are on their way out and not part of the support.
SUPPORT = 1e-6
# All rows are looked at again once the gap on the active ones fell to this part of the last gap over all,
# and after so many steps at the latest.
RECHECK, RECHECK_STEPS = 0.8, 4


class Certifier:
    """The certificate of each point: the gap to the best bound so far for p >= 1, stationarity below."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.bound, self.last_full_gap, self.steps = -np.inf, np.inf, 0
        self.B: Floats | None = None  # the multipliers of the best bound

    def __call__(self, point: Point) -> tuple[float, Floats | None]:
        """The certificate, and ||X_i'B|| of all groups if all were looked at."""
        problem = self.problem
        if problem.p < 1:
            return stationarity(problem, point), None
        g = problem.norms(point.G, point.rows)
        if len(point.rows) < problem.X.n_columns:
            gap = relative_gap(point.objective, lower_bound(problem, point.B, g))
            self.steps += 1
            if gap > max(self.tol, RECHECK * self.last_full_gap) and self.steps < RECHECK_STEPS:
                return relative_gap(point.objective, self.bound), None
            g = problem.norms(problem.X.tdot(point.B))
        self.steps = 0
        bound = lower_bound(problem, point.B, g)
        if bound > self.bound:
            self.bound, self.B = bound, point.B
        self.last_full_gap = relative_gap(point.objective, self.bound)
        return self.last_full_gap, g


def lower_bound(problem: Problem, B: Floats, g: Floats) -> float:
    """A bound that no feasible W can go below (p >= 1); ``g`` holds ||X_i'B|| of all groups."""
    p = problem.p
    gain = float(np.sum(problem.Y * B))
    if gain <= 0:
        return 0.0
    price = 0.0 if problem.slack is None else float(np.sum(problem.slack * B**2))
    ceiling = np.inf if problem.ceiling is None else _largest_multiple(problem.ceiling, B)
    if p == 1:
        largest = float(g.max())
        t = min(1 / largest if largest > 0 else np.inf, gain / price if price > 0 else np.inf, ceiling)
        return t * gain - 0.5 * t * t * price
    # The best multiple without slack; in logarithms, as q may be in the thousands.
    q = p / (p - 1)
    largest = float(g.max())
    log_load = q * np.log(largest) + np.log(np.sum((g / largest) ** q))
    t = min(float(np.exp((np.log(gain) - log_load) / (q - 1))), ceiling)
    bound = t * gain - float(np.exp(log_load + q * np.log(t))) / q - 0.5 * t * t * price
    # With slack t = 1 is the best multiple at the optimum. Either gives a valid bound.
    return bound if price == 0 else max(bound, gain - float(np.exp(log_load)) / q - 0.5 * price)


def _largest_multiple(ceiling: Floats, B: Floats) -> float:
    """The largest t for which no multiplier of t B is above its ceiling."""
    used = B != 0
    return float(np.min(ceiling[used] / np.abs(B[used]), initial=np.inf))


def relative_gap(objective: float, bound: float) -> float:
    """(objective - bound) / objective; infinite for an objective that is not a number."""
    if not objective >= 0:
        return np.inf
    return max(0.0, (objective - bound) / objective) if objective > 0 else 0.0


def stationarity(problem: Problem, point: Point) -> float:
    """p < 1: the largest relative violation of  X_i'B = ||w_i||^(p-2) w_i  over the support."""
    norms = problem.expand(point.norms)[point.rows]
    violation = problem.norms(norms[:, None] ** (2 - problem.p) * point.G - point.W, point.rows)
    support = point.norms > SUPPORT * point.norms.max()
    return float(np.max(violation[support] / point.norms[support], initial=0.0))
