"""The two inner loops of ReliefF, in SciPy and NumPy; ``compiled`` has the same two for numba."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from dsofs.design.types import Floats

# Below this many differences, importing numba takes longer than it saves.
COMPILED_WORK = 5e7
TILE = 32  # samples that are compared with all others from the first of them on


def choose_kernels(n_differences: float) -> ModuleType:
    """The compiled loops where numba is installed (the extra ``fast``) and there is enough to do, else these."""
    compiled = n_differences >= COMPILED_WORK and find_spec("numba") is not None
    return import_module("dsofs.methods.relieff.compiled" if compiled else __name__)


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
