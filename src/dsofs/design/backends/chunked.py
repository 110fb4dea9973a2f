"""X that is never in memory as a whole, because it is on a disk or on a cluster: worked on in pieces.

A wide X is cut into panels (all samples, some columns), a tall X into bands (some samples, all columns):

    Z diag(d) Z' = sum over panels,      Z'B = one panel under the other, or the sum over bands,
    Z diag(u) Z  = sum over bands,       Z W = the sum over panels, or one band under the other.

Each piece is a design in memory for the time of one product. Where a piece is read, and where the work on it is done,
is for the kind of X: a ``ChunkedArray``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import hstack, issparse, vstack

from dsofs.design.backends.dense import DenseDesign
from dsofs.design.backends.sparse import SparseDesign
from dsofs.design.budget import DOUBLE, Budget
from dsofs.design.interface import Block
from dsofs.design.standard import Columns, FirstPass, Moments, StandardDesign
from dsofs.design.types import AnyArray, Floats, Ints

# What is done with a piece: a result of its own, and one that is added up over all pieces; either may be None.
Work = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Piece:
    """The samples ``rows`` and the features ``columns`` of X, both in increasing order, and what the work needs."""

    rows: Ints
    columns: Ints
    arguments: tuple[Any, ...]


class ChunkedArray(ABC):
    """m x n numbers that can be read in pieces."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    edges: tuple[Ints, Ints]  # where the chunks of the storage end, of its rows and of its columns
    density: float = 1.0  # the room that a piece takes in memory, as a part of what it takes in float64
    held: tuple[Ints, AnyArray] | None = None  # the features that were last read for all samples, and what was read

    @abstractmethod
    def run(self, work: Work, pieces: Sequence[Piece]) -> tuple[list[Any], Any]:
        """The own results of all pieces, and the sum of the others."""

    @abstractmethod
    def rows_of(self, index: Ints) -> ChunkedArray:
        """Some samples, in increasing order."""

    @abstractmethod
    def columns_of(self, index: Ints) -> AnyArray:
        """Some features of all samples: read, or still to be computed."""

    def fetch_columns(self, index: Ints) -> Floats:
        """Some features of all samples in memory, dense."""
        columns = self.columns_of(index)
        columns = columns.compute() if hasattr(columns, "compute") else columns
        return columns.toarray() if issparse(columns) else np.asarray(columns)

    def hold(self, columns: Ints, budget: Budget) -> AnyArray:
        """Some features of all samples in memory, which stay there until others are needed.

        A ranking needs a few of the features that the loop held, and reading those again is a pass over all chunks.
        """
        held, X = self.held or (columns[:0], np.empty((self.shape[0], 0)))
        if not np.isin(columns, held).all():
            self.held = None  # before others are read
            held, X = self.held = columns, self._read_all(columns, budget)
        return X if len(columns) == len(held) else X[:, np.searchsorted(held, columns)]

    def _read_all(self, columns: Ints, budget: Budget) -> AnyArray:
        rows = np.arange(self.shape[0])
        if self.is_tall:
            pieces = [Piece(rows[part], columns, ()) for part in self.bands(rows, len(columns), budget)]
        else:
            pieces = [Piece(rows, columns[part], ()) for part in self.panels(columns, budget)]
        parts, _ = self.run(as_it_is, pieces)
        if issparse(parts[0]):
            return vstack(parts, format="csc") if self.is_tall else hstack(parts, format="csc")
        return np.concatenate(parts, axis=0 if self.is_tall else 1)

    @property
    def is_tall(self) -> bool:
        return self.shape[0] > self.shape[1]

    def stand_in(self) -> Floats:
        """An array of the same shape that takes no memory, for checks of the shape alone."""
        return np.broadcast_to(np.float64(0.0), self.shape)

    def header(self) -> AnyArray:
        """What scikit-learn reads the number of features from, and their names if they have any."""
        return self.stand_in()

    def dot(self, W: Floats) -> Floats:
        """X W."""
        return np.concatenate(self._in_bands(product, W))

    def find(self, wanted: Callable[[np.ndarray], np.ndarray]) -> tuple[Ints, Ints, np.ndarray]:
        """Rows, columns and values of the entries that are ``wanted``, in the order of rows."""
        found = self._in_bands(entries, wanted)
        offsets = np.repeat([rows[0] for rows in self._band_rows()], [len(rows) for rows, *_ in found])
        rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return rows + offsets, columns, values

    def _band_rows(self) -> list[Ints]:
        rows = np.arange(self.shape[0])
        return [rows[part] for part in self.bands(rows, self.shape[1], Budget())]

    def _in_bands(self, work: Work, argument: Any) -> list[Any]:
        columns = np.arange(self.shape[1])
        return self.run(work, [Piece(rows, columns, (argument,)) for rows in self._band_rows()])[0]

    def panels(self, columns: Ints, budget: Budget) -> list[slice]:
        """Slices of ``columns`` with all samples."""
        return cuts_at(np.searchsorted(columns, self.edges[1]), self._at_most(budget, self.shape[0]))

    def bands(self, rows: Ints, n_columns: int, budget: Budget) -> list[slice]:
        """Slices of ``rows`` with so many columns."""
        return cuts_at(np.searchsorted(rows, self.edges[0]), self._at_most(budget, n_columns))

    def _at_most(self, budget: Budget, length: int) -> int:
        """Rows or columns of this length in a piece."""
        return int(budget.block / (DOUBLE * max(length, 1) * self.density))


def cuts_at(edges: Ints, step: int) -> list[slice]:
    """0..edges[-1] in pieces of at most ``step``, which end at edges where they can."""
    pieces, start, step = [], 0, max(step, 1)
    while start < edges[-1]:
        last = int(np.searchsorted(edges, start + step, side="right")) - 1
        end = int(edges[last]) if last >= 0 and edges[last] > start else start + step
        pieces.append(slice(start, end))
        start = end
    return pieces


def added(total: Any, result: Any) -> Any:
    """The sum of two results: arrays, or lists of them; the first is overwritten, None is nothing."""
    if total is None or result is None:
        return result if total is None else total
    if isinstance(total, np.ndarray):
        total += result
        return total
    return type(total)(added(one, other) for one, other in zip(total, result, strict=True))


@dataclass(frozen=True)
class PieceView:
    """How a piece of X is standardised."""

    columns: Columns
    bias: float
    budget: Budget
    sample_weight: Floats | None

    def __call__(self, X: AnyArray) -> StandardDesign:
        backend = SparseDesign if issparse(X) else DenseDesign
        return backend(X, self.columns, self.bias, self.budget, self.sample_weight)


def called(X: AnyArray, view: PieceView, method: str, own: bool, *arguments: Any) -> tuple[Any, Any]:
    """Call a method of the design of a piece."""
    result = getattr(view(X), method)(*arguments)
    return (result, None) if own else (None, result)


def look(X: AnyArray, T: Floats, budget: Budget, v: Floats | None, gram: bool) -> tuple[Moments, Floats | None]:
    """The moments of a piece and, of a panel, the Gram matrix of its standardised columns."""
    stats = (SparseDesign if issparse(X) else DenseDesign).moments(X, T, budget, v)
    if not gram:
        return stats, None
    columns = Columns.of(stats, 1.0, standardize=True)
    return stats, PieceView(columns, 0.0, budget, None)(X).gram(np.ones(len(columns.kept)))


def as_it_is(X: AnyArray) -> tuple[AnyArray, None]:
    return X, None


def product(X: AnyArray, W: Floats) -> tuple[Floats, None]:
    return np.asarray(X @ W), None


def entries(X: AnyArray, wanted: Callable[[np.ndarray], np.ndarray]) -> tuple[tuple[Ints, Ints, np.ndarray], None]:
    """Row, column and value of the entries that are ``wanted``, which no zero is."""
    if issparse(X):
        X = X.tocoo()
        index = wanted(X.data)
        return (X.row[index], X.col[index], X.data[index]), None
    rows, columns = np.nonzero(wanted(X))
    return (rows, columns, X[rows, columns]), None


class ChunkedDesign(StandardDesign):
    """Standardised view of a ``ChunkedArray``."""

    X: ChunkedArray
    in_memory = False

    @classmethod
    def moments(cls, X: ChunkedArray, T: Floats, budget: Budget, v: Floats | None = None) -> Moments:
        """In one pass over X. Of a wide X it brings along the Gram matrix, which the first step needs."""
        (m, n), pieces = X.shape, []
        rows, columns = np.arange(m), np.arange(n)
        if not X.is_tall:
            pieces = [Piece(rows, columns[part], (T, budget, v, True)) for part in X.panels(columns, budget)]
            panels, K = X.run(look, pieces)
            stats = Moments.side_by_side(panels)
            return replace(stats, first=FirstPass(T, stats.targets, K))
        for part in X.bands(rows, n, budget):
            weights = None if v is None else v[part]
            pieces.append(Piece(rows[part], columns, (T[part], budget, weights, False)))
        bands, _ = X.run(look, pieces)
        sizes = [float(len(p.rows) if p.arguments[2] is None else p.arguments[2].sum()) for p in pieces]
        stats = Moments.of_all(bands, sizes, [p.arguments[0].sum(axis=0) for p in pieces])
        return replace(stats, first=FirstPass(T, stats.targets, None))

    def compact(self) -> StandardDesign | Block:
        """Z itself as soon as it fits in the larger kind of block, since reading again takes longer than adding up."""
        small = DOUBLE * self.n_samples * self.n_columns <= self.budget.tall_block
        return self.materialise() if small else self

    def _panels(self, method: str, own: bool, arguments: Callable[[slice], tuple[Any, ...]]) -> tuple[Any, Any]:
        """Call a method of every panel."""
        pieces = []
        for part in self.X.panels(self.kept, self.budget):
            columns = replace(self.columns.part(np.arange(part.start, part.stop)), kept=_places(part), first=None)
            view = PieceView(columns, 0.0, self.budget, self.sample_weight)
            pieces.append(Piece(self._every, self.kept[part], (view, method, own, *arguments(part))))
        return self.X.run(called, pieces)

    def _bands(
        self, method: str, own: bool, arguments: Callable[[Ints], tuple[Any, ...]], rows: Ints, bias: float
    ) -> tuple[Any, Any]:
        """Call a method of every band of the samples ``rows``."""
        pieces, columns = [], replace(self.columns, kept=np.arange(len(self.kept)), first=None)
        for part in self.X.bands(rows, len(self.kept), self.budget):  # the bias is not read
            view = PieceView(columns, bias, self.budget, self.weights_at(rows[part]))
            pieces.append(Piece(rows[part], self.kept, (view, method, own, *arguments(rows[part]))))
        return self.X.run(called, pieces)

    @property
    def _every(self) -> Ints:
        return np.arange(self.n_samples)

    def samples(self, index: Ints | slice) -> Block:
        blocks, _ = self._bands("materialise", True, lambda _: (), self._every[index], self.bias)
        Z, place = np.empty((sum(block.n_samples for block in blocks), self.n_columns)), 0
        while blocks:  # each is let go of as soon as it is in Z
            block = blocks.pop(0).Z
            Z[place : place + len(block)] = block
            place += len(block)
        return Block(Z, self.budget, self.weights_at(index))

    def materialise(self) -> Block:
        columns = replace(self.columns, kept=np.arange(len(self.kept)), first=None)
        view = PieceView(columns, self.bias, self.budget, self.sample_weight)
        return view(self.X.hold(self.kept, self.budget)).materialise()

    def normal_equations(self, sets: Sequence[tuple[Ints, Floats, Floats]]) -> list[tuple[Floats, Floats]]:
        every = np.unique(np.concatenate([index for index, *_ in sets]))

        def inside(rows: Ints) -> tuple[list[tuple[Ints, Floats, Floats]]]:
            parts = [(slice(*np.searchsorted(index, [rows[0], rows[-1] + 1])), index, u, R) for index, u, R in sets]
            return ([(np.searchsorted(rows, index[part]), u[part], R[part]) for part, index, u, R in parts],)

        total = self._bands("normal_equations", False, inside, every, self.bias)[1]
        n = self.n_columns
        return [(np.zeros((n, n)), np.zeros((n, R.shape[1]))) for *_, R in sets] if total is None else list(total)

    def products_about(self, mean: Floats, Y: Floats) -> tuple[Floats, Floats]:
        G, b = self._bands("products_about", False, lambda rows: (mean, Y[rows]), self._every, self.bias)[1]
        return G, b

    def _gram(self, d: Floats) -> Floats:
        first = self.columns.first
        if first is not None and first.gram is not None and (d == 1).all():
            return first.gram.copy()
        K = self._panels("gram", False, lambda part: (d[part],))[1]
        return np.zeros((self.n_samples, self.n_samples)) if K is None else np.asarray(K)

    def _dot(self, W: Floats) -> Floats:
        if self.X.is_tall:
            return np.concatenate(self._bands("dot", True, lambda _: (W,), self._every, 0.0)[0])
        F = self._panels("dot", False, lambda part: (W[part],))[1]
        return np.zeros((self.n_samples, W.shape[1])) if F is None else np.asarray(F)

    def _tdot(self, B: Floats, out: Floats) -> None:
        known = self._known(B)
        if known is not None:
            out[:] = known
        elif self.X.is_tall:
            out[:] = self._bands("tdot", False, lambda rows: (B[rows],), self._every, 0.0)[1]
        else:
            self._fill(out, "tdot", B)

    def _dual_norms(self, B: Floats, out: Floats, rough: bool) -> None:
        if self.X.is_tall or self._known(B) is not None:
            super()._dual_norms(B, out, rough)
        else:
            self._fill(out, "dual_norms", B)

    def _known(self, B: Floats) -> Floats | None:
        """Z'B, if the first pass brought it along."""
        return None if self.columns.first is None else self.columns.first.tdot(B)

    def _fill(self, out: Floats, method: str, B: Floats) -> None:
        """Write what every panel says about its columns into ``out``."""
        results, _ = self._panels(method, True, lambda _: (B,))
        for part, result in zip(self.X.panels(self.kept, self.budget), results, strict=True):
            out[part] = result


def _places(part: slice) -> Ints:
    """0, 1, ... of the columns of a panel."""
    return np.arange(part.stop - part.start)
