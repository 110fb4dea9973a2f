"""Inner step for equalities, Eqn. 4:  min 1/2 sum ||w_i||^2 / d_i  subject to  X W = Y,  so  W = diag(d) X' K^+ Y.

With slack s it is ridge regression, W = diag(d) X' (K + s)^{-1} Y, and the residual is s B.
"""

from __future__ import annotations

import numpy as np

from dsofs.arrays.design import Design
from dsofs.arrays.linalg import Factor, factorise
from dsofs.arrays.types import Floats, Ints
from dsofs.problem import Problem
from dsofs.solvers.features import FeatureSpace, Loss, SquareLoss
from dsofs.solvers.gram import SampleCurvature
from dsofs.solvers.nnqp import PROXIMAL
from dsofs.solvers.point import Inner, InnerSolver, Point, active_columns

REFINEMENTS = 5  # each is a proximal step: it takes away what the ridge on K put in
CONSISTENT = 1e-6  # largest |X W - Y| that counts as equality


class EqualityStep:
    """The inner step for equalities."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        every = np.arange(problem.Y.shape[1])
        tall = problem.X.n_samples > problem.X.n_columns
        if problem.slack is not None and tall and (problem.slack > 0).all():
            losses: list[Loss] = [SquareLoss(slack) for slack in problem.slack.T]
            self.solver: InnerSolver = FeatureSpace(problem.X, problem.Y, losses)
        else:
            self.solver = GramEqualities(problem.Y, problem.slack)
        self.columns = every

    def __call__(self, weights: Floats, previous: Point | None) -> Point | None:
        rows, X = active_columns(self.problem, weights, previous)
        inner = self.solver.solve(rows, X, self.problem.expand(weights)[rows], None)
        return None if inner is None else Point.of(self.problem, weights, rows, X, [(self.columns, inner)])


class GramEqualities:
    """W = diag(d) X' (K + s)^{-1} Y."""

    def __init__(self, Y: Floats, slack: Floats | None) -> None:
        self.Y, self.slack = Y, slack

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        K = X.gram(d)
        try:
            factors = self._factors(K)
        except np.linalg.LinAlgError:
            return None
        B = np.zeros_like(self.Y)
        for _ in range(REFINEMENTS):
            error = self._error(K, B)
            B += np.stack([factor.solve(error[:, j]) for j, factor in enumerate(factors)], axis=1)
        if np.abs(self._error(K, B)).max() > CONSISTENT:
            return None
        G = X.tdot(B)
        price = 0.0 if self.slack is None else 0.5 * float(np.sum(self.slack * B**2))
        return Inner(d[:, None] * G, B, G, price, SampleCurvature(X, factors))

    def _factors(self, K: Floats) -> list[Factor]:
        rho = PROXIMAL * float(np.trace(K)) / len(K)
        if self.slack is None:
            return [factorise(K, rho)] * self.Y.shape[1]
        return [factorise(K, rho + slack) for slack in self.slack.T]

    def _error(self, K: Floats, B: Floats) -> Floats:
        error = self.Y - K @ B
        return error if self.slack is None else error - self.slack * B
