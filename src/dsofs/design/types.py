"""Type names used all over the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
AnyArray = Any  # an array of any library: NumPy, torch, CuPy, scipy.sparse
