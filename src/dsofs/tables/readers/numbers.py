"""Numbers written as text: many at once, to exactly what Python's ``float`` makes of each."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from scipy.io import mmread

from dsofs.design.types import Floats, Ints
from dsofs.tables.readers.frame import Column

DIGITS = b"0123456789"
SPECIAL = b"+-.eE\n"
# How missing values are written, in small letters. "none" is not among them: it is a common name of a class.
MISSING = frozenset({b"", b"na", b"n/a", b"#n/a", b"<na>", b"nan", b"null", b"?"})
PLUS, MINUS, POINT, NEWLINE, E, SMALL_E = b"+-.\nEe"
LARGEST_EXACT = 2**53  # beyond it two whole numbers can be the same double


def is_missing(token: bytes) -> bool:
    return token.strip().lower() in MISSING


def number(token: bytes) -> float | None:
    """The number, NaN if it is missing, None if it is text."""
    if b"_" in token:  # float would pass over it
        return None
    try:
        return float(token)
    except ValueError:
        return np.nan if is_missing(token) else None


def cells_of(texts: Sequence[str]) -> Column:
    """Numbers if every cell is one or missing, else text, missing ones NaN or empty; and what ``exact_texts`` keeps."""
    values = [number(text.encode()) for text in texts]
    if None in values:
        return np.array(["" if is_missing(text.encode()) else text.strip() for text in texts], dtype=str), None
    return np.array(values, dtype=np.float64), exact_texts(texts)


def exact_texts(cells: Sequence[str]) -> np.ndarray | None:
    """The texts of a column of whole numbers, if a double loses a part of some; missing ones are empty."""
    texts = ["" if is_missing(cell.encode()) else cell.strip() for cell in cells]
    digits = [text.lstrip("+-") for text in texts]
    if not any(map(_is_more, digits)) or not all(text == "" or text.isdecimal() for text in digits):
        return None
    return np.array(texts, dtype=str)


def _is_more(digits: str) -> bool:
    """Whether a double loses a part of a whole number: its leading zeros, or digits beyond 2^53."""
    return digits.isdecimal() and ((digits[0] == "0" and len(digits) > 1) or float(digits) >= LARGEST_EXACT)


def more_than_numbers(lines: bytes, values: Floats) -> Ints:
    """Columns of whole numbers of which a double may lose a part: 01, or beyond 2^53. ``lines`` holds one each."""
    whole = np.flatnonzero(((values == np.rint(values)) | np.isnan(values)).all(axis=0))
    if not len(whole):
        return whole
    codes = np.frombuffer(lines.replace(b" ", b""), dtype=np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(codes == NEWLINE) + 1]).reshape(values.shape)[:, whole]
    padded = np.concatenate([codes, [NEWLINE] * 3])  # the last line may be empty
    starts += np.isin(padded[starts], (PLUS, MINUS))
    zeros = (padded[starts] == DIGITS[0]) & _is_digit(padded[starts + 1])
    return whole[(zeros | (np.abs(values[:, whole]) >= LARGEST_EXACT)).any(axis=0)]


def parse_plain(lines: bytes, count: int) -> Floats | None:
    """``count`` numbers, one on each line; None if some line is not a plain number.

    The reader of Matrix Market files in SciPy is the quickest available: it rounds correctly and uses all cores. But
    it passes over what follows a number on its line, so what it is given is checked first.
    """
    if not _all_plain(lines):
        return None
    try:
        return mmread(BytesIO(b"%%%%MatrixMarket matrix array real general\n%d 1\n" % count + lines)).ravel()
    except (ValueError, OverflowError):  # a missing number, one out of range, a sign or a point alone
        return None


def _all_plain(lines: bytes) -> bool:
    """Whether no line holds anything after a number of the form -12.34e-5."""
    specials = lines.translate(None, DIGITS)
    if specials.translate(None, SPECIAL):
        return False
    order = specials.translate(None, b"+-").lower()
    return not any(pair in order for pair in (b"..", b"e.", b"ee")) and _signs_in_place(lines)


def _signs_in_place(lines: bytes) -> bool:
    """A sign only at the start or after an e, and a digit or point behind it; behind an e a digit or a sign."""
    codes = np.frombuffer(b"\n" + lines + b"\n", dtype=np.uint8)
    signs = np.flatnonzero((codes == PLUS) | (codes == MINUS))
    powers = np.flatnonzero((codes == SMALL_E) | (codes == E))
    before, after, behind = codes[signs - 1], codes[signs + 1], codes[powers + 1]
    return bool(
        ((before == NEWLINE) | (before == SMALL_E) | (before == E)).all()
        and (_is_digit(after) | (after == POINT)).all()
        and (_is_digit(behind) | (behind == PLUS) | (behind == MINUS)).all()
    )


def _is_digit(codes: np.ndarray) -> np.ndarray:
    return (codes >= DIGITS[0]) & (codes <= DIGITS[-1])
