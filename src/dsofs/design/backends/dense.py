"""Dense X (in memory or memory-mapped, float32 or float64), standardised a few columns at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import numpy as np

from dsofs.design.interface import THREADED, Block, chunk_columns, cuts, gram_of_pieces, tiles
from dsofs.design.linalg import row_norms
from dsofs.design.standard import FAR_FROM_ZERO, Moments, StandardDesign
from dsofs.design.threads import in_parallel
from dsofs.design.types import AnyArray, Floats, Ints

# Squares and sums of numbers in this range neither over- nor underflow.
SAFE = 1e-100, 1e100


def dense_moments(X: AnyArray) -> Moments:
    """Mean and standard deviation of each column, from pieces that stay in the cache for as long as they are needed."""
    m, n = X.shape
    largest, mean, variance = np.zeros(n), np.zeros(n), np.zeros(n)
    for columns, group in groupby(tiles(m, n), key=itemgetter(1)):
        pieces = [X[rows, columns] for rows, _ in group]
        largest[columns], mean[columns], variance[columns] = _scaled_moments(pieces, m)
    return Moments.from_scaled(largest, mean, variance)


def _scaled_moments(pieces: list[AnyArray], m: int) -> tuple[Floats, Floats, Floats]:
    """The largest value of each column, and the mean and variance of ``column / largest``."""
    highest = np.max([piece.max(axis=0) for piece in pieces], axis=0).astype(np.float64)
    lowest = np.min([piece.min(axis=0) for piece in pieces], axis=0).astype(np.float64)
    largest = np.maximum(highest, -lowest)
    unit = np.where(largest == 0, 1.0, largest)
    safe = SAFE[0] < unit.min() and unit.max() < SAFE[1]
    before, after = (1.0, unit) if safe else (unit, 1.0)  # dividing afterwards takes less time
    mean = np.sum([_divided(piece, before).sum(axis=0, dtype=np.float64) for piece in pieces], axis=0) / m
    # Long sums are not exact: what is left of the deviations corrects the mean, and with it the variance.
    rest, squares = np.sum([_deviations(_divided(piece, before), mean) for piece in pieces], axis=0) / m
    variance = np.where(highest == lowest, 0.0, squares - rest**2)
    return largest, (mean + rest) / after, variance / np.square(after)


def _divided(piece: AnyArray, unit: Floats | float) -> AnyArray:
    return piece if isinstance(unit, float) else piece / unit


def _deviations(piece: AnyArray, mean: Floats) -> Floats:
    """For each column the sum of the deviations, and that of their squares."""
    deviation = np.subtract(piece, mean, dtype=np.float64)
    return np.stack([deviation.sum(axis=0), np.einsum("ij,ij->j", deviation, deviation)])


class DenseDesign(StandardDesign):
    """Standardised view of a dense matrix."""

    def _tiles(self) -> Iterator[tuple[Block, slice, slice]]:
        for rows, columns in tiles(self.n_samples, len(self.kept)):
            yield Block(self._standardised(rows, columns)), rows, columns

    def _standardised(self, rows: slice, columns: slice) -> Floats:
        Z = self._centred(rows, columns)
        Z /= self.scale[columns]
        return Z

    def _centred(self, rows: slice, columns: slice) -> Floats:
        return np.subtract(self._piece(rows, columns), self.mean[columns], dtype=np.float64)

    def _piece(self, rows: slice, columns: slice) -> AnyArray:
        """Of X as it is: a run of neighbouring columns is a view, anything else a gather."""
        kept = self.kept[columns]
        return self.X[rows, kept[0] : kept[-1] + 1] if _run(kept) else self.X[rows][:, kept]

    @cached_property
    def _folds(self) -> bool:
        """Whether a product with X can be corrected for the means afterwards without losing digits that matter."""
        near = np.max(np.abs(self.mean) / self.scale, initial=0.0) < FAR_FROM_ZERO
        return bool(near and SAFE[0] < self.scale.min() and self.scale.max() < SAFE[1])

    def _parts(self) -> list[tuple[slice, slice]]:
        """What products are taken with at a time: X in one piece where that needs no copy, else tiles of it."""
        if self._folds and self.X.dtype == np.float64 and _run(self.kept):
            return [(slice(0, self.n_samples), slice(0, len(self.kept)))]
        return list(tiles(self.n_samples, len(self.kept)))

    def _factor(self, rows: slice, columns: slice) -> Block:
        """X as it is where products can be corrected for the means afterwards, else standardised."""
        if self._folds:
            return Block(np.asarray(self._piece(rows, columns), dtype=np.float64))
        return Block(self._standardised(rows, columns))

    def samples(self, index: Ints) -> Block:
        return DenseDesign(self.X[index], self.kept, self.mean, self.scale, self.bias).materialise()

    def _gram(self, d: Floats) -> Floats:
        standard, root = self._standardised, np.sqrt(d)
        if self._folds:
            standard, root = self._centred, root / self.scale
        parts = cuts(len(self.kept), chunk_columns(self.n_samples))
        pieces = (standard(slice(None), part) * root[part] for part in parts)
        return gram_of_pieces(pieces, self.n_samples, len(d))

    def _dot(self, W: Floats) -> Floats:
        V = W / self.scale[:, None] if self._folds else W
        F = np.zeros((self.n_samples, W.shape[1]))
        for rows, columns in self._parts():
            F[rows] += self._factor(rows, columns).dot(V[columns])
        return F - self.mean @ V if self._folds else F

    def _tdot(self, B: Floats, out: Floats) -> None:
        def fill(columns: slice) -> None:
            out[columns] = self._products(B, columns)

        self._for_all_columns(fill, B.shape[1])

    def _dual_norms(self, B: Floats, out: Floats) -> None:
        def fill(columns: slice) -> None:
            out[columns] = row_norms(self._products(B, columns))

        self._for_all_columns(fill, B.shape[1])

    def _for_all_columns(self, fill: Callable[[slice], None], n_products: int) -> None:
        """A few columns at a time, in threads if that pays; all at once where samples are many and taken in pieces."""
        n = len(self.kept)
        parts = list(cuts(n, chunk_columns(self.n_samples) if n >= self.n_samples else n))
        if n * self.n_samples * n_products > THREADED:
            in_parallel(fill, parts)
        else:
            for part in parts:
                fill(part)

    def _products(self, B: Floats, columns: slice) -> Floats:
        """Z'B of these columns: with X as it is, and corrected for the means afterwards, where that loses no digits."""
        every = slice(0, self.n_samples)
        rows = [every] if len(self.kept) >= self.n_samples else [rows for rows, _ in self._parts()]
        G = np.zeros((columns.stop - columns.start, B.shape[1]))
        for part in rows:
            G += self._factor(part, columns).tdot(B[part])
        if self._folds:
            G -= np.outer(self.mean[columns], B.sum(axis=0))
            G /= self.scale[columns, None]
        return G

    def _fill(self, out: Floats) -> None:
        for block, rows, columns in self._tiles():
            out[rows, columns] = block.Z


def _run(columns: Ints) -> bool:
    """Whether they are neighbours."""
    return bool(columns[-1] - columns[0] + 1 == len(columns))
