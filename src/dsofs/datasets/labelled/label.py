"""The label: found in the file or in one of its own, made classes; what are no classes is refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from dsofs.datasets.labelled.columns import find_column, is_identifier, is_nameless, refuse_missing, values_of
from dsofs.datasets.labelled.wording import listed, stand
from dsofs.datasets.readers import Frame, Note, format_of, naming, read_frame
from dsofs.datasets.readers.delimited import BLANKS, DELIMITERS, TAB, decode, logical_lines, split
from dsofs.datasets.readers.numbers import numbers_or_text
from dsofs.datasets.readers.numpy_files import read_vector
from dsofs.datasets.readers.source import Source, open_source
from dsofs.files import readable

USUAL_LABELS = ("y", "Y", "label", "labels", "target")
NEVER_IN_TEXT = b"\x1f"  # a delimiter that leaves lines whole


def find_label(
    frame: Frame, target: str | int | None, target_file: str | os.PathLike[str] | None
) -> tuple[np.ndarray, str, int | None]:
    """The labels, what they are called, and the column of the file they take up."""
    if target_file is not None:
        path = Path(target_file)
        return read_label_file(path, target, frame.n_samples), readable(path.name), None
    if target is None:
        usual = [name for name in USUAL_LABELS if name in frame.labels]
        if not usual and len(frame.labels) != 1:
            kept = f" ({listed(frame.labels)})" if frame.labels else ""
            raise ValueError(f"Say which column{kept} holds the label (--target), or which file (--target-file).")
        target = (usual or list(frame.labels))[0]
    if target in frame.labels:
        return frame.labels[str(target)], str(target), None
    index = find_column(frame, target, "target")
    return values_of(frame, index), frame.names[index] if frame.names else str(target), index


def read_label_file(path: Path, target: str | int | None, n_samples: int) -> np.ndarray:
    """Labels from a file of their own: one per line, with or without a header; a vector; or any table with them."""
    labels = None
    if target is None and path.is_file():
        with naming(path):
            labels = _bare_labels(open_source(path), n_samples)
    return _fitting(_labels_in(path, target) if labels is None else labels, path, n_samples)


def _bare_labels(source: Source, n_samples: int) -> np.ndarray | None:
    """Labels that stand alone in a file; None if it is a table."""
    kind = format_of(source).name
    if kind in ("NPY", "NPZ"):
        return read_vector(source, kind)
    if kind != "text":
        return None
    with source.open() as stream:
        lines = dict(logical_lines(stream))
    if any(_is_table(list(lines.values()), delimiter) for delimiter in (*DELIMITERS, BLANKS)):
        return None
    # An empty line between others is a label that is missing: passed over, all after it would belong to other samples.
    every = range(min(lines, default=0), max(lines, default=-1) + 1)
    labels = [decode(split(lines[number], NEVER_IN_TEXT)[0]) if number in lines else "" for number in every]
    return numbers_or_text(labels[1:] if len(labels) == n_samples + 1 else labels)


def _is_table(lines: list[bytes], delimiter: bytes) -> bool:
    """Whether a delimiter cuts lines into as many cells each; in a header of R the one above the row names lacks."""
    first, *others = [split(line, delimiter) for line in lines] or [[]]
    n_columns = len(others[0]) if others else 1
    if n_columns == 1 or any(len(cells) != n_columns for cells in others):
        return False
    if delimiter == BLANKS and not _names_samples(others):  # a blank may also stand in a label: high risk, low risk
        return False
    return len(first) == n_columns or (delimiter in (BLANKS, TAB) and len(first) == n_columns - 1)


def _names_samples(rows: list[list[bytes]]) -> bool:
    """Whether a column holds another text in each row."""
    return any(len(set(column)) == len(rows) for column in zip(*rows, strict=True))


def _labels_in(path: Path, target: str | int | None) -> np.ndarray:
    frame = read_frame(path)
    if target is not None:
        return (
            frame.labels[str(target)]
            if target in frame.labels
            else values_of(frame, find_column(frame, target, "target"))
        )
    columns = [
        index
        for index in range(frame.n_columns)
        if not is_identifier(frame.text.get(index)) and not is_nameless(frame, index)
    ]
    if len(columns) != 1:
        raise ValueError(f"{path.name!r} holds {len(columns)} columns: say which is the label (--target).")
    return values_of(frame, columns[0])


def _fitting(labels: np.ndarray, path: Path, n_samples: int) -> np.ndarray:
    if len(labels) != n_samples:
        raise ValueError(
            f"{path.name!r} holds {len(labels)} labels, and there are {n_samples} samples: give one for each."
        )
    return labels


def clean_label(values: np.ndarray, name: str) -> tuple[np.ndarray, list[Note]]:
    """Classes as whole numbers or text; refuses what are no classes."""
    refuse_missing(values, f"The label {name!r}")
    if values.dtype.kind in "OU":
        y = values.astype(str)
        return y, _class_notes(y, name)
    numbers = values.astype(np.float64)
    odd = numbers[~np.isfinite(numbers) | (numbers != np.rint(numbers))]
    if len(odd):
        raise ValueError(
            f"The label {name!r} holds numbers that are not whole ({odd[0]:g}): it is measured, not a class. Give a "
            "column of classes, or cut it into some."
        )
    y = values.astype(np.int64)
    return y, _class_notes(y, name)


def _class_notes(y: np.ndarray, name: str) -> list[Note]:
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) == 1:
        raise ValueError(
            f"All samples have the label {str(classes[0])!r} in {name!r}: two classes are needed at least."
        )
    if len(classes) == len(y) > 2:
        raise ValueError(
            f"The label {name!r} looks like an identifier: each of the {len(y)} samples has another value. Give "
            "the column of the classes."
        )
    notes = []
    if len(classes) > len(y) / 2:
        text = f"the label {name!r} has {len(classes)} classes for {len(y)} samples: is it an identifier?"
        notes.append(Note("many classes", text))
    alone = classes[counts == 1]
    if len(alone):
        notes.append(Note("small classes", f"{listed(map(str, alone))} {stand(alone)} for one sample only"))
    return notes
