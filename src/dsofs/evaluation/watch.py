"""What a user sees of a run: how long it will take, and how far it is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dsofs.evaluation.cells import Cell
from dsofs.evaluation.forecast import Forecast
from dsofs.evaluation.results import Row


class Watch:
    """Says how long a run will take: as soon as anything is known, and again when every kind of cell has been measured.

    On a terminal, the time left is shown all along.
    """

    def __init__(self, console: Console, forecast: Forecast, cells: Iterable[Cell], n_workers: int) -> None:
        self._console, self._forecast, self._n_workers = console, forecast, n_workers
        self._left = set(cells)
        self._guessed: int | None = None  # cells that were guessed when the time was last foretold
        columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task("", total=len(self._left), left="")

    def __enter__(self) -> Watch:
        self._progress.start()
        self._show()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def finished(self, cell: Cell, rows: Iterable[Row]) -> None:
        self._left.discard(cell)
        self._forecast.learn(rows)
        self._progress.advance(self._task)
        self._show()

    def _show(self) -> None:
        if not self._left or not self._forecast.knows_anything:
            return
        seconds = self._forecast.seconds(self._left) / self._n_workers
        self._progress.update(self._task, left=f"{timedelta(seconds=round(seconds))} left")
        guessed = self._forecast.n_guessed(self._left)
        if self._guessed is None or (self._guessed and not guessed):
            self._foretell(seconds, guessed)

    def _foretell(self, seconds: float, guessed: int) -> None:
        self._guessed = guessed
        unsure = f"; {guessed} of them are of a kind not measured yet: a rough guess" if guessed else ""
        clock = timedelta(seconds=round(seconds))
        where = f"{len(self._left)} cells on {self._n_workers} worker(s){unsure}"
        self._console.print(f"Predicted: {seconds / 3600:.2f} hours ({clock}) for {where}.")
