"""A few further columns beside a design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dsofs.design.interface import Block, Design
from dsofs.design.types import Floats, Ints


class WithColumns(Design):
    """[X, F]: the columns of X and those of F, an array that is small beside it."""

    def __init__(self, X: Design, F: Floats) -> None:
        self.X, self.F, self.budget, self.sample_weight = X, F, X.budget, X.sample_weight
        self.n_samples, self.n_columns = X.n_samples, X.n_columns + F.shape[1]

    def gram(self, d: Floats) -> Floats:
        n = self.X.n_columns
        return self.X.gram(d[:n]) + (self.F * d[n:]) @ self.F.T

    def dot(self, W: Floats) -> Floats:
        n = self.X.n_columns
        return self.X.dot(W[:n]) + self.F @ W[n:]

    def tdot(self, B: Floats) -> Floats:
        return np.vstack([self.X.tdot(B), self.F.T @ B])

    def column_norms(self) -> Floats:
        return np.append(self.X.column_norms(), np.sqrt(np.sum(self.F * self.weighted(self.F), axis=0)))

    def take(self, columns: Ints) -> WithColumns:
        data, further = split(columns, self.X.n_columns)
        return WithColumns(self.X.take(data), self.F[:, further])

    def block(self, columns: Ints) -> Block:
        data, further = split(columns, self.X.n_columns)
        return Block(np.hstack([self.X.block(data).on_host(), self.F[:, further]]), self.budget, self.sample_weight)

    def normal_equations(self, sets: Sequence[tuple[Ints, Floats, Floats]]) -> list[tuple[Floats, Floats]]:
        """Without a copy of X beside F:  Z'UZ = [X'UX, X'UF; F'UX, F'UF]."""
        weighted = [u[:, None] * self.F[index] for index, u, _ in sets]
        further = [(index, u, np.hstack([R, UF])) for (index, u, R), UF in zip(sets, weighted, strict=True)]
        found = []
        for (index, _, R), UF, (H, h) in zip(sets, weighted, self.X.normal_equations(further), strict=True):
            F, q = self.F[index], R.shape[1]
            H = np.block([[H, h[:, q:]], [h[:, q:].T, F.T @ UF]])
            found.append((H, np.vstack([h[:, :q], F.T @ R])))
        return found

    def samples(self, index: Ints | slice) -> Block:
        rows = self.X.samples(index)
        return Block(np.hstack([rows.on_host(), self.F[index]]), self.budget, rows.sample_weight)


def split(columns: Ints, n: int) -> tuple[Ints, Ints]:
    """Those below n among ``columns``, which come first, and the others less n."""
    count = int(np.count_nonzero(columns < n))
    return columns[:count], columns[count:] - n
