"""All exhibits, drawn from the results file and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType

from dsofs.evaluation import Row, read_rows
from dsofs.files import write_whole
from dsofs.reproduction.tables import Table, table1, table2

# Exhibit -> (rows, quick) -> its tables.
EXHIBITS: dict[str, Callable[[Sequence[Row], bool], Table]] = {"table1": table1, "table2": table2}


def draw(results: Path, exhibits: Iterable[str], out: Path, *, quick: bool) -> Iterator[tuple[Path, RenderableType]]:
    """Write each exhibit into ``out``; yields its file and what a terminal can show of it."""
    rows = read_rows(results)
    for name in exhibits:
        table = EXHIBITS[name](rows, quick)
        path = out / f"{name}{'_quick' if quick else ''}.md"
        write_whole(path, table.markdown())
        yield path, table.rich()
