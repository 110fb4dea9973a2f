"""What commands say while they work: notes, progress, and errors in one line with an exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from dsofs.experiments import RunProgress
from dsofs.tables.readers import Note


class InputError(click.ClickException):
    """Data or options that cannot be used."""

    exit_code = 2


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn what the library refuses into one line that says what to do."""
    try:
        yield
    except MemoryError as error:
        raise InputError(_one_line(error) or "There is not enough memory: leave out samples or columns.") from error
    except (OSError, ValueError, ImportError) as error:
        raise InputError(_one_line(error)) from error


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{str(error.filename)!r}: {error.strerror}."
    return " ".join(str(error).split())


def messages() -> Console:
    """For messages and progress; rich shows no progress where stderr is not a terminal."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def show_notes(console: Console, notes: Iterable[Note]) -> None:
    for note in notes:
        console.print(Text(printable(f"Note: {note.ended}")))


def printable(text: str) -> str:
    """Names from data, without control characters of the terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


@contextmanager
def watched(console: Console) -> Iterator[Callable[[RunProgress], None]]:
    """The ``progress`` of runs: says how long each will take, as soon as anything is known, and again when every kind
    of cell has been measured. On a terminal, the time left is shown all along.
    """
    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    bars = Progress(*columns, console=console, disable=not console.is_terminal)
    task = bars.add_task("", left="")
    guessed: int | None = None  # cells that were guessed when the time was last predicted

    def show(run: RunProgress) -> None:
        nonlocal guessed
        guessed = None if not run.done else guessed  # another run begins
        left = "" if run.seconds_left is None else f"{_clock(run.seconds_left)} left"
        bars.update(task, completed=run.done, total=run.total, left=left)
        bars.start()  # the first time: what is refused before shows no bar
        if not run.left or run.seconds_left is None:
            return
        if guessed is None or (guessed and not run.n_guessed):
            guessed = run.n_guessed
            console.print(prediction(run, run.seconds_left))

    try:
        yield show
    finally:
        bars.stop()


def prediction(run: RunProgress, seconds: float) -> str:
    unsure = f"; {run.n_guessed} of them are of a kind not measured yet: a rough guess" if run.n_guessed else ""
    workers = "1 worker" if run.n_workers == 1 else f"{run.n_workers} workers"
    return f"Predicted: {_clock(seconds)} (h:mm:ss) for {run.left} cells on {workers}{unsure}."


def _clock(seconds: float) -> timedelta:
    return timedelta(seconds=round(seconds))


class Stages:
    """The ``progress`` of a selection: a bar with the time left for the stage; nothing without a terminal."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        self._bars = Progress(
            *columns, console=console, transient=True, redirect_stdout=False, disable=not console.is_terminal
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Stages:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        words = stage.capitalize() + (f" {done}/{total}" if total > 1 else "")
        if stage not in self._tasks:
            self._hide()
            self._tasks[stage] = self._bars.add_task(words)
        self._bars.update(self._tasks[stage], completed=done, total=total, description=words)

    def _hide(self) -> None:
        for task in self._tasks.values():
            self._bars.update(task, visible=False)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bars away while results are printed."""
        self._bars.stop()
        yield
        self._hide()
        self._bars.start()
