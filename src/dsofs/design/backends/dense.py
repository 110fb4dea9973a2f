"""Dense X: of any array-API library (torch, CuPy, ...) on any device, and NumPy's in fewer passes and in threads.

X is standardised where it is, a few columns at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter

import numpy as np
from array_api_compat import array_namespace, device

from dsofs.design.budget import THREADED, Budget, cuts, in_parallel
from dsofs.design.interface import Block, gram_of_columns
from dsofs.design.linalg import like, row_norms, take, to_numpy, widest_float
from dsofs.design.standard import FAR_FROM_ZERO, Moments, NotFiniteError, StandardDesign
from dsofs.design.types import AnyArray, Floats, Ints

# Squares and sums of numbers in this range neither over- nor underflow.
SAFE = 1e-100, 1e100
FEW = 0.05  # of the columns: with more of them to look at again, a pass in float64 takes less time


class ArrayDesign(StandardDesign):
    """Standardised view of a dense matrix. Where a library has a quicker way, its back end overrides that alone."""

    @staticmethod
    def doubles(piece: AnyArray) -> AnyArray:
        """In the precision that sums are taken in."""
        return array_namespace(piece).astype(piece, widest_float(piece), copy=False)

    @classmethod
    def minus(cls, piece: AnyArray, mean: Floats) -> AnyArray:
        """A new array: the piece without the mean of each column."""
        piece = cls.doubles(piece)
        return piece - like(piece, mean)

    @staticmethod
    def extremes(piece: AnyArray) -> tuple[Floats, Floats]:
        """The lowest and the highest value of each column."""
        xp = array_namespace(piece)
        return to_numpy(xp.min(piece, axis=0)), to_numpy(xp.max(piece, axis=0))

    @classmethod
    def sums(cls, piece: AnyArray) -> Floats:
        """The sum of each column."""
        return to_numpy(array_namespace(piece).sum(cls.doubles(piece), axis=0))

    @staticmethod
    def sums_of_squares(Z: AnyArray) -> Floats:
        return to_numpy(array_namespace(Z).sum(Z * Z, axis=0))

    @classmethod
    def weighted_sums(cls, piece: AnyArray, v: Floats | None) -> Floats:
        """sum_k v_k x_k of each column."""
        if v is None:
            return cls.sums(piece)
        piece = cls.doubles(piece)
        return to_numpy(like(piece, v) @ piece)

    @classmethod
    def weighted_squares(cls, Z: AnyArray, v: Floats | None) -> Floats:
        return cls.sums_of_squares(Z) if v is None else to_numpy(like(Z, v) @ (Z * Z))

    @classmethod
    def moments(cls, X: AnyArray, T: Floats, budget: Budget, v: Floats | None = None) -> Moments:
        """Mean and deviation of each column, and its products with T: one pass over X, in pieces for the cache."""
        m, n = X.shape
        total = m if v is None else float(v.sum())
        largest, mean, variance, products = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((n, T.shape[1]))
        for columns, tiles in groupby(budget.tiles(m, n), key=itemgetter(1)):
            pieces = [(X[rows, columns], T[rows], None if v is None else v[rows]) for rows, _ in tiles]
            found = cls._scaled_moments(pieces, total)
            largest[columns], mean[columns], variance[columns], products[columns] = found
        return Moments.from_scaled(largest, mean, variance, products)

    @classmethod
    def _scaled_moments(cls, pieces: list[tuple[AnyArray, Floats, Floats | None]], total: float) -> tuple[Floats, ...]:
        """The largest value of each column; of ``column / largest`` the mean, the variance, and the products with T."""
        lowest, highest = (np.stack(ends) for ends in zip(*(cls.extremes(piece) for piece, *_ in pieces), strict=True))
        lowest, highest = lowest.min(axis=0), highest.max(axis=0)
        largest = np.maximum(highest, -lowest)
        if not np.isfinite(largest).all():
            raise NotFiniteError
        unit = np.where(largest == 0, 1.0, largest)
        after = unit
        if not (SAFE[0] < unit.min() and unit.max() < SAFE[1]):  # dividing afterwards takes less time
            pieces = [(cls.doubles(piece) / like(cls.doubles(piece), unit), T, v) for piece, T, v in pieces]
            after = np.ones_like(unit)
        n_targets = pieces[0][1].shape[1]
        mean, rest, squares, products = *np.zeros((3, len(unit))), np.zeros((len(unit), n_targets))
        for piece, _, v in pieces:
            mean += cls.weighted_sums(piece, v) / total
        for piece, T, v in pieces:
            deviation = cls.minus(piece, mean)
            rest += cls.weighted_sums(deviation, v) / total
            squares += cls.weighted_squares(deviation, v) / total
            products += to_numpy(like(deviation, T).T @ deviation).T
        # Long sums are not exact: what is left of the deviations corrects the mean, and with it all else.
        products -= np.outer(rest, np.sum([T.sum(axis=0) for _, T, _ in pieces], axis=0))
        variance = np.where(highest == lowest, 0.0, squares - rest**2)
        return largest, (mean + rest) / after, variance / np.square(after), products / after[:, None]

    def view(self, columns: Ints) -> StandardDesign:
        return self.part(columns)

    def samples(self, index: Ints | slice) -> Block:
        X = self.X[index, :] if isinstance(index, slice) else take(self.X, index, axis=0)
        return type(self)(X, self.columns, self.bias, self.budget, self.weights_at(index)).materialise()

    def materialise(self) -> Block:
        xp, (m, n) = array_namespace(self.X), (self.n_samples, len(self.kept))
        Z = xp.empty((m, self.n_columns), dtype=widest_float(self.X), device=device(self.X))
        for rows, columns in self.budget.tiles(m, n) if n else ():
            Z[rows, columns] = self._standardised(rows, columns)
        if self.bias:
            Z[:, n:] = float(self.bias)
        return Block(Z, self.budget, self.sample_weight)

    def _standardised(self, rows: slice, columns: slice) -> AnyArray:
        Z = self.minus(self._piece(rows, columns), self.mean[columns])
        Z /= like(Z, self.scale[columns])
        return Z

    def _piece(self, rows: slice, columns: slice) -> AnyArray:
        """Of X as it is: a run of neighbouring columns is a view, anything else a gather."""
        kept = self.kept[columns]
        if is_run(kept):
            return self.X[rows, int(kept[0]) : int(kept[-1]) + 1]
        return take(self.X[rows, :], kept, axis=1)

    @cached_property
    def _folds(self) -> bool:
        """Whether a product with X can be corrected for the means afterwards without losing digits that matter."""
        near = np.max(np.abs(self.mean) / self.scale, initial=0.0) < FAR_FROM_ZERO
        return bool(near and SAFE[0] < self.scale.min() and self.scale.max() < SAFE[1])

    def _factor(self, rows: slice, columns: slice) -> Block:
        """X as it is where products can be corrected for the means afterwards, else standardised."""
        piece = self.doubles(self._piece(rows, columns)) if self._folds else self._standardised(rows, columns)
        return Block(piece, self.budget)

    def _gram(self, d: Floats) -> Floats:
        root = np.sqrt(d)
        parts = list(cuts(len(d), self.budget.columns(self.n_samples)))
        scaled = partial(self._weighted, root)
        return gram_of_columns(scaled, self.n_samples, parts, isinstance(self.X, np.ndarray))

    def _weighted(self, root: Floats, columns: slice) -> AnyArray:
        """Z diag(root) of these columns."""
        every = slice(0, self.n_samples)
        if not self._folds:
            Z = self._standardised(every, columns)
            return Z * like(Z, root[columns])
        Z = self.minus(self._piece(every, columns), self.mean[columns])
        Z *= like(Z, root[columns] / self.scale[columns])
        return Z

    def _dot(self, W: Floats) -> Floats:
        V = W / self.scale[:, None] if self._folds else W
        F = np.zeros((self.n_samples, W.shape[1]))
        for rows, columns in self._parts():
            F[rows] += self._factor(rows, columns).dot(V[columns])
        return F - self.mean @ V if self._folds else F

    def _parts(self) -> list[tuple[slice, slice]]:
        """What products are taken with at a time: X in one piece where that needs no copy, else tiles of it."""
        if self._folds and self.X.dtype == widest_float(self.X) and is_run(self.kept):
            return [(slice(0, self.n_samples), slice(0, len(self.kept)))]
        return list(self.budget.tiles(self.n_samples, len(self.kept)))

    def _tdot(self, B: Floats, out: Floats) -> None:
        def fill(columns: slice) -> None:
            out[columns] = self._products(B, columns)

        self._for_all_columns(fill, B.shape[1])

    def _dual_norms(self, B: Floats, out: Floats, rough: bool) -> None:
        def fill(columns: slice) -> None:
            out[columns] = row_norms(self._products(B, columns))

        self._for_all_columns(fill, B.shape[1])

    def _for_all_columns(self, fill: Callable[[slice], None], n_products: int) -> None:
        for columns in self._column_parts(copied=True):
            fill(columns)

    def _column_parts(self, copied: bool) -> list[slice]:
        """A few columns at a time if they are copied, so that they stay in the cache, and more if they are views.

        All at once where samples are many and taken in pieces.
        """
        n = len(self.kept)
        few = max(self.budget.columns(self.n_samples), 0 if copied else self.budget.views)
        return list(cuts(n, few if n >= self.n_samples else n))

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


class DenseDesign(ArrayDesign):
    """Standardised view of a NumPy array."""

    gram_dtype: type = np.float64

    def rough(self) -> DenseDesign:
        """With K in float32, which takes half the time; products read X as it is."""
        rough = self._like(self.columns, self.bias)
        rough.gram_dtype = np.float32
        return rough

    def _weighted(self, root: Floats, columns: slice) -> AnyArray:
        return super()._weighted(root, columns).astype(self.gram_dtype, copy=False)

    @staticmethod
    def doubles(piece: AnyArray) -> AnyArray:
        return np.asarray(piece, dtype=np.float64)

    @classmethod
    def minus(cls, piece: AnyArray, mean: Floats) -> AnyArray:
        return np.subtract(piece, mean, dtype=np.float64)

    @staticmethod
    def extremes(piece: AnyArray) -> tuple[Floats, Floats]:
        return piece.min(axis=0).astype(np.float64), piece.max(axis=0).astype(np.float64)

    @classmethod
    def sums(cls, piece: AnyArray) -> Floats:
        return np.asarray(piece.sum(axis=0, dtype=np.float64))

    @staticmethod
    def sums_of_squares(Z: AnyArray) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", Z, Z))

    def _dual_norms(self, B: Floats, out: Floats, rough: bool) -> None:
        """Roughly, of a large X in float32, at the speed of reading it, and again for those that may be the largest."""
        large = len(self.kept) * B.size > THREADED and len(self.kept) > self.n_samples
        if not (rough and large and self._folds and self.X.dtype == np.float32):
            super()._dual_norms(B, out, rough)
            return
        out[:] = self._rough_norms(B)
        least = 1.0 if self.sample_weight is None else float(self.sample_weight.min())
        error = np.hypot(self.columns.norm, self.total_weight**0.5 * self.mean / self.scale)  # x_i over its scale
        error *= self.n_samples * np.finfo(np.float32).eps * np.linalg.norm(B) / least**0.5
        near = np.flatnonzero(out + error >= np.max(out - error))
        if len(near) > FEW * len(self.kept):
            super()._dual_norms(B, out, rough)
        else:
            out[near] = self.part(near).dual_norms(B)

    def _rough_norms(self, B: Floats) -> Floats:
        """||Z_i'B|| with products in float32."""
        norms, single, total = np.empty(len(self.kept)), B.T.astype(np.float32), B.sum(axis=0)

        def fill(columns: slice) -> None:
            G = single @ self._piece(slice(None), columns) - np.outer(total, self.mean[columns])
            norms[columns] = np.sqrt(np.einsum("ji,ji->i", G, G)) / self.scale[columns]

        in_parallel(fill, self._column_parts(copied=not is_run(self.kept)))
        return norms

    def _for_all_columns(self, fill: Callable[[slice], None], n_products: int) -> None:
        if len(self.kept) * self.n_samples * n_products > THREADED:
            views = self._folds and self.X.dtype == np.float64 and is_run(self.kept)
            in_parallel(fill, self._column_parts(copied=not views))
        else:
            super()._for_all_columns(fill, n_products)


def is_run(columns: Ints) -> bool:
    """Whether they are neighbours."""
    return bool(columns[-1] - columns[0] + 1 == len(columns))
