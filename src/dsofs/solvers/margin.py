"""Inner step for margins, Eqn. 5:  min 1/2 sum ||w_i||^2 / d_i  subject to  Y o (X W) >= 1.

Given the weights the classes are independent of each other: column j is a linear SVM without free offset on the
features scaled by sqrt(d). Which of three solvers takes it depends on the shape of X and on slack.
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.features import FeatureSpace
from dsofs.solvers.gram import GramSpace
from dsofs.solvers.point import Inner, InnerSolver, Point, active_columns
from dsofs.solvers.support import SupportVectors


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
    """The m x m Gram matrix while m <= n; beyond that, features where there is slack and support vectors where not."""
    every = np.arange(problem.Y.shape[1])
    if problem.X.n_samples <= problem.X.n_columns:
        return [(every, GramSpace(problem.Y, problem.slack))]
    soft = every[:0] if problem.slack is None else every[(problem.slack > 0).all(axis=0)]
    hard = np.setdiff1d(every, soft)
    solvers: list[tuple[Ints, InnerSolver]] = []
    if len(soft):
        assert problem.slack is not None
        solvers.append((soft, FeatureSpace(problem.X, problem.Y[:, soft], problem.slack[:, soft])))
    if len(hard):
        solvers.append((hard, SupportVectors(problem.X, problem.Y[:, hard])))
    return solvers
