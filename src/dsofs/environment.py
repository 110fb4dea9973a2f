"""What was measured with: versions of packages, the commit of the code, the machine; and how long stages took."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path

from dsofs import __version__

CHECKOUT = Path(__file__).parents[2]  # the repository, where this is src/dsofs/environment.py; there may be none
Progress = Callable[[str, int, int], None]  # stage, steps done, steps of the stage


@cache
def environment() -> dict[str, str]:
    """Versions, the commit of the code, architecture and cores."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {
        "dsofs": __version__,
        "commit": code_version(CHECKOUT),
        **packages,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": str(os.cpu_count()),
    }


def code_version(checkout: Path) -> str:
    """The commit of a checkout, with a plus if it was changed since; "release" elsewhere, without asking git."""
    if not (checkout / ".git").exists():
        return "release"

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=False)

    try:
        changed = git("diff", "--quiet", "HEAD", "--", ":/src", ":/benchmarks/*.py").returncode == 1
        return git("rev-parse", "--short", "HEAD").stdout.strip() + "+" * changed
    except FileNotFoundError:  # no git
        return "release"


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
