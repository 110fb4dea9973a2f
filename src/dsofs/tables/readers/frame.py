"""What a reader returns: the columns of a file as they stand in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dsofs.design.types import AnyArray, Ints
from dsofs.files import DamagedFileError

Column = tuple[np.ndarray, np.ndarray | None]  # values, and what ``Frame.exact`` keeps of them


@dataclass(frozen=True)
class Note:
    """Something that the user should know about the data: a short kind, and the sentence."""

    kind: str
    text: str
    groups: str | None = None  # the column that it is about, if that may say which samples belong together

    @property
    def ended(self) -> str:
        return self.text if self.text.endswith("?") else f"{self.text}."

    @property
    def sentence(self) -> str:
        return f"{self.text[:1].upper()}{self.ended[1:]}"


@dataclass(frozen=True)
class Frame:
    """Columns of numbers in one matrix, columns of text apart from it; a missing value is NaN or an empty text."""

    format: str
    numbers: AnyArray  # samples x columns of numbers, dense or CSR
    numeric: Ints  # which columns of the file those are
    text: Mapping[int, np.ndarray] = field(default_factory=dict)  # column of the file -> its values
    exact: Mapping[int, np.ndarray] = field(default_factory=dict)  # numeric column -> its text, where that is more: 01
    names: tuple[str, ...] | None = None  # of all columns; None if the file has none
    labels: Mapping[str, np.ndarray] = field(default_factory=dict)  # one value per sample, kept apart from the columns
    notes: tuple[Note, ...] = ()
    open_ended: bool = False  # whether a column that is not there is one of zeros (svmlight)
    sample_names: tuple[str, ...] | None = None  # where the format keeps them apart from the columns (AnnData)

    @property
    def n_samples(self) -> int:
        return int(self.numbers.shape[0])

    @property
    def n_columns(self) -> int:
        return len(self.numeric) + len(self.text)


def column_frame(format: str, names: list[str], columns: list[Column]) -> Frame:
    """A frame from single columns; those of text are kept apart from the matrix."""
    text = {index: values for index, (values, _) in enumerate(columns) if values.dtype.kind in "OU"}
    exact = {index: texts for index, (_, texts) in enumerate(columns) if texts is not None}
    numeric = np.array([index for index in range(len(columns)) if index not in text], dtype=np.intp)
    n_samples = len(columns[0][0]) if columns else 0
    numbers = np.empty((n_samples, len(numeric)))
    for place, index in enumerate(numeric):
        numbers[:, place] = columns[index][0]
    return Frame(format, numbers, numeric, text, exact, tuple(names))


def check_not_empty(frame: Frame) -> Frame:
    if frame.n_samples == 0 or frame.n_columns == 0:
        raise DamagedFileError(
            f"it holds {frame.n_samples} samples and {frame.n_columns} columns: nothing to select from"
        )
    return frame
