"""Standardised columns of a user's X: the scaling is folded into the algebra, and dense X is never copied."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from dsofs.design.interface import Block, Design
from dsofs.design.linalg import row_norms
from dsofs.design.types import AnyArray, Floats, Ints

# A column whose deviation is at the level of rounding, relative to its largest value, holds no information.
CONSTANT = 10 * np.finfo(np.float64).eps
FAR_FROM_ZERO = 1e3  # a mean of so many standard deviations costs a product three of its sixteen digits


@dataclass(frozen=True)
class Moments:
    """Per column of X: mean, standard deviation, and whether it is constant."""

    mean: Floats
    scale: Floats
    constant: np.ndarray

    @classmethod
    def from_scaled(cls, largest: Floats, mean: Floats, variance: Floats) -> Moments:
        """From the mean and variance of ``column / largest``, which neither over- nor underflow."""
        scale = np.sqrt(np.maximum(variance, 0.0))
        constant = (largest == 0) | (scale <= CONSTANT)
        return cls(mean * largest, np.where(constant, 1.0, scale * largest), constant)


class StandardDesign(Design):
    """[(X - mean) / scale, 1] restricted to the columns ``kept``, over a matrix X that stays as it was given."""

    def __init__(self, X: AnyArray, kept: Ints, mean: Floats, scale: Floats, bias: bool) -> None:
        self.X, self.kept, self.mean, self.scale, self.bias = X, kept, mean, scale, bias
        self.n_samples = X.shape[0]
        self.n_columns = len(kept) + bias

    def gram(self, d: Floats) -> Floats:
        K = self._gram(d[: len(self.kept)])
        return K + d[-1] if self.bias else K

    def dot(self, W: Floats) -> Floats:
        F = self._dot(W[: len(self.kept)])
        return F + W[-1] if self.bias else F

    def tdot(self, B: Floats) -> Floats:
        G = np.empty((self.n_columns, B.shape[1]))
        self._tdot(B, out=G[: len(self.kept)])
        if self.bias:
            G[-1] = B.sum(axis=0)
        return G

    def dual_norms(self, B: Floats) -> Floats:
        norms = np.empty(self.n_columns)
        self._dual_norms(B, norms[: len(self.kept)])
        if self.bias:
            norms[-1] = np.linalg.norm(B.sum(axis=0))
        return norms

    def _dual_norms(self, B: Floats, out: Floats) -> None:
        G = np.empty((len(self.kept), B.shape[1]))
        self._tdot(B, G)
        out[:] = row_norms(G)

    def take(self, columns: Ints) -> Design:
        return self if len(columns) == self.n_columns else self.part(columns).compact()

    def block(self, columns: Ints) -> Block:
        return self.part(columns).materialise()

    def part(self, columns: Ints) -> StandardDesign:
        """A view of these columns, in increasing order."""
        data = columns[columns < len(self.kept)]
        bias = len(data) < len(columns)
        return type(self)(self.X, self.kept[data], self.mean[data], self.scale[data], bias)

    def divided_by(self, sizes: Floats) -> StandardDesign:
        """The same columns, each divided by its size; the bias stays as it is."""
        return type(self)(self.X, self.kept, self.mean, self.scale * sizes, self.bias)

    def compact(self) -> Design:
        """Z itself where it fits in a block, this view of X where it does not."""
        return self.materialise() if self.fits_in_block(self.n_columns) else self

    def materialise(self) -> Block:
        """Z as one dense array."""
        Z = np.empty((self.n_samples, self.n_columns))
        if len(self.kept):
            self._fill(Z[:, : len(self.kept)])
        if self.bias:
            Z[:, -1] = 1.0
        return Block(Z)

    @abstractmethod
    def _gram(self, d: Floats) -> Floats: ...

    @abstractmethod
    def _dot(self, W: Floats) -> Floats: ...

    @abstractmethod
    def _tdot(self, B: Floats, out: Floats) -> None:
        """Write the products of the standardised columns into ``out``, with little memory beside."""

    @abstractmethod
    def _fill(self, out: Floats) -> None:
        """Write the standardised columns into ``out``."""
