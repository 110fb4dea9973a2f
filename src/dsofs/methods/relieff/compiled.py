"""The loops of ``kernels``, compiled by numba (the extra ``fast``): the same sums, up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.sparse import csr_array

from dsofs.design.types import Floats, Ints
from dsofs.optional import require

Loop = Callable[..., None]


@cache
def compiled(loop: Loop) -> Loop:
    """Reordered sums can be vectorised; without Python's lock, threads run side by side."""
    njit: Callable[..., Callable[[Loop], Loop]] = require("numba", extra="fast").njit
    return njit(fastmath={"reassoc", "contract"}, nogil=True, cache=True)(loop)


def add_manhattan(D: Floats, A: Floats, Z: Floats, symmetric: bool) -> None:
    compiled(_add_manhattan)(D, A, Z, symmetric)


def weighted_differences(Z: Floats, S: csr_array) -> Floats:
    total = np.zeros(Z.shape[1])
    compiled(_weighted_differences)(Z, S.indptr, S.indices, S.data, total)
    return total


def _add_manhattan(D: Floats, A: Floats, Z: Floats, symmetric: bool) -> None:
    for i in range(A.shape[0]):
        start = i if symmetric else 0
        last = Z.shape[0] - (Z.shape[0] - start) % 4
        for j in range(start, last, 4):  # four at once: each a is loaded once, and four sums run in parallel
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for f in range(A.shape[1]):
                a = A[i, f]
                s0 += abs(a - Z[j, f])
                s1 += abs(a - Z[j + 1, f])
                s2 += abs(a - Z[j + 2, f])
                s3 += abs(a - Z[j + 3, f])
            D[i, j] += s0
            D[i, j + 1] += s1
            D[i, j + 2] += s2
            D[i, j + 3] += s3
        for j in range(last, Z.shape[0]):
            s0 = 0.0
            for f in range(A.shape[1]):
                s0 += abs(A[i, f] - Z[j, f])
            D[i, j] += s0


def _weighted_differences(Z: Floats, indptr: Ints, indices: Ints, data: Floats, total: Floats) -> None:
    for i in range(Z.shape[0]):
        last = indptr[i + 1] - (indptr[i + 1] - indptr[i]) % 4
        for k in range(indptr[i], last, 4):  # four at once: each total is loaded and stored once
            j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
            w0, w1, w2, w3 = data[k], data[k + 1], data[k + 2], data[k + 3]
            for f in range(Z.shape[1]):
                z = Z[i, f]
                near = w0 * abs(z - Z[j0, f]) + w1 * abs(z - Z[j1, f])
                total[f] += near + w2 * abs(z - Z[j2, f]) + w3 * abs(z - Z[j3, f])
        for k in range(last, indptr[i + 1]):
            j, weight = indices[k], data[k]
            for f in range(Z.shape[1]):
                total[f] += weight * abs(Z[i, f] - Z[j, f])
