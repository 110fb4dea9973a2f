"""The results file: one JSON object per line and measurement. Tables, figures and reports read it and nothing else."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dsofs import __version__
from dsofs.files import append_line


@cache
def environment() -> dict[str, str]:
    """What a number was measured on: versions, architecture and cores."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {
        "dsofs": __version__,
        **packages,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": str(os.cpu_count()),
    }


@dataclass(frozen=True)
class Row:
    """One measurement: what was run on which data, with which seed, and what came out."""

    data: str
    method: str
    seed: int
    parameters: dict[str, Any] = field(default_factory=dict)
    k: int | None = None  # number of features, where one was chosen
    score: float | None = None
    seconds: float | None = None
    values: dict[str, Any] = field(default_factory=dict)  # anything else that was measured
    versions: dict[str, str] = field(default_factory=environment)

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the measurement, so that a run can go on where it stopped."""
        return self.data, self.method, self.seed, json.dumps(self.parameters, sort_keys=True), self.k


def append_row(path: str | os.PathLike[str], row: Row) -> None:
    append_line(path, json.dumps(asdict(row), sort_keys=True))


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """All complete rows of the file; a line that a crash cut short is passed over."""
    file = Path(path)
    if not file.exists():
        return []
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(Row(**json.loads(line)))
        except json.JSONDecodeError:
            continue
    return rows
