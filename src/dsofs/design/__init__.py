"""Array operations: the standardised design and what solvers do with it, the same for every kind of array."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, issparse

from dsofs.design.backends.dense import DenseDesign, dense_moments
from dsofs.design.backends.sparse import SparseDesign, sparse_moments
from dsofs.design.interface import Block, Design
from dsofs.design.norms import group_norms, lrp_norm, row_norms
from dsofs.design.standard import Moments, StandardDesign
from dsofs.design.types import AnyArray

__all__ = [
    "Block",
    "Design",
    "Moments",
    "StandardDesign",
    "as_design",
    "group_norms",
    "lrp_norm",
    "moments",
    "row_norms",
]


def moments(X: AnyArray) -> Moments:
    """Column means, scales and constancy of a dense or sparse X."""
    return sparse_moments(X) if issparse(X) else dense_moments(X)


def as_design(X: AnyArray, stats: Moments, *, standardize: bool, bias: bool) -> StandardDesign:
    """The design of X without its constant columns."""
    kept = np.flatnonzero(~stats.constant)
    X = csc_array(X) if issparse(X) else X  # once, since parts of it are taken by column
    if standardize:
        mean, scale = stats.mean[kept], stats.scale[kept]
    else:
        mean, scale = np.zeros(len(kept)), np.ones(len(kept))
    kind = SparseDesign if issparse(X) else DenseDesign
    return kind(X, kept, mean, scale, bias)
