"""The Lasso, one class against the rest."""

from __future__ import annotations

from dsofs.selectors.lasso import LassoSelector


def make(k: int, seed: int = 0) -> LassoSelector:
    return LassoSelector(k)
