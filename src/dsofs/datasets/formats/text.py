"""Tables of numbers in text, as UCI keeps them."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from dsofs.datasets.formats import Members, ParsedTable, member, numbered_table
from dsofs.design.types import Floats
from dsofs.files import DamagedFileError

N_DIGITS = 10


def parse_isolet(members: Members) -> ParsedTable:
    """Two files with commas; the last column is the letter, 1 to 26."""
    parts = [_numbers(member(members, name), ",") for name in ("isolet1+2+3+4.data", "isolet5.data")]
    table = _stacked(parts)
    return numbered_table(table[:, :-1], table[:, -1])


def parse_semeion(members: Members) -> ParsedTable:
    """One file with blanks; the last ten columns are the digit: a single 1 among zeros."""
    table = _numbers(member(members, "semeion.data"))
    X, digits = table[:, :-N_DIGITS], table[:, -N_DIGITS:]
    if not ((digits == 1).sum(axis=1) == 1).all():
        raise DamagedFileError(f"semeion.data has rows whose last {N_DIGITS} columns do not name one digit")
    return numbered_table(X, digits.argmax(axis=1))


def parse_gisette(members: Members) -> ParsedTable:
    """The training and validation files of the NIPS 2003 challenge; the test file was published without labels."""
    X = _stacked([_numbers(member(members, f"gisette_{part}.data")) for part in ("train", "valid")])
    labels = _stacked([_numbers(member(members, f"gisette_{part}.labels")) for part in ("train", "valid")])
    return numbered_table(X, labels[:, 0])


def _numbers(content: bytes, delimiter: str | None = None) -> Floats:
    if not content.strip():
        raise DamagedFileError("it is empty")
    try:
        return np.loadtxt(BytesIO(content), delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise DamagedFileError(f"it is no table of numbers: {error}") from error


def _stacked(parts: list[Floats]) -> Floats:
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise DamagedFileError(f"its files have different numbers of columns: {sorted(widths)}")
    return np.vstack(parts)
