"""Sparse X: centring is folded into the products, so that nothing larger than a block is ever densified.

With S = diag(1 / scale), D = S diag(d) S and u = X D mean:

    Z = (X - 1 mean') S
    Z diag(d) Z' = X D X' - u 1' - 1 u' + (mean' D mean) 1 1'
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from dsofs.design.interface import Block, chunk_columns, cuts, gram_of_pieces
from dsofs.design.standard import FAR_FROM_ZERO, Moments, StandardDesign
from dsofs.design.types import AnyArray, Floats, Ints


def sparse_moments(X: AnyArray) -> Moments:
    """Mean and standard deviation of each column, counting the zeros that are not stored."""
    X = sparse.csc_array(X)
    m = X.shape[0]
    largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
    values = X.astype(np.float64)
    values.data = values.data / np.repeat(np.where(largest == 0, 1.0, largest), np.diff(X.indptr))
    mean = np.asarray(values.sum(axis=0)).ravel() / m
    stored = np.diff(X.indptr)
    values.data = np.square(values.data - np.repeat(mean, stored))
    variance = (np.asarray(values.sum(axis=0)).ravel() + (m - stored) * mean**2) / m
    return Moments.from_scaled(largest, mean, variance)


class SparseDesign(StandardDesign):
    """Standardised view of a scipy.sparse matrix."""

    def __init__(self, X: AnyArray, kept: Ints, mean: Floats, scale: Floats, bias: bool) -> None:
        super().__init__(X, kept, mean, scale, bias)
        # Stored numbers only: as large as X at most, and the columns come in the order of ``kept``.
        scaled = sparse.csc_array(X)[:, kept].astype(np.float64)
        scaled.data = scaled.data / np.repeat(scale, np.diff(scaled.indptr))
        self._scaled = scaled.tocsr()
        self._shift = mean / scale

    def samples(self, index: Ints) -> Block:
        Z = np.ones((len(index), self.n_columns))
        Z[:, : len(self.kept)] = self._scaled[index].toarray() - self._shift
        return Block(Z)

    def _gram(self, d: Floats) -> Floats:
        if np.abs(self._shift).max(initial=0.0) >= FAR_FROM_ZERO:
            return self._gram_of_dense_pieces(d)
        root = self._scaled.multiply(np.sqrt(d)).tocsr()
        K = (root @ root.T).toarray()
        u = self._scaled @ (d * self._shift)
        K -= u[:, None] + u
        return K + float(d @ self._shift**2)

    def _gram_of_dense_pieces(self, d: Floats) -> Floats:
        """For columns far from zero, whose correction would cancel what it corrects."""
        columns = np.arange(len(self.kept))
        parts = cuts(len(columns), chunk_columns(self.n_samples))
        pieces = (self.block(columns[part]).Z * np.sqrt(d[part]) for part in parts)
        return gram_of_pieces(pieces, self.n_samples, len(columns))

    def _dot(self, W: Floats) -> Floats:
        return np.asarray(self._scaled @ W - self._shift @ W)

    def _tdot(self, B: Floats, out: Floats) -> None:
        out[:] = self._scaled.T @ B
        total = B.sum(axis=0)
        for j in range(B.shape[1]):
            out[:, j] -= self._shift * total[j]

    def _fill(self, out: Floats) -> None:
        out[:] = self._scaled.toarray()
        out -= self._shift
