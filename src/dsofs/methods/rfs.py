"""Robust feature selection (RFS): l2,1 norms for the weights and for the residuals."""

from __future__ import annotations

from dsofs.selectors.rfs import RFSSelector


def make(k: int, seed: int = 0) -> RFSSelector:
    return RFSSelector(k)
