"""Direct sparsity optimisation (DSO-FS), the method of this package."""

from __future__ import annotations

from dsofs.selectors.dso import DSOSelector


def make(k: int, seed: int = 0) -> DSOSelector:
    return DSOSelector(k)
