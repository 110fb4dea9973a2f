"""Sparse X: centring is folded into the products, so that nothing larger than a block is ever densified.

With S = diag(1 / scale), D = S diag(d) S and u = X D mean:

    Z = (X - 1 mean') S
    Z diag(d) Z' = X D X' - u 1' - 1 u' + (mean' D mean) 1 1'
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from dsofs.design.budget import Budget, cuts
from dsofs.design.interface import Block, gram_of_columns
from dsofs.design.standard import FAR_FROM_ZERO, Moments, NotFiniteError, StandardDesign
from dsofs.design.types import AnyArray, Floats, Ints


class SparseDesign(StandardDesign):
    """Standardised view of a scipy.sparse matrix."""

    @classmethod
    def moments(cls, X: AnyArray, T: Floats, budget: Budget, v: Floats | None = None) -> Moments:
        """Mean and deviation of each column, counting the zeros that are not stored, and its products with T."""
        X = sparse.csc_array(X)
        if not np.isfinite(X.data).all():
            raise NotFiniteError
        stored = np.diff(X.indptr)
        n_stored, n_all = (stored, X.shape[0]) if v is None else (_stored(X).T @ v, v.sum())
        largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
        values = X.astype(np.float64)
        values.data = values.data / np.repeat(np.where(largest == 0, 1.0, largest), stored)
        mean = _sums(values, v) / n_all
        products = values.T @ T - np.outer(mean, T.sum(axis=0))
        values.data = np.square(values.data - np.repeat(mean, stored))
        variance = (_sums(values, v) + (n_all - n_stored) * mean**2) / n_all
        return Moments.from_scaled(largest, mean, variance, products)

    @cached_property
    def _scaled(self) -> AnyArray:
        """X diag(1 / scale), stored numbers only: as large as X at most, its columns in the order of ``kept``."""
        scaled = sparse.csc_array(self.X)[:, self.kept].astype(np.float64)
        scaled.data = scaled.data / np.repeat(self.scale, np.diff(scaled.indptr))
        return scaled.tocsr()

    @cached_property
    def _shift(self) -> Floats:
        return self.mean / self.scale

    @property
    def n_stored(self) -> int:
        return int(self._scaled.nnz)

    def samples(self, index: Ints | slice) -> Block:
        return self._dense(self._scaled[index], self.weights_at(index))

    def materialise(self) -> Block:
        return self._dense(self._scaled, self.sample_weight)

    def _dense(self, scaled: AnyArray, sample_weight: Floats | None) -> Block:
        Z = np.full((scaled.shape[0], self.n_columns), float(self.bias))
        Z[:, : len(self.kept)] = scaled.toarray()
        Z[:, : len(self.kept)] -= self._shift
        return Block(Z, self.budget, sample_weight)

    def _gram(self, d: Floats) -> Floats:
        if np.abs(self._shift).max(initial=0.0) >= FAR_FROM_ZERO:
            return self._gram_of_dense_pieces(d)
        root = self._scaled.multiply(np.sqrt(d)).tocsr()
        K = (root @ root.T).toarray()
        u = self._scaled @ (d * self._shift)
        for rows in cuts(len(u), self.budget.samples(len(u))):  # sums of both, in one step, keep K symmetric
            K[rows] -= u[rows, None] + u
        K += float(d @ self._shift**2)
        return np.asarray(K)

    def _gram_of_dense_pieces(self, d: Floats) -> Floats:
        """For columns far from zero, whose correction would cancel what it corrects."""
        columns = np.arange(len(self.kept))

        def scaled(part: slice) -> Floats:
            return np.asarray(self.block(columns[part]).Z * np.sqrt(d[part]))

        parts = list(cuts(len(columns), self.budget.columns(self.n_samples)))
        return gram_of_columns(scaled, self.n_samples, parts, on_host=True)

    def _dot(self, W: Floats) -> Floats:
        return np.asarray(self._scaled @ W - self._shift @ W)

    def _tdot(self, B: Floats, out: Floats) -> None:
        out[:] = self._scaled.T @ B
        total = B.sum(axis=0)
        for j in range(B.shape[1]):
            out[:, j] -= self._shift * total[j]


def _stored(X: AnyArray) -> AnyArray:
    """1 wherever X stores a number."""
    return sparse.csc_array((np.ones(X.nnz), X.indices, X.indptr), X.shape)


def _sums(X: AnyArray, v: Floats | None) -> Floats:
    """sum_k v_k x_k of each column."""
    return np.asarray(X.sum(axis=0)).ravel() if v is None else np.asarray(X.T @ v)
