"""How long a run will take, from cells that have been measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from dsofs.experiments.cells import Cell
from dsofs.experiments.results import Row


@dataclass(frozen=True)
class RunProgress:
    """How far a run is, and how long the rest will take."""

    done: int  # cells
    total: int
    n_workers: int
    seconds_left: float | None  # None while no cell has been measured
    n_guessed: int  # of the cells that are left, those of a kind that was not measured yet

    @property
    def left(self) -> int:
        return self.total - self.done


class Forecast:
    """Seconds that cells will take: as their like took before, or else in proportion to their work.

    ``work`` is a number for every (data, method): its unit does not matter.
    """

    def __init__(self, work: Mapping[tuple[str, str], float]) -> None:
        self._work = work
        self._measured: dict[tuple[str, str], list[float]] = defaultdict(list)

    def learn(self, rows: Iterable[Row]) -> None:
        """Rows of one cell carry the same seconds: each cell counts once."""
        for (data, method, _), seconds in {
            (row.data, row.method, row.seed): row.values["cell_seconds"]
            for row in rows
            if (row.data, row.method) in self._work
        }.items():
            self._measured[data, method].append(seconds)

    def progress(self, left: Collection[Cell], total: int, n_workers: int) -> RunProgress:
        """Where a run of ``total`` cells stands that has these left."""
        seconds = self.seconds(left) / n_workers if self._measured else None
        return RunProgress(total - len(left), total, n_workers, seconds, self.n_guessed(left))

    def n_guessed(self, cells: Iterable[Cell]) -> int:
        """How many of the cells are of a kind that was not measured yet."""
        return sum((cell.data, cell.method) not in self._measured for cell in cells)

    def seconds(self, cells: Iterable[Cell]) -> float:
        return sum(self._seconds(cell) for cell in cells)

    def _seconds(self, cell: Cell) -> float:
        measured = self._measured.get((cell.data, cell.method))
        return fmean(measured) if measured else self._rate(cell.method) * self._work[cell.data, cell.method]

    def _rate(self, method: str) -> float:
        """Seconds per unit of work: of the method on other data, or of all methods if it has not been run."""
        rates = {key: fmean(seconds) / self._work[key] for key, seconds in self._measured.items()}
        own = [rate for (_, name), rate in rates.items() if name == method]
        return fmean(own or rates.values())
