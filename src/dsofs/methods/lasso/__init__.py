"""The Lasso, one class against the rest."""

from __future__ import annotations

from typing import Any

from dsofs.methods.lasso.selector import LassoSelector

GRID = {"lam": (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)}  # the paper's


def make(k: int, seed: int = 0, **parameters: Any) -> LassoSelector:
    return LassoSelector(k, **parameters)
