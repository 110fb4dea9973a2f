"""One file for each kind of X. The type of X chooses; a new back end is a class like these, and a line here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from array_api_compat import is_array_api_obj
from scipy.sparse import issparse

from dsofs.design.backends.array_api import ArrayDesign
from dsofs.design.backends.dense import DenseDesign
from dsofs.design.backends.sparse import SparseDesign
from dsofs.design.types import AnyArray

Backend = type[DenseDesign] | type[SparseDesign] | type[ArrayDesign]

# In this order: the first whose test holds.
BACKENDS: list[tuple[Callable[[AnyArray], bool], Backend]] = [
    (lambda X: isinstance(X, np.ndarray), DenseDesign),  # memory-mapped ones too
    (issparse, SparseDesign),
    (is_array_api_obj, ArrayDesign),
]


def backend_of(X: AnyArray) -> Backend:
    """The kind of design for X."""
    for suits, backend in BACKENDS:
        if suits(X):
            return backend
    raise TypeError(f"There is no back end for X of type {type(X).__name__}.")
