"""X on a disk: np.memmap, zarr.Array, h5py.Dataset, and what AnnData holds when it is backed, dense or sparse.

Only what a piece needs is read, in runs of neighbouring rows and columns, and nothing is kept. ``bytes_read`` counts.
"""

from __future__ import annotations

import mmap
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from dsofs.design.backends.chunked import ChunkedArray, Piece, Work, added
from dsofs.design.types import AnyArray, Ints

LIBRARIES = ("anndata", "h5py", "zarr")
# A smaller memory-mapped file stays in the page cache: views of it are read as quickly as any array.
LARGE_MAP = 2**30
SPARSE_ENTRY = 2  # room of a number that is stored with its index, as a multiple of that of a number alone
SEEK = 2**12  # bytes that are read sooner than skipped: a page


def is_on_disk(X: AnyArray) -> bool:
    """Whether X is a matrix of numbers that is read from a file when it is indexed."""
    is_map = isinstance(X, np.memmap) and X.nbytes > LARGE_MAP
    if not is_map and type(X).__module__.partition(".")[0] not in LIBRARIES:
        return False
    return len(getattr(X, "shape", ())) == 2 and hasattr(X, "dtype") and X.dtype.kind in "biuf"


class FileArray(ChunkedArray):
    """Files whose pieces are read and worked on one after the other."""

    bytes_read: int

    @abstractmethod
    def read(self, rows: Ints, columns: Ints) -> AnyArray:
        """A piece as a NumPy or a SciPy sparse array."""

    def run(self, work: Work, pieces: Sequence[Piece]) -> tuple[list[Any], Any]:
        results, total = [], None
        for piece in pieces:
            own, shared = work(self.read(piece.rows, piece.columns), *piece.arguments)
            results.append(own)
            total = added(total, shared)
        return results, total

    def columns_of(self, index: Ints) -> AnyArray:
        return self.read(np.arange(self.shape[0]), index)


class StoredArray(FileArray):
    """A matrix in a file."""

    def __init__(self, X: AnyArray, rows: Ints | None = None) -> None:
        """``rows``: the samples that there are; None is all of them."""
        self.stored, self.rows, self.bytes_read = X, rows, 0
        m, n = X.shape
        self.shape = (m if rows is None else len(rows), n)
        self.dtype = np.dtype(np.float32) if X.dtype in (np.float16, np.float32) else np.dtype(np.float64)
        chunks = getattr(X, "chunks", None) or X.shape  # a file without chunks can be cut anywhere
        ends = [np.append(np.arange(step, length, step), length) for step, length in zip(chunks, X.shape, strict=True)]
        self.edges = (ends[0] if rows is None else np.searchsorted(rows, ends[0]), ends[1])
        self.format = getattr(X, "format", None) if hasattr(X, "group") else None
        if self.format is not None:
            self.density = max(SPARSE_ENTRY * X.group["data"].shape[0] / (m * n), 1 / m)
        skipped = SEEK // X.dtype.itemsize
        self.steps = chunks if chunks != X.shape else (1 + skipped // n, 1 + skipped)

    def rows_of(self, index: Ints) -> StoredArray:
        return StoredArray(self.stored, index if self.rows is None else self.rows[index])

    def read(self, rows: Ints, columns: Ints) -> AnyArray:
        rows = rows if self.rows is None else self.rows[rows]
        parts = [[self._range(r, c) for c in runs(columns, self.steps[1])] for r in runs(rows, self.steps[0])]
        if len(parts) == len(parts[0]) == 1:
            return parts[0][0]
        return sparse.block_array(parts).tocsr() if sparse.issparse(parts[0][0]) else np.block(parts)

    def _range(self, rows: Ints, columns: Ints) -> AnyArray:
        """Read all that lies between the first and the last of these rows and columns, and take them."""
        first_row, first_column = int(rows[0]), int(columns[0])
        between = slice(first_row, int(rows[-1]) + 1), slice(first_column, int(columns[-1]) + 1)
        if self.format is None:
            found = self.stored[between]
            self.bytes_read += found.nbytes
        else:  # all of a row, or of a column, is read
            found = self.stored[between[0]] if self.format == "csr" else self.stored[:, between[1]]
            self.bytes_read += found.data.nbytes + found.indices.nbytes
            found = found[:, between[1]] if self.format == "csr" else found[between[0]]
        if len(rows) < found.shape[0]:
            found = found[rows - first_row]
        if len(columns) < found.shape[1]:
            found = found[:, columns - first_column]
        if isinstance(self.stored, np.memmap):
            found = np.array(found, dtype=self.dtype)
            self._forget()
        return found.astype(self.dtype, copy=False)

    def _forget(self) -> None:
        """Let go of the pages of a memory-mapped file, which would count as memory of the process."""
        if self.stored.mode == "c":  # its changes are nowhere else
            return
        pages = self.stored
        while isinstance(pages, np.ndarray):
            pages = pages.base
        with suppress(AttributeError, OSError, ValueError):
            pages.madvise(mmap.MADV_DONTNEED)


def runs(index: Ints, step: int) -> list[Ints]:
    """An increasing index, cut where more than ``step`` is left out, and so that no part spans more than it holds."""
    most = max(len(index), step)
    return np.split(index, np.flatnonzero((np.diff(index) > step) | (np.diff(index // most) > 0)) + 1)
