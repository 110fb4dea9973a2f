"""What commands say: messages and notes on stderr, and names that do no harm to a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from dsofs.tables.readers import Note


def messages() -> Console:
    """For messages and progress; rich shows no progress where stderr is not a terminal."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def show_notes(console: Console, notes: Iterable[Note]) -> None:
    for note in notes:
        console.print(Text(printable(f"Note: {note.ended}")))


def printable(text: str) -> str:
    """Names from data, without what would steer the terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
