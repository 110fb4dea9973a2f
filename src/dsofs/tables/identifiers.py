"""Columns that say which sample it is, or when it was taken, and not what it is like: identifiers and dates."""

from __future__ import annotations

import re

import numpy as np
from scipy import sparse

from dsofs.design.types import Floats, Ints
from dsofs.tables.columns import numbers_among
from dsofs.tables.readers import Frame, Note

FEW = 10  # values that a real category may well have, whatever its column is called
# Samples of each category that make it more than a name: with fewer, the 60 % that a resample selects from hold fewer
# than two, and the weight of a category only remembers one sample.
SAMPLES_PER_CATEGORY = 3
IN_ORDER = 12  # samples: numbers without meaning rise over so many in one of 12! = 479,001,600 columns

OWNER = r"(?:sample|specimen|patient|subject|donor|participant|individual|proband)s?"
NAMED_LIKE_ID = re.compile(
    rf"(?:.*[_\W])?(?:id|ids|identifier|uuid|guid|barcode|accession|{OWNER})"
    rf"|(?:.*[_\W])?(?:{OWNER}|case|cell|obs|row)[_\W]*(?:ids?|names?|number|num|no|nr|codes?|keys?|barcodes?)\W*"
    rf"|ids?[_\W]*{OWNER}|index",
    re.IGNORECASE,
)
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:z|[ap]\.?m\.?|[-+]\d{2}:?\d{2})?"
DATE_OR_TIME = re.compile(
    r"(?:(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})|\d{4}-(?:0[1-9]|1[0-2])"
    rf"|\d{{1,2}}[-. ]*{MONTH}[-, ]*(?:\d{{4}}|\d{{2}})|{MONTH}[- ]*\d{{1,2}},?[- ]+\d{{4}})(?:[t ]\s*{TIME})?|{TIME})",
    re.IGNORECASE,
)


def is_named_like_id(name: str) -> bool:
    return NAMED_LIKE_ID.fullmatch(name.strip()) is not None


def as_text(values: np.ndarray) -> np.ndarray | None:
    """Texts, and whole numbers as text, with an empty one for what is missing; None where numbers are not whole."""
    if values.dtype.kind in "OU":
        return np.char.strip(values.astype(str))
    numbers = values.astype(np.float64)
    missing = np.isnan(numbers)
    if not np.array_equal(numbers[~missing], np.rint(numbers[~missing])):
        return None
    return np.array(["" if gap else f"{value:.0f}" for value, gap in zip(numbers, missing, strict=True)], dtype=str)


def differ(texts: np.ndarray) -> bool:
    """Whether each sample has a value, and another one."""
    return bool(len(np.unique(texts)) == len(texts) and (texts != "").all())


def looks_like_identifier(texts: np.ndarray) -> bool:
    """Whether most samples have a value of their own, or there are too few samples of each value to learn from."""
    present = texts[texts != ""]
    values, counts = np.unique(present, return_counts=True)
    alone = int(np.sum(counts == 1))
    return 2 * alone > len(present) or len(values) > max(FEW, len(present) / SAMPLES_PER_CATEGORY)


def holds_dates(texts: np.ndarray) -> bool:
    """Whether most values are dates or times."""
    present = texts[texts != ""]
    return 2 * sum(DATE_OR_TIME.fullmatch(text) is not None for text in present) > len(present)


def counts_rows(values: np.ndarray) -> bool:
    """Whether numbers, or texts of them, are 0, 1, 2, ... or 1, 2, 3, ..."""
    rows = np.arange(len(values) + 1).astype(str if values.dtype.kind in "OU" else np.float64)
    return np.array_equal(values, rows[:-1]) or np.array_equal(values, rows[1:])


def in_row_order(values: Floats) -> bool:
    """Whether whole numbers rise, or fall, from each sample to the next, as an ID or a row number does."""
    rising, falling = values[1:] > values[:-1], values[1:] < values[:-1]
    return len(values) >= IN_ORDER and as_text(values) is not None and bool(rising.all() or falling.all())


def columns_in_row_order(frame: Frame, columns: Ints) -> list[int]:
    """Those columns of numbers that ``in_row_order`` could be true of, by their first samples."""
    if frame.n_samples < IN_ORDER:
        return []
    head = frame.numbers[:IN_ORDER][:, np.searchsorted(frame.numeric, columns)]
    head = head.toarray() if sparse.issparse(head) else head
    rising, falling = (head[1:] > head[:-1]).all(axis=0), (head[1:] < head[:-1]).all(axis=0)
    return [int(index) for index in columns[rising | falling]]


def no_feature(name: str, values: np.ndarray) -> Note | None:
    """Why a column is none to select, or None if it may be one."""
    texts, is_text = as_text(values), values.dtype.kind in "OU"
    if texts is None:
        return None
    if is_text and holds_dates(texts):
        date = str(next(text for text in texts if text))
        return Note("dates", f"{name!r} holds dates or times ({date!r}): left out; --keep {name!r} makes it categories")
    present = texts[texts != ""]
    n_values = len(np.unique(present))
    by_name = is_named_like_id(name) and (n_values > FEW or n_values == len(present))
    if by_name or (is_text and not numbers_among(texts) and looks_like_identifier(texts)):
        found = f"{name!r} looks like an identifier ({n_values} values in {len(present)} samples): left out"
        # Samples of one value would stand on both sides of a split.
        belong = f"; if its samples belong together, give it as --sample-groups {name!r}"
        return Note("identifier", f"{found}{belong * (n_values < len(present))}; --keep {name!r} makes it a feature")
    if not is_text and in_row_order(values):
        found = f"{name!r} holds whole numbers in the order of the rows, as an ID or a row number does: left out"
        return Note("identifier", f"{found}; --keep {name!r} makes it a feature")
    return None
