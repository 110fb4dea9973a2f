"""ReliefF: near samples of different classes should differ."""

from __future__ import annotations

from dsofs.selectors.relieff import ReliefFSelector


def make(k: int, seed: int = 0) -> ReliefFSelector:
    return ReliefFSelector(k, random_state=seed)
