"""What tells the samples apart: the column of a file that holds their IDs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dsofs.tables.columns import as_written, is_nameless, numbers_among, unique_names
from dsofs.tables.identifiers import (
    as_text,
    counts_rows,
    differ,
    holds_dates,
    is_named_like_id,
    looks_like_identifier,
)
from dsofs.tables.readers import Frame

HEAD = 12  # samples that show of most columns that their numbers are not whole, or repeat
ROW_NAMES = "the row names"  # what a column without a name, or the format itself, calls the samples


@dataclass(frozen=True)
class SampleIds:
    """IDs of the samples, and the column they stand in."""

    values: np.ndarray  # text
    name: str | None = None  # of the column; None: row names
    column: int | None = None  # of the file; None where the format keeps them apart
    certain: bool = True  # whether they can be little else: text, row names, or a column called such as patient_id
    counts_rows: bool = False  # 0, 1, 2, ... or 1, 2, 3, ...: no more than the position

    @property
    def title(self) -> str:
        return ROW_NAMES if self.name is None else repr(self.name)

    @property
    def repeated(self) -> list[str]:
        values, counts = np.unique(self.values, return_counts=True)
        return [str(value) for value in values[(counts > 1) & (values != "")]]


def sample_ids(frame: Frame, label: str | int | None) -> SampleIds | None:
    """The IDs of the samples where a file has some: row names, else a column named like an ID, else one of texts."""
    found = [ids for ids in certain_ids(frame, label) if differ(ids.values)]
    return min(found, key=lambda ids: ids.name is not None and 1 + (not is_named_like_id(ids.name)), default=None)


def certain_ids(frame: Frame, label: str | int | None) -> list[SampleIds]:
    """Columns that can be little else than IDs, but for the label: its position, or its name where it is kept apart."""
    return [ids for ids in _candidates(frame, label) if ids.certain]


def possible_ids(frame: Frame, label: str | int | None) -> list[SampleIds]:
    """Those, and all other columns of whole numbers or text that differ in each sample."""
    names, found = unique_names(frame)[0], _candidates(frame, label)
    taken = {ids.column for ids in found}
    head = frame.numbers[:HEAD]
    ordered = np.sort(head.toarray() if sparse.issparse(head) else head, axis=0)
    distinct = ((ordered[1:] != ordered[:-1]) & (ordered[1:] == np.rint(ordered[1:]))).all(axis=0)
    for index in map(int, frame.numeric[distinct]):
        values = as_written(frame, index)
        if index in taken or index == label or len(np.unique(values)) < len(values):
            continue
        if (texts := as_text(values)) is not None and differ(texts):
            title = None if is_nameless(frame, index) else names[index]
            found.append(SampleIds(texts, title, index, certain=False, counts_rows=counts_rows(values)))
    return found


def _candidates(frame: Frame, label: str | int | None) -> list[SampleIds]:
    """Names that the format has for the samples, columns of text, and of numbers that are named like an ID."""
    names = unique_names(frame)[0]
    numbers = [index for index in frame.numeric if is_named_like_id(names[index]) or _is_row_names(frame, index)]
    columns = [index for index in sorted([*frame.text, *numbers]) if index != label]
    found = [_ids(frame, name, None, values) for name, values in frame.labels.items() if name != label]
    found += [_ids(frame, names[index], index, as_written(frame, index)) for index in columns]
    return [ids for ids in (_kept_apart(frame), *found) if ids is not None]


def _kept_apart(frame: Frame) -> SampleIds | None:
    """Names that the format has for the samples; AnnData numbers them where they were given none."""
    if frame.sample_names is None:
        return None
    values = np.array(frame.sample_names, dtype=str)
    counting = counts_rows(values)
    return SampleIds(values, certain=not counting, counts_rows=counting)


def _ids(frame: Frame, name: str, column: int | None, values: np.ndarray) -> SampleIds | None:
    texts = as_text(values)
    if texts is None or holds_dates(texts) or not looks_like_identifier(texts):
        return None
    is_text, is_row_names = values.dtype.kind in "OU", column is not None and _is_row_names(frame, column)
    counting = counts_rows(values)
    certain = is_named_like_id(name) or (is_row_names and not counting) or (is_text and not numbers_among(texts))
    if not certain and not differ(texts):
        return None
    return SampleIds(texts, None if is_row_names else name, column, certain, counting)


def _is_row_names(frame: Frame, index: int) -> bool:
    return index == 0 and is_nameless(frame, 0)
