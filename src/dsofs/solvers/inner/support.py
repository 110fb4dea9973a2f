"""Hard margins with more samples than features: each class is solved on its support vectors.

At an optimum no class has more of them than there are features. So the QP of a class is solved on a few samples, those
of the others that it leaves inside the margin are taken in, and so on until there are none: then it is solved for all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dsofs.design.budget import for_each
from dsofs.design.interface import Design
from dsofs.design.linalg import Factor
from dsofs.design.types import Floats, Ints
from dsofs.problem import SquaredHinge
from dsofs.solvers.inner.features import FeatureSpace
from dsofs.solvers.loop.point import Inner, SampleCurvature
from dsofs.solvers.qp.pivoting import solve_qp

FIRST_SLACK = 1e-2  # of the mean ||x||^2: how softly the first samples are looked for
FIRST_STEPS = 4  # Newton steps spent on it
NEAR = 1.1  # samples up to this margin are kept for the next step
VIOLATED = 1e-11  # a margin missed by no more than this was missed by rounding
TAKEN_IN, MIN_TAKEN_IN = 0.5, 50  # samples taken in at a time, the former as a part of those there

Solved = tuple[Floats, Floats, Floats, Factor]


class SupportVectors:
    """Some columns of Y without slack, each on samples of its own."""

    def __init__(self, X: Design, Y: Floats, F: Floats, d: Floats | None = None) -> None:
        """``F``: the columns of rows that are not penalised."""
        self.Y, self.F = Y, F
        d = np.ones(X.n_columns) if d is None else d
        size = float(np.sum(d * X.column_norms() ** 2)) / X.total_weight
        loss = SquaredHinge(np.full(X.n_samples, FIRST_SLACK * size))
        features = FeatureSpace(X, Y, [loss] * Y.shape[1], F, limits=(FIRST_STEPS,))
        soft = features.solve(np.arange(X.n_columns), X, d, None)
        assert soft is not None, "with so much slack there is a solution, and floating point finds it"
        self.near = [_near(t, at_most=2 * (X.n_columns + F.shape[1])) for t in (Y * (X.dot(soft.W) + F @ soft.free)).T]
        self.first = soft.B

    def solve(self, rows: Ints, X: Design, d: Floats, B: Floats | None) -> Inner | None:
        start, B = (self.first if B is None else B), np.zeros_like(self.Y)
        G, free = np.empty((len(rows), self.Y.shape[1])), np.empty((self.F.shape[1], self.Y.shape[1]))
        factors: list[Factor] = [Factor.empty()] * self.Y.shape[1]
        margins = np.empty_like(self.Y)
        todo = list(range(self.Y.shape[1]))
        while todo:
            found = self._solve_columns(todo, X, d, start)
            for j in todo:
                solved = found.get(j)
                if solved is None:
                    return None
                B[:, j], G[:, j], free[:, j], factors[j] = solved
            margins[:, todo] = self.Y[:, todo] * (X.dot(d[:, None] * G[:, todo]) + self.F @ free[:, todo])
            todo = [j for j in todo if self._take_in(j, margins[:, j])]
            start = B
        self.near = [np.flatnonzero((t < NEAR) | (b != 0)) for t, b in zip(margins.T, B.T, strict=True)]
        short = np.minimum(margins.min(axis=0), 1.0)
        return Inner(d[:, None] * G / short, B, G, 0.0, free / short, SampleCurvature(X, factors))

    def contradiction(self, j: int, X: Design, d: Floats) -> Ints:
        """Samples of column j that cannot be separated; none if all of them can."""
        start = self.first
        while True:
            solved = self._solve_column(j, X, d, start)
            if solved is None:
                return self.near[j]
            start = start.copy()
            start[:, j], g, free, _ = solved
            if not self._take_in(j, self.Y[:, j] * (X.dot((d * g)[:, None])[:, 0] + self.F @ free)):
                return self.near[j][:0]

    def _solve_columns(self, classes: list[int], X: Design, d: Floats, start: Floats) -> dict[int, Solved | None]:
        found: dict[int, Solved | None] = {}

        def solve(j: int) -> None:
            found[j] = self._solve_column(j, X, d, start)

        for_each(solve, classes, sum(len(self.near[j]) ** 2 * X.n_columns / 2 for j in classes))
        return found

    def _solve_column(self, j: int, X: Design, d: Floats, start: Floats) -> Solved | None:
        """b, X'b, the weights of the rows that are not penalised, and the factor of the samples on the margin."""
        near = self.near[j]
        block = X.samples(near)
        y = self.Y[near, j : j + 1]
        try:
            start = start[near, j : j + 1]
            solved = solve_qp(block.gram(d), y, np.ones_like(y), start, F=self.F[near], rank=X.n_columns)
        except np.linalg.LinAlgError:
            return None
        if not solved.solved:
            return None
        assert solved.factors is not None
        b = np.zeros(len(self.Y))
        b[near] = solved.B[:, 0]
        factor, place = solved.factors[0], np.append(near, len(self.Y) + np.arange(self.F.shape[1]))
        factor = replace(factor, index=place[factor.index])
        return b, block.tdot(solved.B)[:, 0], solved.free[:, 0], factor

    def _take_in(self, j: int, margins: Floats) -> bool:
        """Add the worst of the samples that were left inside the margin; False if there is none."""
        outside = margins.copy()
        outside[self.near[j]] = np.inf
        count = min(int(np.count_nonzero(outside < 1 - VIOLATED)), max(MIN_TAKEN_IN, int(TAKEN_IN * len(self.near[j]))))
        self.near[j] = np.union1d(self.near[j], _smallest(outside, count))
        return count > 0


def _near(margins: Floats, at_most: int) -> Ints:
    return _smallest(margins, min(at_most, max(1, int(np.count_nonzero(margins < NEAR)))))


def _smallest(values: Floats, count: int) -> Ints:
    """Where the ``count`` smallest values are, in order of position."""
    return np.sort(np.argpartition(values, count - 1)[:count]) if count else np.empty(0, dtype=np.intp)
