"""How long the stages of a job took."""

from __future__ import annotations

import time


class Stopwatch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._start = time.perf_counter()

    def lap(self, stage: str) -> float:
        now = time.perf_counter()
        self.laps[stage], self._start = now - self._start, now
        return self.laps[stage]
