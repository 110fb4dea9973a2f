"""The results file: one JSON object per line and measurement. Tables, figures and reports read it and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dsofs.environment import environment
from dsofs.files import append_line
from dsofs.records import read_record


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
    """All complete rows of the file, gzipped if its name ends so; a line that a crash cut short is passed over.

    Raises
    ------
    ValueError
        If the file cannot be unpacked, or a line is whole and yet no row; says which.
    """
    file = Path(path)
    if not file.exists():
        return []
    rows = []
    for number, line in enumerate(_content(file).split(b"\n"), 1):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        rows.append(_row(fields, f"Line {number} of {str(file)!r}"))
    return rows


def chosen_features(rows: Iterable[Row], k: int) -> dict[tuple[str, str, int], list[int]]:
    """(data, method, seed) -> the first k features. The row of the largest k of a selection holds the list."""
    shortest: dict[tuple[str, str, int], list[int]] = {}
    for row in rows:
        cell, features = (row.data, row.method, row.seed), row.values.get("features", [])
        if k <= len(features) < len(shortest.get(cell, range(len(features) + 1))):
            shortest[cell] = features
    return {cell: features[:k] for cell, features in shortest.items()}


def _content(file: Path) -> bytes:
    content = file.read_bytes()
    try:
        return gzip.decompress(content) if file.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{str(file)!r} is cut short or damaged and cannot be unpacked: {error}.") from error


def _row(fields: Any, where: str) -> Row:
    """Refuse what is no row: the file is another one, or was edited."""
    try:
        return read_record(Row, fields, defaults=True)
    except ValueError as error:
        raise ValueError(
            f"{where} is not a row of results, {error}: give another file, or remove that line."
        ) from error
