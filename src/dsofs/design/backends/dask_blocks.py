"""X as a Dask array, its blocks dense or scipy.sparse: the work is done where the blocks are, by whichever scheduler
Dask is set to use. What comes back are sums over blocks, and what was asked for.

Every call is one graph on the blocks of X as they were given, and nothing else is kept on the cluster. So Dask can do
again what a lost worker had done.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from array_api_compat import is_dask_array
from scipy import sparse

from dsofs.design.backends.chunked import ChunkedArray, Piece, Work, added
from dsofs.design.budget import DOUBLE, Budget
from dsofs.design.types import AnyArray, Ints

SUMMANDS = 8  # results that one task adds up
Places = Ints | slice  # of rows or columns in a block


def is_in_blocks(X: AnyArray) -> bool:
    """Whether X is a matrix of numbers of Dask."""
    return bool(is_dask_array(X)) and X.ndim == 2 and X.dtype.kind in "biuf"


class DaskArray(ChunkedArray):
    """A matrix in blocks."""

    def __init__(self, X: AnyArray) -> None:
        if np.isnan(X.shape).any():
            raise ValueError("The sizes of the chunks of X are not known: call X.compute_chunk_sizes() first.")
        self.lazy, self.shape = X, X.shape
        self.dtype = np.dtype(np.float32) if X.dtype in (np.float16, np.float32) else np.dtype(np.float64)
        self.edges = np.cumsum(X.chunks[0]), np.cumsum(X.chunks[1])
        self.largest = int(np.prod([max(sizes) for sizes in X.chunks]))
        self.blocks = X.to_delayed()

    def run(self, work: Work, pieces: Sequence[Piece]) -> tuple[list[Any], Any]:
        dask: Any = import_module("dask")
        task = partial(dask.delayed, pure=False, traverse=False)
        pairs = [task(self._on_blocks(work, piece), nout=2)(*self._blocks_of(piece)) for piece in pieces]
        results, shared = [own for own, _ in pairs], [part for _, part in pairs]
        while len(shared) > 1:
            shared = [task(sum_of)(*shared[k : k + SUMMANDS]) for k in range(0, len(shared), SUMMANDS)]
        with warnings.catch_warnings():  # what a piece needs travels with its task, so that it can be done again
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            results, total = dask.compute(results, shared[0] if shared else None)
        return results, total

    def rows_of(self, index: Ints) -> DaskArray:
        return DaskArray(self.lazy[index])

    def columns_of(self, index: Ints) -> AnyArray:
        return self.lazy[:, index]

    def panels(self, columns: Ints, budget: Budget) -> list[slice]:
        every = np.arange(self.shape[1])
        return parts_within(super().panels(every, self._at_least_a_block(budget)), columns)

    def bands(self, rows: Ints, n_columns: int, budget: Budget) -> list[slice]:
        every = np.arange(self.shape[0])
        return parts_within(super().bands(every, self.shape[1], self._at_least_a_block(budget)), rows)

    def _at_least_a_block(self, budget: Budget) -> Budget:
        return replace(budget, block=max(budget.block, DOUBLE * self.largest))

    def _on_blocks(self, work: Work, piece: Piece) -> partial[tuple[Any, Any]]:
        rows, columns = (
            [_local(index[inside], start) for start, inside in self._inside(axis, index).values()]
            for axis, index in enumerate((piece.rows, piece.columns))
        )
        return partial(on_blocks, work, rows, columns, self.dtype, piece.arguments)

    def _blocks_of(self, piece: Piece) -> list[Any]:
        rows, columns = self._inside(0, piece.rows), self._inside(1, piece.columns)
        return [self.blocks[i, j] for i in rows for j in columns]

    def _inside(self, axis: int, index: Ints) -> dict[int, tuple[int, slice]]:
        """The blocks that hold an increasing index: where each starts, and what part of the index is in it."""
        edges = self.edges[axis]
        ends = np.searchsorted(index, edges)
        starts, firsts = np.append(0, edges[:-1]), np.append(0, ends[:-1])
        present = np.flatnonzero(ends > firsts)
        return {int(k): (int(starts[k]), slice(int(firsts[k]), int(ends[k]))) for k in present}


def parts_within(pieces: list[slice], index: Ints) -> list[slice]:
    """An increasing index cut where the pieces of X end: a task holds all of the blocks that it takes something from,
    however little that is."""
    ends = [int(end) for end in np.searchsorted(index, [piece.stop for piece in pieces])]
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False) if start < end]


def on_blocks(
    work: Work, rows: list[Places], columns: list[Places], dtype: np.dtype[Any], arguments: Any, *blocks: Any
) -> tuple[Any, Any]:
    """Do ``work`` with some rows and columns of a grid of blocks."""
    each = iter(blocks)
    parts = [[next(each)[r][:, c] for c in columns] for r in rows]
    if len(rows) == len(columns) == 1:
        X = parts[0][0]
    else:
        X = sparse.block_array(parts).tocsr() if sparse.issparse(parts[0][0]) else np.block(parts)
    return work(X.astype(dtype, copy=False), *arguments)


def _local(index: Ints, start: int) -> Places:
    """An increasing index, counted from ``start``; a slice where nothing is left out, which takes no room in a task."""
    first, end = int(index[0]) - start, int(index[-1]) + 1 - start
    return slice(first, end) if end - first == len(index) else index - start


def sum_of(*results: Any) -> Any:
    total = deepcopy(results[0])  # the results of tasks must not be changed
    for result in results[1:]:
        total = added(total, result)
    return total
