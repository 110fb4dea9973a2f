"""Kinds of X, with a class for each. The type of X chooses; a new back end is a class like these, and a line here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from array_api_compat import is_array_api_obj
from scipy.sparse import csc_array, issparse

from dsofs.design.backends.arrow_files import ArrowFiles, is_dataset
from dsofs.design.backends.chunked import ChunkedArray, ChunkedDesign
from dsofs.design.backends.dask_blocks import DaskArray, is_in_blocks
from dsofs.design.backends.dense import ArrayDesign, DenseDesign
from dsofs.design.backends.on_disk import StoredArray, is_on_disk
from dsofs.design.backends.sparse import SparseDesign
from dsofs.design.budget import Budget
from dsofs.design.standard import Columns, Moments, StandardDesign
from dsofs.design.types import AnyArray, Floats

Backend = type[DenseDesign] | type[SparseDesign] | type[ArrayDesign] | type[ChunkedDesign]

DEFAULT = Budget()

# In this order: the first whose test holds.
BACKENDS: list[tuple[Callable[[AnyArray], bool], Backend]] = [
    (lambda X: isinstance(X, ChunkedArray), ChunkedDesign),
    (lambda X: isinstance(X, np.ndarray), DenseDesign),
    (issparse, SparseDesign),
    (is_array_api_obj, ArrayDesign),
]


def in_chunks(X: AnyArray) -> ChunkedArray | None:
    """X as an array that is read in pieces, if it is one that should never be in memory as a whole."""
    if isinstance(X, ChunkedArray):
        return X
    if type(X) is np.ndarray or issparse(X):  # as it is as a rule
        return None
    if is_in_blocks(X):
        return DaskArray(X)
    if is_dataset(X):
        return ArrowFiles(X)
    return StoredArray(X) if is_on_disk(X) else None


def backend_of(X: AnyArray) -> Backend:
    """The kind of design for X."""
    for suits, backend in BACKENDS:
        if suits(X):
            return backend
    raise TypeError(f"There is no back end for X of type {type(X).__name__}.")


def moments(
    X: AnyArray, targets: Floats | None = None, budget: Budget = DEFAULT, sample_weight: Floats | None = None
) -> Moments:
    """Means, deviations and constancy of the columns of X, and their products with the targets, in one pass.

    Means and deviations count a sample by its weight. NotFiniteError if X holds NaN or infinity.
    """
    X = in_chunks(X) or X
    targets = np.empty((X.shape[0], 0)) if targets is None else targets
    return backend_of(X).moments(X, targets, budget, sample_weight)


def as_design(
    X: AnyArray,
    stats: Moments,
    *,
    standardize: bool,
    bias: float,
    budget: Budget = DEFAULT,
    sample_weight: Floats | None = None,
) -> StandardDesign:
    """The design of X without its constant columns; ``stats`` are of the same weights."""
    X = in_chunks(X) or (csc_array(X) if issparse(X) else X)  # once, since parts of it are taken by column
    total = X.shape[0] if sample_weight is None else float(sample_weight.sum())
    return backend_of(X)(X, Columns.of(stats, total, standardize=standardize), bias, budget, sample_weight)
