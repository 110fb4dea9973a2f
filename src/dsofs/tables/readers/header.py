"""The header of a text table: whether there is one, and which name belongs to which column."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dsofs.design.types import Floats
from dsofs.files import DamagedFileError
from dsofs.tables.readers.frame import Frame, Note
from dsofs.tables.readers.numbers import number

COMMENTS = (b"#", b"sep=")  # before the header; the second tells spreadsheets the delimiter
SCALE = 8  # numbers: random ones rise or fall all along in one of 20,160 rows
TITLE = "; if lines above the table, such as a title, do not belong to it, delete them"
CUT_AT = "commas, tabs, semicolons, | or blanks"


def has_header(rows: list[list[bytes]]) -> bool:
    """Whether the first row names the columns; one that stands alone does."""
    return len(rows) == 1 or _is_header(rows[0], rows[1]) or _is_scale(rows)


def _is_scale(rows: list[list[bytes]]) -> bool:
    """Whether the first row holds wavelengths, times or masses: numbers that rise or fall, as in no row below it."""
    scale, *samples = [_is_monotone(row) for row in rows]
    return scale and not any(samples)


def _is_monotone(row: list[bytes]) -> bool:
    values = np.array([value for cell in row if (value := number(cell)) is not None and np.isfinite(value)])
    steps = np.diff(values)
    return len(values) >= SCALE and bool((steps > 0).all() or (steps < 0).all())


def _is_header(first: list[bytes], second: list[bytes]) -> bool:
    """A header has text above numbers; or counts the columns, as frames without names are written.

    Where it counts, one name may be a text, that of the label; and the first may be empty, that of the row names.
    """
    if len(second) == len(first) + 1:
        return True
    above, below = [number(cell) for cell in first], [number(cell) for cell in second]
    if any(name is None and value is not None for name, value in zip(above, below, strict=False)):
        return True
    names = above if first[0].strip() else above[1:]
    counted = [name for name in names if name is not None]
    if not counted:
        return True
    columns = list(range(len(counted) + 1))
    counts_columns = counted in (columns[:-1], columns[1:])
    return counts_columns and len(first) > 2 and len(counted) > 1 and len(names) - len(counted) <= 1


def last_comment(stream: Iterable[bytes]) -> bytes:
    """The last comment before the data, without its mark: in some files it is the header, as #SampleID."""
    comment = b""
    for line in stream:
        if line.strip() and not line.startswith(COMMENTS):
            break
        comment = line.removeprefix(b"#").strip(b" \r\n") if line.startswith(b"#") else comment
    return comment


def is_commented_header(names: list[bytes], cells: list[bytes]) -> bool:
    """Whether a comment names the columns: a text for each, above a line that holds numbers."""
    are_texts = all(not name or number(name) is None for name in names)
    return len(names) == len(cells) > 1 and are_texts and any(number(cell) is not None for cell in cells)


def fitting_names(header: tuple[str, ...], rows: list[list[bytes]], line: int) -> tuple[str, ...]:
    """A name for each column; refuses a header that does not fit the lines below it."""
    n_columns = len(rows[0])
    if len(header) == n_columns - 1:  # R leaves out the name of the column of row names
        delimiters_at_the_end = all(not row[-1].strip() for row in rows)
        return (*header, "") if delimiters_at_the_end else ("", *header)
    if len(header) < n_columns or any(header[n_columns:]):
        cure = "correct the header, or that line" if n_columns > 1 else f"put {CUT_AT} between the columns"
        raise DamagedFileError(
            f"its header has {len(header)} names, and line {line} has {n_columns} cells: {cure}{TITLE}"
        )
    return header[:n_columns]  # behind them there are delimiters alone


def check_nameless(frame: Frame, header: tuple[str, ...]) -> None:
    """Refuse a header one name short, unless the first column holds row names or the last one nothing at all."""
    if len(header) >= frame.n_columns:
        return
    if frame.names == (*header, ""):
        fits = frame.n_columns - 1 not in frame.text and np.isnan(frame.numbers[:, -1]).all()
    else:
        fits = 0 in frame.text or _count_samples(frame.numbers[:, 0])
    if not fits:
        raise DamagedFileError(
            f"its header has {len(header)} names, and the lines below it {frame.n_columns} cells, of which the first "
            "is not a row name: add the name that is missing to the header"
        )


def _count_samples(values: Floats) -> bool:
    """Whether they are whole numbers, another for each sample."""
    return bool((values == np.rint(values)).all()) and len(np.unique(values)) == len(values)


def notes(names: tuple[str, ...] | None) -> tuple[Note, ...]:
    if names is None:
        return (Note("no header", "the first line is not a header: columns are named by their position"),)
    numbers = [name for name in names if (value := number(name.encode())) is not None and np.isfinite(value)]
    if not numbers:
        return ()
    return (Note("numbers as names", f"the first line was taken for a header, though it holds {numbers[0]!r}"),)
