"""Dense X (in memory or memory-mapped, float32 or float64), standardised a few columns at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dsofs.arrays.design import Block, chunk_columns, cuts, gram_of_blocks, tiles
from dsofs.arrays.standard import Moments, StandardDesign
from dsofs.arrays.types import AnyArray, Floats, Ints


def dense_moments(X: AnyArray) -> Moments:
    """Mean and standard deviation of each column, in a few passes over cache-sized pieces."""
    m, n = X.shape
    largest, mean, variance = np.zeros(n), np.zeros(n), np.zeros(n)
    for rows, columns in tiles(m, n):
        piece = X[rows, columns]
        top = np.maximum(piece.max(axis=0), -piece.min(axis=0).astype(np.float64))
        largest[columns] = np.maximum(largest[columns], top)
    unit = np.where(largest == 0, 1.0, largest)
    for rows, columns in tiles(m, n):
        mean[columns] += (X[rows, columns] / unit[columns]).sum(axis=0) / m
    for rows, columns in tiles(m, n):
        variance[columns] += np.square(X[rows, columns] / unit[columns] - mean[columns]).sum(axis=0) / m
    return Moments.from_scaled(largest, mean, variance)


class DenseDesign(StandardDesign):
    """Standardised view of a dense matrix."""

    def _tiles(self) -> Iterator[tuple[Block, slice, slice]]:
        for rows, columns in tiles(self.n_samples, len(self.kept)):
            yield Block(self._standardised(rows, columns)), rows, columns

    def _standardised(self, rows: slice, columns: slice) -> Floats:
        kept = self.kept[columns]
        # A run of neighbouring columns is a view, anything else a gather.
        contiguous = kept[-1] - kept[0] + 1 == len(kept)
        piece = self.X[rows, kept[0] : kept[-1] + 1] if contiguous else self.X[rows][:, kept]
        Z = np.subtract(piece, self.mean[columns], dtype=np.float64)
        Z /= self.scale[columns]
        return Z

    def samples(self, index: Ints) -> Block:
        return DenseDesign(self.X[index], self.kept, self.mean, self.scale, self.bias).materialise()

    def _gram(self, d: Floats) -> Floats:
        pieces = cuts(len(self.kept), chunk_columns(self.n_samples))
        blocks = ((Block(self._standardised(slice(None), columns)), columns) for columns in pieces)
        return gram_of_blocks(self.n_samples, blocks, d)

    def _dot(self, W: Floats) -> Floats:
        F = np.zeros((self.n_samples, W.shape[1]))
        for block, rows, columns in self._tiles():
            F[rows] += block.Z @ W[columns]
        return F

    def _tdot(self, B: Floats) -> Floats:
        G = np.zeros((len(self.kept), B.shape[1]))
        for block, rows, columns in self._tiles():
            G[columns] += block.Z.T @ B[rows]
        return G

    def _fill(self, out: Floats) -> None:
        for block, rows, columns in self._tiles():
            out[rows, columns] = block.Z
