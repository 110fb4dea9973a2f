"""Weights that may be better than plain reweighting: Newton's, on a working set of rows.

At p = 1 most rows of the optimum are zero, so the loop works on few of them: small rows that will not stay leave, and
rows that violate the dual constraint ||X_i'B|| <= 1 return. Below p = 1 a zero row is a local optimum and stays zero.
A proposal is only that: the loop keeps it if the objective does not rise.
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.types import Bools, Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.certificates import SUPPORT
from dsofs.solvers.newton import Newton, sensitivities
from dsofs.solvers.point import Point

# Plain steps come first. Below p = 1 they choose the local optimum, and choose it better than Newton's.
PLAIN_STEPS_CONVEX, PLAIN_STEPS = 3, 10
WORKING_SET = 3  # groups per sample in the first working set; optima have one to three
LEAVING_NORM, LEAVING_DUAL = 1e-3, 0.9  # a row this small, with a dual norm this far below 1, will not stay
MIN_RETURNING, RETURNING = 50, 0.2  # how many rows may return at a time, the latter as a part of those present


class Proposals:
    """What to try before a plain step, in the light of what succeeded so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.newton = Newton()
        self.plain_steps_left = PLAIN_STEPS_CONVEX if problem.p == 1 else PLAIN_STEPS
        self._from_newton = False

    def propose(self, point: Point, plain: Floats, dual_norms: Floats | None) -> Floats | None:
        """Weights to try, or None if there are none better than ``plain``.

        ``dual_norms`` are ||X_i'B|| of all groups, where the certificate looked at all of them.
        """
        first_steps = self.plain_steps_left > 0
        self.plain_steps_left -= 1
        weights = None if first_steps else self.newton.propose(self.problem, point)
        self._from_newton = weights is not None
        weights = plain.copy() if weights is None else weights
        weights[_vanishing(self.problem, weights)] = 0.0
        if self.problem.p == 1:
            if first_steps:
                _keep_largest(weights, WORKING_SET * self.problem.X.n_samples)
            weights[_leaving(self.problem, point, weights)] = 0.0
            if dual_norms is not None:
                _bring_back(self.problem, point, weights, dual_norms)
        better = weights.any() and (self._from_newton or not np.array_equal(weights, plain))
        return weights if better else None

    def learn(self, accepted: bool) -> None:
        if self._from_newton:
            self.newton.learn(accepted)


def _vanishing(problem: Problem, weights: Floats) -> Bools:
    """Groups whose norm is as good as zero. (Above p = 1 no row of an optimum is zero, however small.)"""
    if problem.p > 1:
        return np.zeros(len(weights), dtype=bool)
    norms = weights ** (1 / (2 - problem.p))
    return norms < SUPPORT * norms.max()


def _keep_largest(weights: Floats, count: int) -> None:
    if count < len(weights):
        weights[np.argpartition(weights, -count)[:-count]] = 0.0


def _leaving(problem: Problem, point: Point, weights: Floats) -> Bools:
    g = problem.norms(point.G, point.rows)
    # At a solution the mean of g^2 over the weights is 1; on the way there g is measured against it.
    mean = np.sqrt(np.sum(point.weights * g**2) / np.sum(point.weights))
    return (weights < LEAVING_NORM * weights.max()) & (g < LEAVING_DUAL * mean)


def _bring_back(problem: Problem, point: Point, weights: Floats, dual_norms: Floats) -> None:
    """Give the groups that violate the dual constraint most a weight: each its own Newton step from zero, averaged.

    phi is convex at p = 1, so the average of descent steps along single coordinates is a descent step.
    """
    out = np.where(point.weights == 0, dual_norms, 0.0)
    most = max(MIN_RETURNING, int(RETURNING * np.count_nonzero(point.weights)))
    back = np.sort(np.argsort(out)[-most:])
    back = back[out[back] > 1]
    if not len(back) or point.factors is None:
        return
    rows = _rows_of(problem, back)
    curvature = np.zeros(len(back))
    for T in sensitivities(problem, point, problem.X.block(rows), rows, back):
        curvature += np.einsum("ij,ij->j", T, T)
    weights[back] = (out[back] ** 2 - 1) / (2 * curvature * len(back))


def _rows_of(problem: Problem, groups: Ints) -> Ints:
    return groups if problem.groups is None else np.flatnonzero(np.isin(problem.groups, groups))
