"""What commands say on stderr: messages, notes, and errors in one line with an exit code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.text import Text

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
