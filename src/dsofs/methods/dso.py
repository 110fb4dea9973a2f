"""Direct sparsity optimisation (DSO-FS), the method of this package."""

from __future__ import annotations

from typing import Any

from dsofs.selectors.dso import DSOSelector

# The paper's values; of equals, tuning takes the first, the convex problem.
GRID = {"p": (1.0, 0.9, 0.7, 0.5, 0.3, 0.1)}


def make(k: int, seed: int = 0, **parameters: Any) -> DSOSelector:
    return DSOSelector(k, **parameters)
