"""Inner step for margins, Eqn. 5:  min 1/2 sum ||w_i||^2 / d_i  subject to  Y o (X W) >= 1.

Given the weights the classes are independent of each other: column j is a linear SVM without free offset on the
features scaled by sqrt(d). Its dual is a QP in the Gram matrix K = X diag(d) X', which all classes share:

    a_j = argmin_{0 <= a <= C_j}  1/2 a' (y_j y_j' o K + diag(s_j)) a - 1'a,         W = diag(d) X'(Y o A)

Hard margins have s = 0 and C = inf, squared slack has s = 1/C and no upper bound, plain slack (hinge) has s = 0. With
many more samples than features, hard margins are solved on support vectors. Squared slack is solved by what is smaller:
the samples that have a multiplier, or the active rows.

Without any feature, the rows that are not penalised predict alone: ``free_model``.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from dsofs.design.interface import Block, Design
from dsofs.design.linalg import factorise, row_norms
from dsofs.design.residuals import WithResiduals
from dsofs.design.types import Floats, Ints
from dsofs.problem import Loss, Problem, Squared, SquaredHinge, one_column
from dsofs.solvers.acceleration import FEW_PLAIN_STEPS, plain_steps
from dsofs.solvers.inner.features import FeatureSpace
from dsofs.solvers.inner.gradients import NearOptimum, near_optimum
from dsofs.solvers.inner.products import ManyClasses
from dsofs.solvers.inner.support import SupportVectors
from dsofs.solvers.loop.point import Inner, InnerSolver, Point, SampleCurvature, Step, active_columns
from dsofs.solvers.qp.pivoting import factorisations, solve_qp

FEW_SAMPLES = 128  # up to here the Gram matrix of all samples costs least, however few features there are
MANY_SAMPLES = 256  # without slack up to here, and to twice the features, it costs less than a search
GRAM = 2  # samples per feature up to which a Gram matrix takes no more memory than matrices of the features
FIRST_NEWTON = (1, 1, 1, 2, 2)  # Newton steps for the first weights, which are a guess: near their optimum is enough
MANY_CLASSES = 100  # from here on products take less time than a matrix per class, and far less memory
SEPARATED = 1e-9  # what is missing of a margin that rounding can leave


class MarginStep(Step):
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
            inner = solver.solve(rows, X, d, None if previous is None else _columns(previous.B, columns))
            if inner is None:
                return None
            parts.append((columns, inner))
        return Point.of(problem, weights, rows, X, parts)

    def roughly(self, weights: Floats, previous: Point) -> Point | None:
        for _, solver in self.solvers:
            if isinstance(solver, SmallerSpace):
                solver.features.limits.insert(0, 1)
        return self(weights, previous)


def _solvers(problem: Problem) -> list[tuple[Ints, InnerSolver]]:
    """The m x m Gram matrix while m is small or m <= n; beyond, features where there is slack, else support vectors."""
    X, Y, C = problem.X, problem.Y, problem.C
    wide_and_hard = X.n_samples <= X.n_columns and not problem.soft_columns.all()
    if X.sample_size <= FEW_SAMPLES or wide_and_hard or problem.upper is not None:
        return [(np.arange(Y.shape[1]), GramSpace(Y, problem.misfit, problem.F))]
    many = X.n_samples > max(X.n_columns, FEW_SAMPLES, min(2 * X.n_columns, MANY_SAMPLES))
    soft, hard = np.flatnonzero(problem.soft_columns), np.flatnonzero(~problem.soft_columns)
    solvers: list[tuple[Ints, InnerSolver]] = []
    if len(hard):
        solvers.append(
            (hard, SupportVectors(X, Y[:, hard], problem.F) if many else GramSpace(Y[:, hard], None, problem.F))
        )
    if len(soft):
        assert C is not None
        many_classes = len(soft) >= MANY_CLASSES and not problem.F.size and X.n_samples > X.n_columns
        n_plain = FEW_PLAIN_STEPS if problem.convex else plain_steps(problem.n_groups)
        smaller = partial(SmallerSpace, F=problem.F, rows_return=problem.convex, n_plain=n_plain)
        solver = ManyClasses if many_classes else smaller
        solvers.append((soft, solver(X, _columns(Y, soft), _columns(C, soft))))
    return solvers


def _columns(A: Floats, columns: Ints) -> Floats:
    """These columns, in increasing order; A itself if that is all of them."""
    return A if len(columns) == A.shape[1] else A[:, columns]


class GramSpace:
    """All columns of Y by one m x m matrix, which they share."""

    def __init__(self, Y: Floats, loss: Loss | None, F: Floats) -> None:
        """``loss``: None for hard margins."""
        self.Y, self.loss, self.F = Y, loss, F
        self.slack, self.upper = (None, None) if loss is None else (loss.slack, loss.upper)
        self.ones = np.ones_like(Y)

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        try:
            solved = solve_qp(X.gram(d), self.Y, self.ones, B, self.slack, self.upper, self.F, rank=len(rows))
        except np.linalg.LinAlgError:
            return None
        if not solved.solved:
            return None
        B = solved.B
        G = X.tdot(B)
        cost = 0.0 if self.loss is None else self.loss.cost(B, 1.0 + solved.excess)
        # Dividing a column by its smallest margin makes it feasible to the last digit.
        W, missing = d[:, None] * G, np.minimum(solved.excess, 0.0)
        if self.upper is not None:
            missing[np.isfinite(self.upper)] = 0.0
        short = 1.0 + missing.min(axis=0)
        W /= short
        curvature = None if solved.factors is None else SampleCurvature(X, solved.factors)
        return Inner(W, B, G, cost, solved.free / short, curvature)

    @property
    def shares_factor(self) -> bool:
        """Whether all columns have the same matrix, K + diag(s), while all samples are free."""
        return not self.F.size and self.slack is not None and bool((self.slack == self.slack[:, :1]).all())

    def near(self, X: Design, d: Floats) -> Inner | None:
        """Near the optimum for squared slack: one Newton step with all samples free, for which one factor will do."""
        assert isinstance(self.loss, SquaredHinge)
        K = X.rough().gram(d)
        try:
            B = factorise(K, self.loss.slack[:, 0].astype(K.dtype)).solve(self.Y.astype(K.dtype))
        except np.linalg.LinAlgError:
            return None
        if X.in_memory:
            return near_optimum(d[:, None] * X.tdot(B.astype(np.float64)), X, self.Y, self.loss)
        A = self.loss.multipliers(self.Y * (K @ B))
        free = np.empty((0, self.Y.shape[1]))
        XB, G = np.hsplit(X.tdot(np.hstack([B, self.Y * A])), 2)  # in one pass over X
        return Inner(d[:, None] * XB, self.Y * A, G, self.loss.cost(A), free, exact=False)


class SmallerSpace:
    """Squared slack, in the space of the samples or of the features: whichever takes less time."""

    def __init__(self, X: Design, Y: Floats, C: Floats, F: Floats, *, rows_return: bool, n_plain: int) -> None:
        """``rows_return``: rows that have left may be in use again. ``n_plain``: first steps, without curvature."""
        self.Y, self.loss = Y, SquaredHinge(one_column(np.reciprocal, C))
        self.gram = GramSpace(Y, self.loss, F)
        self.wide, self.has_room = len(Y) <= X.n_columns, len(Y) <= GRAM * X.n_columns
        # Every conjugate gradient is two products with X: too many where each of them reads X again.
        self.near = NearOptimum(X, Y, self.loss) if X.in_memory and not F.size else None
        self.rough_steps = n_plain
        losses = [SquaredHinge(1 / cost) for cost in C.T]
        self.features = FeatureSpace(X, Y, losses, F, FIRST_NEWTON, every_row=rows_return and not self.wide)

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        if B is None and not (d == 1).all():  # a loop that goes on from a neighbour's solution, and needs curvature
            self.near = None
        self.rough_steps -= 1
        if self.near is not None and self.rough_steps >= 0 and self.near.suits(X, B):
            with suppress(np.linalg.LinAlgError):  # what is exact has other ways
                return self.near.solve(rows, X, d, B)
        if self.near is not None and self.rough_steps < 0:
            self.near = None  # its matrix is as large as any
            self.features.limits[:] = FIRST_NEWTON  # no solve of its own came before
        if not self._suits_samples(rows, B):
            return self.features.solve(rows, X, d, B)
        del self.features.limits[:1]
        if B is not None:
            self.near = None  # a rough step starts from the last rough one, and would lose what this one gains
        near = B is None and len(self.Y) <= len(rows) and self.gram.shares_factor
        inner = self.gram.near(X, d) if near else self.gram.solve(rows, X, d, B)
        if self.near is not None and inner is not None:
            self.near.start(rows, inner.W)
        return inner

    def _suits_samples(self, rows: Ints, B: Floats | None) -> bool:
        """By the size of the first factor, which all columns share, or by the multiplications of either space."""
        m, c = self.Y.shape
        if self.wide and c * len(rows) ** 2 > m**2:  # a matrix per class has no room
            return True
        if B is None:
            return m <= len(rows) and self.gram.shares_factor
        if not self.has_room:
            return False
        return m**2 * len(rows) / 2 + 2 * factorisations(B) <= self.features.work(rows, B != 0)


@dataclass(frozen=True)
class FreeModel:
    """What covariates and a bias predict alone: V of least squared slack.

    Its C is that of the problem or, without one, the same for all samples of equal weight.
    """

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
        return FreeModel(np.empty((0, Y.shape[1])), np.broadcast_to(1.0, Y.shape))
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
    if not problem.F.size:
        return 0.5 * float(np.sum(problem.C)), model.weights
    missed = np.where(model.missing == 0, 0.0, problem.C)  # no infinite C times nothing
    return 0.5 * float(np.sum(missed * model.missing**2)), model.weights
