"""mRMR: relevant for the classes, not redundant with each other."""

from __future__ import annotations

from typing import Any

from dsofs.methods.mrmr.selector import MRMRSelector


def make(k: int, seed: int = 0, **parameters: Any) -> MRMRSelector:
    return MRMRSelector(k, **parameters)
