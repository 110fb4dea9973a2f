"""The standardised X as solvers see it, the same for every kind of array: see ``interface`` for its operations."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, issparse

from dsofs.design.backends import backend_of
from dsofs.design.block import Block
from dsofs.design.budget import Budget
from dsofs.design.interface import Design
from dsofs.design.linalg import group_norms, lrp_norm, row_norms
from dsofs.design.standard import Columns, Moments, NotFiniteError, StandardDesign
from dsofs.design.types import AnyArray, Floats

__all__ = [
    "Block",
    "Budget",
    "Design",
    "Moments",
    "NotFiniteError",
    "StandardDesign",
    "as_design",
    "group_norms",
    "lrp_norm",
    "moments",
    "row_norms",
]

DEFAULT = Budget()


def moments(X: AnyArray, targets: Floats | None = None, budget: Budget = DEFAULT) -> Moments:
    """Means, deviations and constancy of the columns of X, and their products with the targets, in one pass.

    NotFiniteError if X holds NaN or infinity.
    """
    targets = np.empty((X.shape[0], 0)) if targets is None else targets
    return backend_of(X).moments(X, targets, budget)


def as_design(
    X: AnyArray, stats: Moments, *, standardize: bool, bias: bool, budget: Budget = DEFAULT
) -> StandardDesign:
    """The design of X without its constant columns."""
    X = csc_array(X) if issparse(X) else X  # once, since parts of it are taken by column
    return backend_of(X)(X, Columns.of(stats, X.shape[0], standardize=standardize), bias, budget)
