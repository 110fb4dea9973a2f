"""The two inner loops of ReliefF, in SciPy and NumPy; ``compiled`` has the same two for numba."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from dsofs.arrays.types import Floats

# Below this many differences, importing numba takes longer than it saves.
COMPILED_WORK = 5e7


def choose_kernels(n_differences: float) -> ModuleType:
    """The compiled loops where numba is installed (the extra ``fast``) and there is enough to do, else these."""
    compiled = n_differences >= COMPILED_WORK and find_spec("numba") is not None
    return import_module("dsofs.baselines.compiled" if compiled else __name__)


def manhattan(A: Floats, B: Floats) -> Floats:
    """sum_f |a_if - b_jf| for all rows i of A and j of B."""
    return np.asarray(cdist(A, B, "cityblock"))


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
