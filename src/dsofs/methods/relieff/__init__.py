"""ReliefF: near samples of different classes should differ."""

from __future__ import annotations

from typing import Any

from dsofs.methods.relieff.selector import ReliefFSelector


def make(k: int, seed: int = 0, **parameters: Any) -> ReliefFSelector:
    return ReliefFSelector(k, random_state=seed, **parameters)
