"""Dense X (in memory or memory-mapped, float32 or float64), standardised a few columns at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dsofs.arrays.design import Block, chunk_columns, gram_of_blocks
from dsofs.arrays.standard import Moments, StandardDesign
from dsofs.arrays.types import AnyArray, Floats


def dense_moments(X: AnyArray) -> Moments:
    """Mean and standard deviation of each column, in two passes over cache-sized pieces."""
    n = X.shape[1]
    largest, mean, variance = np.empty(n), np.empty(n), np.empty(n)
    for part in _pieces(X.shape[0], n):
        piece = X[:, part].astype(np.float64)
        largest[part] = np.maximum(piece.max(axis=0), -piece.min(axis=0))
        piece /= np.where(largest[part] == 0, 1.0, largest[part])
        mean[part] = piece.mean(axis=0)
        variance[part] = np.square(piece - mean[part]).mean(axis=0)
    return Moments.from_scaled(largest, mean, variance)


class DenseDesign(StandardDesign):
    """Standardised view of a dense matrix."""

    def _blocks(self) -> Iterator[tuple[Block, slice]]:
        for part in _pieces(self.n_samples, len(self.kept)):
            yield Block(self._standardised(part)), part

    def _standardised(self, part: slice) -> Floats:
        columns = self.kept[part]
        # A run of neighbouring columns is a view, anything else a gather.
        contiguous = columns[-1] - columns[0] + 1 == len(columns)
        piece = self.X[:, columns[0] : columns[-1] + 1] if contiguous else self.X[:, columns]
        Z = np.subtract(piece, self.mean[part], dtype=np.float64)
        Z /= self.scale[part]
        return Z

    def _gram(self, d: Floats) -> Floats:
        return gram_of_blocks(self.n_samples, self._blocks(), d)

    def _dot(self, W: Floats) -> Floats:
        F = np.zeros((self.n_samples, W.shape[1]))
        for block, part in self._blocks():
            F += block.Z @ W[part]
        return F

    def _tdot(self, B: Floats) -> Floats:
        G = np.empty((len(self.kept), B.shape[1]))
        for block, part in self._blocks():
            G[part] = block.Z.T @ B
        return G

    def _fill(self, out: Floats) -> None:
        for block, part in self._blocks():
            out[:, part] = block.Z


def _pieces(n_samples: int, n_columns: int) -> Iterator[slice]:
    step = chunk_columns(n_samples)
    for first in range(0, n_columns, step):
        yield slice(first, min(first + step, n_columns))
