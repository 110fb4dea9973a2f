"""The matrix that the solvers see, and the operations they need of it.

    Z = [(X - mean) / scale, 1]        m samples x n columns; the last column is the bias, if there is one

Z is never formed whole unless it fits in a block. A new kind of data (torch, CuPy, Dask) is a new subclass of
``Design`` with these methods; the array that was passed in decides where the work runs, and the small results
(m x m, n x c) come back as NumPy arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from array_api_compat import array_namespace, is_numpy_array

from dsofs.design.budget import CHUNK_BYTES, DOUBLE, block_bytes
from dsofs.design.linalg import SymmetricSum, row_norms
from dsofs.design.threads import all_threads
from dsofs.design.types import AnyArray, Floats, Ints

# Below so many multiplications more threads do not pay: they are still awake, and in the way, when small solves follow.
THREADED = 3e7
MIN_CHUNK_COLUMNS = 512  # with fewer, adding up an m x m matrix costs as much as multiplying


class Design(ABC):
    """m x n matrix Z with the operations of the solvers."""

    n_samples: int
    n_columns: int

    @abstractmethod
    def gram(self, d: Floats) -> Floats:
        """K = Z diag(d) Z', exactly symmetric."""

    @abstractmethod
    def dot(self, W: Floats) -> Floats:
        """Z W."""

    @abstractmethod
    def tdot(self, B: Floats) -> Floats:
        """Z' B."""

    def dual_norms(self, B: Floats) -> Floats:
        """||Z_i'B|| of every column, which a certificate needs of all of them: O(n) memory where Z is large."""
        return row_norms(self.tdot(B))

    @abstractmethod
    def take(self, columns: Ints) -> Design:
        """The same matrix with only these columns: a ``Block`` as soon as they fit in one."""

    @abstractmethod
    def block(self, columns: Ints) -> Block:
        """These columns as one ``Block``, however large."""

    @abstractmethod
    def samples(self, index: Ints) -> Block:
        """These samples as one ``Block``, however large."""

    def column_norms(self) -> Floats:
        """Euclidean norm of each column."""
        squares = np.zeros(self.n_columns)
        for rows, columns in tiles(self.n_samples, self.n_columns):
            tall = columns == slice(0, self.n_columns)
            block = self.samples(_range(rows)) if tall else self.block(_range(columns))
            squares[columns] += np.square(block.on_host()).sum(axis=0)
        return np.sqrt(squares)

    def fits_in_block(self, n_columns: int) -> bool:
        return self.n_samples * n_columns * DOUBLE <= block_bytes(self.n_samples, n_columns)


class Block(Design):
    """Z itself, held in memory as one array of any array-API library."""

    def __init__(self, Z: AnyArray) -> None:
        self.Z = Z
        self.n_samples, self.n_columns = Z.shape

    def gram(self, d: Floats) -> Floats:
        return gram_of_pieces(self._scaled_pieces(d), self.n_samples, self.n_columns)

    def _scaled_pieces(self, d: Floats) -> Iterable[AnyArray]:
        if len(d) and d[0] == 1 and (d == 1).all():  # as in the first step of a fit
            return [self.Z]
        root, step = _like(self.Z, np.sqrt(d)), chunk_columns(self.n_samples)
        if self.n_columns <= step:
            return [self.Z * root]
        return (self.Z[:, part] * root[part] for part in cuts(self.n_columns, step))

    def dot(self, W: Floats) -> Floats:
        with threads_for(self.n_samples * W.size):
            return to_numpy(self.Z @ _like(self.Z, W))

    def tdot(self, B: Floats) -> Floats:
        with threads_for(self.n_columns * B.size):
            return to_numpy(_like(self.Z, B).T @ self.Z).T  # Z' B is slower by half, as Z is held by rows

    def take(self, columns: Ints) -> Block:
        return self.block(columns)

    def block(self, columns: Ints) -> Block:
        if len(columns) == self.n_columns:
            return self
        return Block(_take(self.Z, columns, axis=1))

    def samples(self, index: Ints) -> Block:
        return Block(_take(self.Z, index, axis=0))

    def on_host(self) -> Floats:
        """Z as a NumPy array: for small parts of it, and what has no other way."""
        return to_numpy(self.Z)


def gram_of_pieces(pieces: Iterable[AnyArray], n_samples: int, n_columns: int) -> Floats:
    """Sum of S S' over pieces S of columns that were scaled, and stay in the cache between that and this."""
    K: AnyArray = None
    total = SymmetricSum()
    with threads_for(n_samples**2 * n_columns // 2):
        for S in pieces:
            if is_numpy_array(S):
                total.add(S)
            elif K is None:
                K = S @ S.T
            else:
                K += S @ S.T
    found = total.total() if K is None else to_numpy(K)
    return np.zeros((n_samples, n_samples)) if found is None else found


def normal_matrix(X: Design, weights: Floats, samples: Ints) -> Floats:
    """Sum of w x x' over ``samples``."""
    total = SymmetricSum()
    with threads_for(len(samples) * X.n_columns**2 // 2):
        for part in cuts(len(samples), chunk_samples(X.n_columns)):
            index = samples[part]
            total.add((X.samples(index).on_host() * np.sqrt(weights[index])[:, None]).T)
        H = total.total()
    return np.zeros((X.n_columns, X.n_columns)) if H is None else H


def threads_for(multiplications: int) -> AbstractContextManager[None]:
    """All threads for a product that is worth it."""
    return all_threads() if multiplications > THREADED else nullcontext()


def chunk_columns(n_samples: int) -> int:
    """Columns per piece: cache-sized, but enough of them to outweigh adding up an m x m matrix."""
    return max(MIN_CHUNK_COLUMNS, CHUNK_BYTES // (DOUBLE * max(n_samples, 1)))


def chunk_samples(n_columns: int) -> int:
    """Samples per piece, likewise: enough of them to outweigh adding up an n x n matrix."""
    return chunk_columns(n_columns)


def tiles(n_samples: int, n_columns: int) -> Iterator[tuple[slice, slice]]:
    """Cut an m x n matrix across its longer side."""
    if n_samples > n_columns:
        return ((rows, slice(0, n_columns)) for rows in cuts(n_samples, chunk_samples(n_columns)))
    return ((slice(0, n_samples), columns) for columns in cuts(n_columns, chunk_columns(n_samples)))


def cuts(length: int, step: int) -> Iterator[slice]:
    """0..length in pieces of ``step``."""
    return (slice(first, min(first + step, length)) for first in range(0, length, step))


def _range(part: slice) -> Ints:
    return np.arange(part.start, part.stop)


def to_numpy(array: AnyArray) -> Floats:
    """The array on the host, as NumPy float64."""
    if is_numpy_array(array):
        return np.asarray(array, dtype=np.float64)
    return np.asarray(np.from_dlpack(array), dtype=np.float64)


def _like(Z: AnyArray, host: Floats) -> AnyArray:
    """A host array in the library, dtype and device of Z."""
    if is_numpy_array(Z):
        return host
    return array_namespace(Z).asarray(host, dtype=Z.dtype, device=Z.device)


def _take(Z: AnyArray, index: Ints, axis: int) -> AnyArray:
    if is_numpy_array(Z):
        return Z.take(index, axis)  # at once: on small data the way through the namespace takes longer than the rest
    xp = array_namespace(Z)
    return xp.take(Z, xp.asarray(index, device=Z.device), axis=axis)
