"""Newton's step for weights that may be zero: at p = 1 rows grow, shrink and return within one model.

There ``phi`` of ``newton`` is convex, and d >= 0 its only constraint. Its quadratic model,

    1/2 sum (1 - g^2) (d+ - d) + 1/2 (d+ - d)' M (d+ - d),     d+ >= 0,

holds for groups of weight zero too: those that violate the dual constraint g <= 1 are taken in together with a step for
those there are. M belongs to the samples that are on the margin now, and says the less about others the further away
the solution is: the damping is proportional to the largest violation.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.linalg import factorise
from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.acceleration.newton import SHRINK, curvature_matrix
from dsofs.solvers.loop.point import Point

DAMPING = 0.07  # in units of the largest g^2 - 1
LEAST_DAMPING, MOST_DAMPING = 1e-6, 1.0
CAUTIOUS, CONFIDENT = 4.0, 0.5  # damping is multiplied by these after a failure and, back to where it was, a success
EXCHANGES = 3  # so often at most the groups that the model takes below their bound are put there
TINY = 1e-12  # of the largest: a weight that is as good as none


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
            return LEAST_DAMPING
        return min(self.caution * max(DAMPING * 2 * float(gain.max()), LEAST_DAMPING), MOST_DAMPING)


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
