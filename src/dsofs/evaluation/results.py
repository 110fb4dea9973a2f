"""The results file: one JSON object per line and measurement. Tables, figures and reports read it and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dsofs import __version__
from dsofs.files import append_line

SOURCE = Path(__file__).parent


@cache
def code_version() -> str:
    """The commit that this code is, with a plus if it was changed since; "release" outside of a checkout."""

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *arguments], cwd=SOURCE, capture_output=True, text=True, check=False)

    try:
        if git("ls-files", "--error-unmatch", Path(__file__).name).returncode != 0:
            return "release"
    except FileNotFoundError:  # no git
        return "release"
    changed = git("diff", "--quiet", "HEAD", "--", ":/src", ":/benchmarks/*.py").returncode == 1
    return git("rev-parse", "--short", "HEAD").stdout.strip() + "+" * changed


@cache
def environment() -> dict[str, str]:
    """What a number was measured on: versions, the commit of the code, architecture and cores."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {
        "dsofs": __version__,
        "commit": code_version(),
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
    append_line(path, json.dumps(asdict(row), sort_keys=True, separators=(",", ":")))


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """All complete rows of the file, gzipped if its name ends so; a line that a crash cut short is passed over."""
    file = Path(path)
    if not file.exists():
        return []
    rows = []
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    for line in content.decode().splitlines():
        try:
            rows.append(Row(**json.loads(line)))
        except json.JSONDecodeError:
            continue
    return rows
