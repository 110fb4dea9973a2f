"""Residuals as further columns of a design."""

from __future__ import annotations

import numpy as np

from dsofs.design.columns import split
from dsofs.design.interface import Block, Design
from dsofs.design.linalg import row_norms
from dsofs.design.types import Floats, Ints


class WithResiduals(Design):
    """[X, diag(v)], or some of its columns: X W + v o R = Y, where the residuals R of the samples are rows like W's."""

    def __init__(self, X: Design, v: Floats, kept: Ints | None = None) -> None:
        """``kept`` are the samples whose residuals have a column; the others have none, X W = Y."""
        self.X, self.v, self.budget, self.sample_weight = X, v, X.budget, X.sample_weight
        self.kept = np.arange(X.n_samples) if kept is None else kept
        self.n_samples, self.n_columns = X.n_samples, X.n_columns + len(self.kept)

    def ridge(self, d: Floats) -> Floats:
        """What the residuals add to the diagonal of the Gram matrix."""
        ridge = np.zeros(self.n_samples)
        ridge[self.kept] = self.v[self.kept] ** 2 * d[self.X.n_columns :]
        return ridge

    def gram(self, d: Floats) -> Floats:
        K = self.X.gram(d[: self.X.n_columns])
        K.flat[:: self.n_samples + 1] += self.ridge(d)
        return K

    def dot(self, W: Floats) -> Floats:
        F = self.X.dot(W[: self.X.n_columns])
        F[self.kept] += self.v[self.kept, None] * W[self.X.n_columns :]
        return F

    def tdot(self, B: Floats) -> Floats:
        return np.vstack([self.X.tdot(B), self.v[self.kept, None] * B[self.kept]])

    def dual_norms(self, B: Floats, rough: bool = False) -> Floats:
        return np.concatenate([self.X.dual_norms(B, rough), self.v[self.kept] * row_norms(B[self.kept])])

    def take(self, columns: Ints) -> WithResiduals:
        data, residuals = split(columns, self.X.n_columns)
        return WithResiduals(self.X.take(data), self.v, self.kept[residuals])

    def block(self, columns: Ints) -> Block:
        data, residuals = split(columns, self.X.n_columns)
        diagonal = self._diagonal(np.arange(self.n_samples), residuals)
        return Block(np.hstack([self.X.block(data).on_host(), diagonal]), self.budget, self.sample_weight)

    def samples(self, index: Ints | slice) -> Block:
        rows, every = self.X.samples(index), np.arange(len(self.kept))
        diagonal = self._diagonal(np.arange(self.n_samples)[index], every)
        return Block(np.hstack([rows.on_host(), diagonal]), self.budget, rows.sample_weight)

    def column_norms(self) -> Floats:
        return np.concatenate([self.X.column_norms(), np.sqrt(self.weighted(self.v[:, None] ** 2)[self.kept, 0])])

    def _diagonal(self, samples: Ints, residuals: Ints) -> Floats:
        kept = self.kept[residuals]
        return np.where(samples[:, None] == kept, self.v[kept], 0.0)
