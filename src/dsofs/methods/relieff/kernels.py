"""The two inner loops of ReliefF: in SciPy and NumPy, and compiled by numba (the extra ``fast``).

Both give the same sums, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from dsofs.design.types import Floats, Ints
from dsofs.optional import require

# Below this many differences, importing numba takes longer than it saves.
COMPILED_WORK = 5e7
TILE = 32  # samples that are compared with all others from the first of them on

Loop = Callable[..., None]


class Kernels(NamedTuple):
    """The loops, in one of the two forms."""

    add_manhattan: Callable[[Floats, Floats, Floats, bool], None]
    weighted_differences: Callable[[Floats, csr_array], Floats]


def choose_kernels(n_differences: float) -> Kernels:
    """The compiled loops where numba is installed and there is enough to do."""
    compiled = n_differences >= COMPILED_WORK and find_spec("numba") is not None
    if compiled:
        return Kernels(_compiled(_add_manhattan), weighted_differences_compiled)
    return Kernels(add_manhattan, weighted_differences)


def add_manhattan(D: Floats, A: Floats, Z: Floats, symmetric: bool) -> None:
    """Add sum_f |a_if - z_jf| to D for all rows i of A and j of Z, only from the diagonal on if ``symmetric``."""
    for first in range(0, len(A), TILE):
        tile, start = slice(first, first + TILE), first if symmetric else 0
        D[tile, start:] += cdist(A[tile], Z[start:], "cityblock")


def weighted_differences(Z: Floats, S: csr_array) -> Floats:
    """sum_ij S_ij |z_if - z_jf| for every column f."""
    total = np.zeros(Z.shape[1])
    for i, z in enumerate(Z):
        stored = slice(S.indptr[i], S.indptr[i + 1])
        if stored.start < stored.stop:
            gap = Z[S.indices[stored]]
            gap -= z
            total += S.data[stored] @ np.abs(gap, out=gap)
    return total


@cache
def _compiled(loop: Loop) -> Loop:
    """Reordered sums can be vectorised; without Python's lock, threads run side by side."""
    njit: Callable[..., Callable[[Loop], Loop]] = require("numba", extra="fast").njit
    return njit(fastmath={"reassoc", "contract"}, nogil=True, cache=True)(loop)


def weighted_differences_compiled(Z: Floats, S: csr_array) -> Floats:
    total = np.zeros(Z.shape[1])
    _compiled(_weighted_differences)(Z, S.indptr, S.indices, S.data, total)
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
