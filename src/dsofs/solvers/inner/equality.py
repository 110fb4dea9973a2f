"""Inner step for equalities, Eqn. 4:  min 1/2 sum ||w_i||^2 / d_i  subject to  X W = Y,  so  W = diag(d) X' K^+ Y.

With slack s it is ridge regression, W = diag(d) X' (K + s)^{-1} Y, and the residual is s B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsofs.design.interface import Design
from dsofs.design.linalg import Factor, GroupSums, factorise, with_border
from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem, Squared
from dsofs.solvers.inner.features import FeatureSpace
from dsofs.solvers.loop.point import Curvature, Inner, InnerSolver, Point, SampleCurvature, Step, active_columns
from dsofs.solvers.qp.pivoting import PROXIMAL

REFINEMENTS = 5  # each is a proximal step: it takes away what the ridge on K put in
EXACT, CONSISTENT = 1e-12, 1e-6  # largest |X W - Y| that needs no more refinement, that counts as equality; of |Y|


class EqualityStep(Step):
    """The inner step for equalities."""

    def __init__(self, problem: Problem, solver: InnerSolver | None = None) -> None:
        self.problem = problem
        self.solver = solver or _solver(problem)
        self.columns = np.arange(problem.Y.shape[1])

    def __call__(self, weights: Floats, previous: Point | None) -> Point | None:
        rows, X = active_columns(self.problem, weights, previous)
        inner = self.solver.solve(rows, X, self.problem.expand(weights)[rows], None)
        return None if inner is None else Point.of(self.problem, weights, rows, X, [(self.columns, inner)])


def _solver(problem: Problem) -> InnerSolver:
    tall = problem.X.n_samples > problem.X.n_columns
    if problem.slack is not None and tall and (problem.slack > 0).all():
        return FeatureSpace(problem.X, problem.Y, [Squared(slack) for slack in problem.slack.T], problem.F)
    return GramEqualities(problem.Y, problem.slack, problem.F)


class GramEqualities:
    """W = diag(d) X' (K + s)^{-1} Y."""

    def __init__(self, Y: Floats, slack: Floats | None, F: Floats) -> None:
        """``F``: the columns of rows that are not penalised; they take up all of Y that they can."""
        self.Y, self.slack, self.F = Y, slack, F

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        K = with_border(X.gram(d), self.F)
        try:
            factors = self._factors(K)
        except np.linalg.LinAlgError:
            return None
        B = refined(self.Y, lambda error: self._solve(factors, error), lambda B: self._product(K, B), self.F)
        if B is None:
            return None
        G, free = X.tdot(B), weights_of(self.F, self.Y - self._product(K, B))
        cost = 0.0 if self.slack is None else Squared(self.slack).cost(B)
        curvature: Curvature = (
            SampleCurvature(X, factors) if self.slack is not None else SharedCurvature(X, factors[0].solve)
        )
        return Inner(d[:, None] * G, B, G, cost, free, curvature)

    def _factors(self, K: Floats) -> list[Factor]:
        m, n_border = self.F.shape
        rho = PROXIMAL * float(K.diagonal()[:m].mean())
        if self.slack is None:
            return [factorise(K, rho, n_border=n_border)] * self.Y.shape[1]
        factors: list[Factor] = []
        for slack in self.slack.T:  # as a rule the same for all
            same = factors and np.array_equal(slack, self.slack[:, 0])
            factors.append(factors[0] if same else factorise(K, rho + slack, n_border=n_border))
        return factors

    def _solve(self, factors: list[Factor], R: Floats) -> Floats:
        if self.slack is None:
            return factors[0].solve(R)
        return np.stack([factor.solve(R[:, j]) for j, factor in enumerate(factors)], axis=1)

    def _product(self, K: Floats, B: Floats) -> Floats:
        product = K[: len(B), : len(B)] @ B
        return product if self.slack is None else product + self.slack * B


@dataclass(frozen=True)
class SharedCurvature:
    """P = X' K^{-1} X, the same for all columns of Y, by ``solve``, which is K^{-1}."""

    X: Design
    solve: Callable[[Floats], Floats]

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        if sums is None:
            Z = X.block(np.arange(X.n_columns)).on_host()
            return (G @ G.T) * (Z.T @ self.solve(Z))
        M = np.zeros((sums.n_groups, sums.n_groups))
        for g in G.T:
            Z = sums.of_design(X, np.arange(X.n_samples), g)
            M += Z.T @ self.solve(Z)
        return M

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        def product(z: Floats) -> Floats:
            B = self.solve(self.X.dot(U * z[:, None]))
            return np.asarray(np.einsum("ij,ij->i", U, self.X.tdot(B)))

        return product


def weights_of(F: Floats, Y: Floats) -> Floats:
    """The weights with which F is nearest to Y."""
    return np.asarray(np.linalg.lstsq(F, Y)[0]) if F.size else np.empty((0, Y.shape[1]))


def refined(
    Y: Floats, solve: Callable[[Floats], Floats], product: Callable[[Floats], Floats], F: Floats
) -> Floats | None:
    """B of product(B) = Y but for what F takes up, from a ``solve`` that is only near; None if there is no such B."""
    B, error, size = np.zeros_like(Y), Y, float(np.abs(Y).max())
    for _ in range(REFINEMENTS):
        B += solve(error)
        error = Y - product(B)
        error = error - F @ weights_of(F, error) if F.size else error
        if np.abs(error).max() <= EXACT * size:
            break
    return B if np.abs(error).max() <= CONSISTENT * size else None
