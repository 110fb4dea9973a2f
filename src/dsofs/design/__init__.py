"""The standardised X as solvers see it, the same for every kind of array: see ``interface`` for its operations."""

from __future__ import annotations

from dsofs.design.backends import as_design, moments
from dsofs.design.budget import Budget
from dsofs.design.interface import Block, Design
from dsofs.design.linalg import group_norms, lrp_norm, row_norms
from dsofs.design.standard import Moments, NotFiniteError, StandardDesign

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
