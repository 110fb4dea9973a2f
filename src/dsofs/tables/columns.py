"""The columns of a file: their names, also in messages; which one a user means; their values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np

from dsofs.design.linalg import dense
from dsofs.tables.readers import Frame, Note
from dsofs.tables.readers.numbers import number

Column = int | str  # a position among the columns of the file, or the name of what the format keeps apart from them
# As in 1,5 and 1.234,5; or between thousands, as in 1,500 and 1,234,567.8.
NUMBER_WITH_COMMA = re.compile(r"[-+]?\d+(\.\d{3})*(,\d+)+(\.\d+)?([eE][-+]?\d+)?")

SHOWN = 5  # names listed in a message
HEADER_SEARCHED = 10  # rows in which the name of a column is looked for, where the first has it not
# Numbers with a percent sign, or with thousands set apart by blanks or apostrophes.
MARKED_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d+)?\s*%|\d{1,3}(?:['’ \u00a0\u202f]\d{3})+(?:[.,]\d+)?)")


def listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(map(repr, found[:SHOWN])) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def are(names: Sequence[object] | np.ndarray) -> str:
    return "is" if len(names) == 1 else "are"


def have(names: Sequence[object]) -> str:
    return "has" if len(names) == 1 else "have"


def unique_names(frame: Frame) -> tuple[list[str], list[Note]]:
    """A name for each column; the second ``a`` is called ``a.1``, and so on."""
    if frame.names is None:
        return [f"feature_{index}" for index in range(frame.n_columns)], []
    taken = Counter(name for name in frame.names if name)
    repeated = [name for name, count in taken.items() if count > 1]
    names, seen = [], set()
    for index, name in enumerate(frame.names):
        name = unique = name or f"column_{index}"
        suffix = 0
        while unique in seen or (suffix and unique in taken):
            suffix += 1
            unique = f"{name}.{suffix}"
        seen.add(unique)
        names.append(unique)
    if not repeated:
        return names, []
    second = repr(f"{repeated[0]}.1")
    text = f"{listed(repeated)} {are(repeated)} in the header more than once: the second is called {second}"
    return names, [Note("duplicate names", text)]


def refuse_text(**lists: object) -> None:
    """Refuse a text where a list of columns is needed: each of its letters would be taken for a column."""
    for name, given in lists.items():
        if isinstance(given, str):
            raise ValueError(f"{name!r} must be a list of columns. Got {given!r} instead: write [{given!r}].")


def find_column(frame: Frame, wanted: str | int, option: str) -> int:
    """The column that is meant: by its name, in the file or from ``unique_names``; otherwise by its position."""
    matching = [index for index, name in enumerate(frame.names or ()) if name == wanted]
    if len(matching) > 1:
        raise ValueError(
            f"{len(matching)} columns are called {wanted!r}, so {option!r} is ambiguous: give its position, one of "
            f"{matching[:SHOWN]}."
        )
    if matching:
        return matching[0]
    names = unique_names(frame)[0]
    if wanted in names:
        return names.index(str(wanted))
    position = _position(wanted)
    if position is not None and -frame.n_columns <= position < frame.n_columns:
        return position % frame.n_columns
    raise ValueError(_no_such_column(frame, wanted, option))


def _position(wanted: str | int) -> int | None:
    try:
        return int(wanted)
    except ValueError:
        return None


def _no_such_column(frame: Frame, wanted: str | int, option: str) -> str:
    known = [*frame.labels, *(frame.names or ())]
    if _names_a_row(frame, wanted):
        known_text = "it is the name of a row: if features are in rows, transpose the table"
    elif any(str(wanted) in values[:HEADER_SEARCHED] for values in frame.text.values()):
        known_text = "it stands below the first row: delete the rows above the header"
    elif frame.n_columns == 1 and frame.format in ("CSV", "TSV"):
        known_text = "only one was found: put commas, tabs, semicolons, | or blanks between the columns"
    elif not known:
        known_text = f"the file names no columns: give a position from 0 to {frame.n_columns - 1}"
    else:
        close = get_close_matches(str(wanted), known, n=1)
        guess = f"did you mean {close[0]!r}? There" if close else "there"
        known_text = f"{guess} {are(known)} {len(known)}: {listed(known)}"
    sheets = "".join(f" {note.sentence}" for note in frame.notes if note.kind == "sheets")
    return f"There is no column {wanted!r} for {option!r}; {known_text}.{sheets}"


def _names_a_row(frame: Frame, wanted: str | int) -> bool:
    """Whether it stands in the first column, in a row whose other cells repeat, as labels do and names do not."""
    rows = np.flatnonzero(frame.text.get(0, np.array([], dtype=str)) == str(wanted))
    if len(rows) != 1:
        return False
    cells = [values_of(frame, index)[rows[0]] for index in range(1, frame.n_columns)]
    return len(set(cells)) < len(cells)


def find_kept(frame: Frame, wanted: str | int, option: str) -> Column:
    """As ``find_column``, also among what the format keeps apart from the columns."""
    return str(wanted) if wanted in frame.labels else find_column(frame, wanted, option)


def name_of(frame: Frame, column: Column) -> str:
    return column if isinstance(column, str) else unique_names(frame)[0][column]


def values_of(frame: Frame, column: Column) -> np.ndarray:
    """The values of a column of the file, or of what it keeps apart."""
    if isinstance(column, str):
        return frame.labels[column]
    if column in frame.text:
        return frame.text[column]
    place = int(np.searchsorted(frame.numeric, column))
    return np.ravel(dense(frame.numbers[:, [place]], frame.numbers.dtype))


def as_written(frame: Frame, column: Column) -> np.ndarray:
    """The values of a column of IDs or classes as they are written: 01 and 1 differ."""
    exact = None if isinstance(column, str) else frame.exact.get(column)
    return values_of(frame, column) if exact is None else exact


def is_nameless(frame: Frame, index: int) -> bool:
    """Whether the header leaves out the name of a column, as of one of row names."""
    return frame.names is not None and frame.names[index] in ("", "Unnamed: 0")


def refuse_missing(values: np.ndarray, what: str) -> None:
    missing = np.flatnonzero(values == "" if values.dtype.kind in "OU" else np.isnan(values.astype(np.float64)))
    if len(missing):
        raise ValueError(
            f"{what} is missing in {len(missing)} of {len(values)} samples, first in sample {missing[0] + 1}: give it, "
            "or leave such samples out."
        )


def numbers_among(values: np.ndarray) -> int:
    """How many different texts are numbers, also with a comma in them."""
    texts = [str(value) for value in np.unique(values) if value]
    return sum(number(text.encode()) is not None or NUMBER_WITH_COMMA.fullmatch(text) is not None for text in texts)
