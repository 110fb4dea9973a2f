"""The model of the rows that are not penalised alone: what covariates and a bias predict without any feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsofs.design.interface import Block
from dsofs.design.linalg import row_norms
from dsofs.design.residuals import WithResiduals
from dsofs.design.types import Floats
from dsofs.problem import Problem, Squared, SquaredHinge
from dsofs.solvers.inner.features import FeatureSpace

SEPARATED = 1e-9  # what is missing of a margin that rounding can leave


@dataclass(frozen=True)
class FreeModel:
    """V of least squared slack, at the C of the problem or, without one, the same for all samples of equal weight."""

    weights: Floats  # V
    missing: Floats  # xi: how much of its margin each sample misses, of every column of Y

    @property
    def separates(self) -> bool:
        """Whether it leaves nothing to do."""
        return bool(self.missing.size and np.abs(self.missing).max() <= SEPARATED)


def free_model(problem: Problem) -> FreeModel:
    """Without such rows V is empty, and all of every margin is missing."""
    Y, F = problem.Y, problem.F
    if not F.size:
        return FreeModel(np.empty((0, Y.shape[1])), np.ones_like(Y))
    loss = Squared if problem.constraint == "equality" else SquaredHinge
    slack = problem.slack
    if slack is None or not (slack > 0).all():
        slack = 1 / problem.X.weighted(np.ones_like(Y))
    slack = slack / slack.mean()
    losses = [loss(column.copy()) for column in slack.T]
    nothing = Block(np.empty((len(Y), 0)))
    inner = FeatureSpace(nothing, Y, losses, F).solve(np.empty(0, dtype=np.intp), nothing, np.empty(0), None)
    assert inner is not None, "least squares on some samples always has a solution"
    return FreeModel(inner.free, slack * np.abs(inner.B) if loss is SquaredHinge else slack * inner.B * Y)


def objective_at_zero(problem: Problem) -> tuple[float, Floats]:
    """The objective of W = 0, infinite where margins are hard, and the weights of the rows that are not penalised."""
    if problem.terms is not None:  # residuals are rows too, and take up all of Y
        assert isinstance(problem.X, WithResiduals)
        norms = np.zeros(problem.n_groups)
        norms[problem.X.X.n_columns :] = row_norms(problem.Y / problem.X.v[:, None])
        return problem.penalty.value(norms), np.empty((0, problem.Y.shape[1]))
    model = free_model(problem)
    if problem.C is None:
        return np.inf, model.weights
    if problem.loss == "hinge":
        return float(np.sum(problem.C)), model.weights
    missed = np.where(model.missing == 0, 0.0, problem.C)  # no infinite C times nothing
    return 0.5 * float(np.sum(missed * model.missing**2)), model.weights
