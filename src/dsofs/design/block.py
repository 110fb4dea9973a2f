"""Z itself, held in memory as one array of any array-API library."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from array_api_compat import is_numpy_array

from dsofs.design.budget import Budget, cuts
from dsofs.design.interface import Design
from dsofs.design.linalg import SymmetricSum, like, symmetric, take, to_numpy
from dsofs.design.threads import threads_for
from dsofs.design.types import AnyArray, Floats, Ints

DEFAULT = Budget()


class Block(Design):
    """Z as one array."""

    def __init__(self, Z: AnyArray, budget: Budget = DEFAULT, sample_weight: Floats | None = None) -> None:
        self.Z, self.budget, self.sample_weight = Z, budget, sample_weight
        self.n_samples, self.n_columns = Z.shape

    def gram(self, d: Floats) -> Floats:
        return gram_of_pieces(self._scaled_pieces(d), self.n_samples, self.n_columns)

    def _scaled_pieces(self, d: Floats) -> Iterable[AnyArray]:
        if len(d) and d[0] == 1 and (d == 1).all():  # as in the first step of a fit
            return [self.Z]
        root, step = like(self.Z, np.sqrt(d)), self.budget.columns(self.n_samples)
        if self.n_columns <= step:
            return [self.Z * root]
        return (self.Z[:, part] * root[part] for part in cuts(self.n_columns, step))

    def dot(self, W: Floats) -> Floats:
        with threads_for(self.n_samples * W.size):
            return to_numpy(self.Z @ like(self.Z, W))

    def tdot(self, B: Floats) -> Floats:
        with threads_for(self.n_columns * B.size):
            return to_numpy(like(self.Z, B).T @ self.Z).T  # Z'B is slower by half, as Z is held by rows

    def column_norms(self) -> Floats:
        squares = np.zeros(self.n_columns)
        for rows, columns in self.budget.tiles(self.n_samples, self.n_columns):
            piece = np.square(to_numpy(self.Z[rows, columns]))
            squares[columns] += piece.sum(axis=0) if self.sample_weight is None else self.sample_weight[rows] @ piece
        return np.sqrt(squares)

    def take(self, columns: Ints) -> Block:
        return self.block(columns)

    def block(self, columns: Ints) -> Block:
        if len(columns) == self.n_columns:
            return self
        return Block(take(self.Z, columns, axis=1), self.budget, self.sample_weight)

    def samples(self, index: Ints | slice) -> Block:
        Z = self.Z[index, :] if isinstance(index, slice) else take(self.Z, index, axis=0)
        return Block(Z, self.budget, self.weights_at(index))

    def on_host(self) -> Floats:
        """Z as a NumPy array: for small parts of it, and what has no other way."""
        return to_numpy(self.Z)


def gram_of_pieces(pieces: Iterable[AnyArray], n_samples: int, n_columns: int) -> Floats:
    """Sum of S S' over pieces S of columns that were scaled, and stay in the cache between that and this."""
    K: AnyArray = None
    total = SymmetricSum()
    with threads_for(n_samples**2 * n_columns // 2):
        for S in pieces:
            if is_numpy_array(S):
                total.add(S)
            else:
                K = S @ S.T if K is None else K + S @ S.T
        return total.of_size(n_samples) if K is None else symmetric(to_numpy(K))
