"""How long the stages of a job took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]  # stage, steps done, steps of the stage


class Stopwatch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._start = time.perf_counter()

    def lap(self, stage: str) -> float:
        now = time.perf_counter()
        self.laps[stage], self._start = now - self._start, now
        return self.laps[stage]

    @contextmanager
    def stage(self, name: str, progress: Progress | None) -> Iterator[None]:
        """A stage of one step; ``progress`` is called before and after it."""
        report = progress or (lambda *_: None)
        report(name, 0, 1)
        yield
        self.lap(name)
        report(name, 1, 1)
