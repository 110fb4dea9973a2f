"""The multi-task Lasso: one set of features for all classes."""

from __future__ import annotations

from typing import Any

from dsofs.methods.lasso.selector import LassoSelector

# Parts of the lam at which all weights are 0: sizes of lam itself differ widely between data sets.
GRID = {"lam_share": (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)}


def make(k: int, seed: int = 0, **parameters: Any) -> LassoSelector:
    return LassoSelector(k, multi_task=True, **parameters)
