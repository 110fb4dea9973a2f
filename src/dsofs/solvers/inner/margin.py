"""Inner step for margins, Eqn. 5:  min 1/2 sum ||w_i||^2 / d_i  subject to  Y o (X W) >= 1.

Given the weights the classes are independent of each other: column j is a linear SVM without free offset on the
features scaled by sqrt(d). Which solver takes it depends on the shape of X and on the kind of slack.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.interface import Design
from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.inner.features import FeatureSpace, Loss
from dsofs.solvers.inner.gram import GramSpace
from dsofs.solvers.inner.hinge import HingeGram, HingeSpace
from dsofs.solvers.inner.support import SupportVectors
from dsofs.solvers.loop.point import Inner, InnerSolver, Point, active_columns

FEW_SAMPLES = 128  # up to here the Gram matrix of all samples costs least, however few features there are
MANY_SAMPLES = 256  # without slack up to here, and to twice the features, it costs less than a search
FIRST_NEWTON = 2  # Newton steps for the first weights, which are a guess: a point near their optimum is as good


class MarginStep:
    """The inner step for margins."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.solvers = _solvers(problem)

    def __call__(self, weights: Floats, previous: Point | None) -> Point | None:
        problem = self.problem
        rows, X = active_columns(problem, weights, previous)
        d = problem.expand(weights)[rows]
        parts: list[tuple[Ints, Inner]] = []
        for columns, solver in self.solvers:
            inner = solver.solve(rows, X, d, None if previous is None else previous.B[:, columns])
            if inner is None:
                return None
            parts.append((columns, inner))
        return Point.of(problem, weights, rows, X, parts)


def _solvers(problem: Problem) -> list[tuple[Ints, InnerSolver]]:
    """The m x m Gram matrix while m is small or m <= n; beyond, features where there is slack, else support vectors."""
    X, Y, C = problem.X, problem.Y, problem.C
    soft, hard = np.flatnonzero(problem.soft_columns), np.flatnonzero(~problem.soft_columns)
    hinge = problem.loss == "hinge"
    tall = X.n_samples > max(X.n_columns, FEW_SAMPLES)
    many = X.n_samples > max(X.n_columns, FEW_SAMPLES, min(2 * X.n_columns, MANY_SAMPLES))
    if not tall and not (hinge and len(soft)):
        return [(np.arange(Y.shape[1]), GramSpace(Y, problem.slack))]
    solvers: list[tuple[Ints, InnerSolver]] = []
    if len(hard):
        solvers.append((hard, SupportVectors(X, Y[:, hard]) if many else GramSpace(Y[:, hard], None)))
    if len(soft):
        assert C is not None
        solvers.append((soft, _soft_solver(X, Y[:, soft], C[:, soft], tall, hinge)))
    return solvers


def _soft_solver(X: Design, Y: Floats, C: Floats, tall: bool, hinge: bool) -> InnerSolver:
    if not hinge:
        return FeatureSpace(X, Y, [Loss(1 / price) for price in C.T], first_newton=FIRST_NEWTON)
    return HingeSpace(X, Y, C) if tall else HingeGram(Y, C)
