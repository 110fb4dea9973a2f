"""The multi-task Lasso: one set of features for all classes."""

from __future__ import annotations

from dsofs.selectors.lasso import LassoSelector


def make(k: int, seed: int = 0) -> LassoSelector:
    return LassoSelector(k, multi_task=True)
