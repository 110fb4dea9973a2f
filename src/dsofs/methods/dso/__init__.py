"""Direct sparsity optimisation (DSO-FS), the method of this package."""

from __future__ import annotations

from typing import Any

from dsofs.methods.dso.selector import DSOSelector

GRID = {"p": (0.85, 1.0, 0.7, 0.5)}  # ties go to the first, the default


def make(k: int, seed: int = 0, **parameters: Any) -> DSOSelector:
    return DSOSelector(k, **parameters)
