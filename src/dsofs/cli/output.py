"""What commands write: tables for other programs, files that are whole or not there, messages on stderr."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from dsofs.files import write_together
from dsofs.tables.readers import Note

# Spreadsheets take a cell that begins so for a formula.
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


def messages() -> Console:
    """For messages and progress; rich shows no progress where stderr is not a terminal."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def show_notes(console: Console, notes: Iterable[Note]) -> None:
    for note in notes:
        console.print(Text(printable(f"Note: {_ended(note.text)}")))


def sentence(note: Note) -> str:
    return f"{note.text[:1].upper()}{_ended(note.text[1:])}"


def _ended(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def printable(text: str) -> str:
    """Names from data, without what would steer the terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """A CSV file; texts that a spreadsheet would take for a formula get a quotation mark before them."""
    file = StringIO()
    writer = csv.writer(file, csv.unix_dialect, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([harmless(name) for name in header])
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return file.getvalue()


def harmless(cell: object) -> object:
    """Numbers as they are, and texts that no spreadsheet runs."""
    is_formula = isinstance(cell, str) and len(cell) > 1 and cell.startswith(FORMULA_MARKS)
    return f"'{cell}" if is_formula else cell


def write_all(folder: Path, contents: Mapping[str, str]) -> None:
    """Write files that are ready in memory into a folder, which is made where it is missing: all of them or none."""
    folder.mkdir(parents=True, exist_ok=True)
    write_together({folder / name: content for name, content in contents.items()})
