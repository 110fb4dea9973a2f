"""What the parts of the loop hand to each other: a ``Point`` per outer step, an ``Inner`` per inner solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dsofs.design.budget import DOUBLE, cuts, pieces
from dsofs.design.interface import Design
from dsofs.design.linalg import Factor, GroupSums, places_in, product_with_itself, sum_of
from dsofs.design.types import Floats, Ints
from dsofs.problem import Problem

DIRECT = 256  # up to so many groups M is formed and factorised; beyond, conjugate gradients never form it


class Curvature(Protocol):
    """P_j = X_F'(K_FF + s)^{-1} X_F of some classes: how G = X'B answers to the weights, dG_j = -P_j (G_j o dd).

    F are the samples on the margin (and, with squared slack, inside it).
    """

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        """sum_j diag(G_j) P_j diag(G_j) on ``rows``, whose columns are X, added up within groups."""

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        """z -> sum_j U_j o P_j (U_j o z) on the active rows, without forming P."""


@dataclass(frozen=True)
class SampleCurvature:
    """P_j = X_F'(K_FF + s)^{-1} X_F by the factors of K_FF + s."""

    X: Design
    factors: list[Factor]

    def matrix(self, X: Design, rows: Ints, G: Floats, sums: GroupSums | None) -> Floats:
        size = len(rows) if sums is None else sums.n_groups
        counts = np.array([len(factor.index) for factor in self.factors])
        work = float(np.sum(counts * size * (counts + size)) / 2)

        def of_classes(classes: slice) -> Floats:
            factors, ends = self.factors[classes], np.cumsum(counts[classes])
            T = np.empty((ends[-1], size))  # one product for several classes takes half the time
            for end, factor, g in zip(ends, factors, G.T[classes], strict=True):
                _root(X, factor, g, sums, T[end - len(factor.index) : end])
            M = product_with_itself(T.T)
            if factors[0].n_border:
                N = T[np.concatenate([np.arange(end - factors[0].n_border, end) for end in ends])]
                M -= 2 * N.T @ N
            return M

        most = max(1, X.budget.chunk // (DOUBLE * size * max(1, counts.max())))
        return sum_of(of_classes, list(cuts(len(counts), min(most, pieces(len(counts), work)[0].stop))), work)

    def product(self, U: Floats) -> Callable[[Floats], Floats]:
        def product(z: Floats) -> Floats:
            R = self.X.dot(U * z[:, None])
            B = np.zeros_like(R)
            for j, factor in enumerate(self.factors):
                B[factor.inner, j] = factor.solve(R[factor.inner, j])
            return np.asarray(np.einsum("ij,ij->i", U, self.X.tdot(B)))

        return product


def _root(X: Design, factor: Factor, g: Floats, sums: GroupSums | None, out: Floats) -> None:
    """The half of P_j times X diag(g), see ``Factor.half_solve``; its columns added up within groups."""
    n = len(factor.inner)
    if sums is None:
        np.multiply(X.samples(factor.inner).on_host(), g, out=out[:n])
    else:
        out[:n] = sums.of_design(X, factor.inner, g)
    out[n:] = 0.0
    factor.half_solve(out, overwrite=True)


@dataclass(frozen=True)
class Inner:
    """The inner optimum for some columns of Y, on the active rows: W = diag(d) G with G = X'B."""

    W: Floats
    B: Floats  # multipliers with the sign of Y: B = Y o A
    G: Floats
    cost: float  # of slack
    free: Floats  # the weights of the rows that are not penalised
    curvature: Curvature | None = None  # None where it would need too much room
    exact: bool = True  # False: a point on the way to the optimum, which need not be lower than the one before


class InnerSolver(Protocol):
    """Solves the inner problem for some columns of Y; None where it has no solution."""

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        """For the weights d of the active ``rows``, whose columns are X, from the multipliers B."""


@dataclass
class Point:
    """W on the active rows, and the multipliers that go with it.

    For the joint steps W = diag(d) G with G = X'B; the paper's alternation fills in the same fields. G and
    ``curvature``, which can be larger than K, are released as soon as the next weights are proposed.
    """

    weights: Floats  # d, one per group; 0 for a group that has left
    rows: Ints  # rows of W whose group is active
    X: Design  # their columns
    W: Floats
    B: Floats
    G: Floats
    norms: Floats  # ||W_g|| of every group
    objective: float  # (1/p) sum ||W_g||^p + cost of slack
    free: Floats  # the weights of the rows that are not penalised
    curvature: list[tuple[Ints, Curvature]] | None = None  # and the columns of Y it is for
    exact: bool = True  # whether the inner optimum was reached

    def release(self) -> None:
        """Let go of what only a proposal needs, before there is another point of the same size."""
        self.curvature, self.G = None, self.G[:0].copy()

    def columns_of(self, rows: Ints) -> Design | None:
        """The columns of X for these rows, if all of them are active here."""
        place = places_in(self.rows, rows)
        return None if place is None else self.X.take(place)

    def release_columns(self, X: Design) -> None:
        """Let go of columns that take more memory than K, if a view of all of X will do should they be needed again."""
        view = X.view(self.rows) if len(self.rows) > X.n_samples else None
        self.X = self.X if view is None else view

    @classmethod
    def of(cls, problem: Problem, weights: Floats, rows: Ints, X: Design, parts: list[tuple[Ints, Inner]]) -> Point:
        """From the inner optima for all columns of Y."""
        if len(parts) == 1:
            W, B, G, free = parts[0][1].W, parts[0][1].B, parts[0][1].G, parts[0][1].free
        else:
            order, names = np.argsort(np.concatenate([columns for columns, _ in parts])), ("W", "B", "G", "free")
            W, B, G, free = (np.hstack([getattr(inner, name) for _, inner in parts])[:, order] for name in names)
        norms = problem.norms(W, rows)
        objective = problem.penalty.value(norms) + sum(inner.cost for _, inner in parts)
        curvature = [(columns, inner.curvature) for columns, inner in parts if inner.curvature is not None]
        known = curvature if len(curvature) == len(parts) else None
        exact = all(inner.exact for _, inner in parts)
        return cls(weights, rows, X, W, B, G, norms, objective, free, known, exact)


def curvature_matrix(problem: Problem, point: Point, X: Design, rows: Ints, G: Floats, groups: Ints) -> Floats:
    """sum_j diag(G_j) P_j diag(G_j) on ``rows``, whose columns are X and whose X'B is G, added up within ``groups``."""
    assert point.curvature is not None
    sums = None if problem.groups is None else GroupSums.of(np.searchsorted(groups, problem.groups[rows]), len(groups))
    M = np.zeros((len(groups), len(groups)))
    for columns, curvature in point.curvature:
        M += curvature.matrix(X, rows, G[:, columns], sums)
    return M


class Step(Protocol):
    """An inner step: minimise 1/2 sum ||w_i||^2 / d_i under the variant's constraints.

    Returns None if it cannot be done with these weights (too few rows are left to separate the classes).
    """

    def __call__(self, weights: Floats, previous: Point | None) -> Point | None: ...

    def roughly(self, weights: Floats, previous: Point) -> Point | None:
        """About the same, for less where there is a way: for weights that are likely to be given up again."""
        return self(weights, previous)


def active_columns(problem: Problem, weights: Floats, previous: Point | None) -> tuple[Ints, Design]:
    """The active rows and their columns of X, from the previous point where it has them all."""
    rows = np.flatnonzero(problem.expand(weights))
    X = None if previous is None else previous.columns_of(rows)
    X = problem.X.take(rows) if X is None else X
    if previous is not None and X is not previous.X:
        previous.release_columns(problem.X)
    return rows, X


def relative_gap(objective: float, bound: float) -> float:
    """(objective - bound) / objective; infinite for an objective that is infinite or not a number."""
    if not 0 <= objective < np.inf:
        return np.inf
    return max(0.0, (objective - bound) / objective) if objective > 0 else 0.0
