"""All exhibits: what each needs to be run, and how it is drawn from the results file and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsofs.experiments import read_rows
from dsofs.files import write_whole
from dsofs.reproduction import figures, standing, tables
from dsofs.reproduction.experiments import FEW_KS, Experiment, Need, all_methods, comparison, digits, influence_of_p
from dsofs.reproduction.tables import Results, Table


@dataclass(frozen=True)
class Exhibit:
    """Tables, a figure or both; ``quick_ks`` are the numbers of features of a quick run."""

    needs: tuple[Need, ...]
    tables: Callable[[Results], list[Table]] | None = None
    figure: Callable[[Results], Any] | None = None
    quick_ks: tuple[int, ...] = FEW_KS


EXHIBITS = {
    "table1": Exhibit((), tables.table1),
    "table2": Exhibit((comparison,), tables.table2, quick_ks=(100,)),
    "figure1": Exhibit((influence_of_p,), tables.surviving_features, figures.figure1),
    "figure2": Exhibit((comparison,), figure=figures.figure2),
    "standing": Exhibit((all_methods,), standing.standing_tables, figures.standing_figure),
    "significance": Exhibit((all_methods,), standing.significance_tables, figures.critical_difference),
    "stability": Exhibit((all_methods,), standing.stability_tables),
    "seconds": Exhibit((all_methods,), standing.seconds_tables),
    "pixels": Exhibit((all_methods, digits), figure=figures.pixels),
}


def needed(exhibits: Iterable[str], data: tuple[str, ...], *, quick: bool) -> list[Experiment]:
    """The experiments behind the exhibits, each once."""
    if not quick:
        needs = dict.fromkeys(need for name in exhibits for need in EXHIBITS[name].needs)
        return [need(data) for need in needs]
    longest: dict[Need, tuple[int, ...]] = {}
    for exhibit in map(EXHIBITS.__getitem__, exhibits):
        longest |= {need: max(longest.get(need, ()), exhibit.quick_ks, key=len) for need in exhibit.needs}
    return [need(data).quick(ks) for need, ks in longest.items()]


def draw(source: Path, exhibits: Iterable[str], out: Path, *, quick: bool) -> Iterator[tuple[Path, list[Table]]]:
    """Write the files of each exhibit into ``out``; yields each file, with its tables if it has any."""
    results = Results(read_rows(source), quick)
    for name in exhibits:
        exhibit, stem = EXHIBITS[name], f"{name}_quick" if quick else name
        if exhibit.tables:
            drawn = exhibit.tables(results)
            write_whole(out / f"{stem}.md", "\n".join(table.markdown() for table in drawn))
            yield out / f"{stem}.md", drawn
        if exhibit.figure:
            write_whole(out / f"{stem}.svg", figures.svg(exhibit.figure(results)))
            yield out / f"{stem}.svg", []
