"""The label: found in the file or in one of its own, made classes; what are no classes is refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from dsofs.datasets.labelled.columns import find_column, is_identifier, values_of
from dsofs.datasets.labelled.wording import SHOWN, listed, stand
from dsofs.datasets.readers import Frame, Note, read_frame
from dsofs.datasets.readers.delimited import decode, logical_lines, sniff_delimiter, split
from dsofs.datasets.readers.source import open_source

USUAL_LABELS = ("y", "Y", "label", "labels", "target")


def find_label(
    frame: Frame, target: str | int | None, target_file: str | os.PathLike[str] | None
) -> tuple[np.ndarray, str, int | None]:
    """The labels, what they are called, and the column of the file they take up."""
    if target_file is not None:
        return read_label_file(Path(target_file), target, frame.n_samples), Path(target_file).name, None
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
    """Labels from a file of their own: one per line, with or without a header, or any table that has them."""
    source = open_source(path)
    if b"\x00" not in source.head and not source.head.startswith(b"PK"):
        with source.open() as stream:
            lines = [line for _, line in logical_lines(stream)]
        if target is None and lines and len(split(lines[0], sniff_delimiter(lines[:SHOWN]))) == 1:
            cells = [decode(split(line, b",")[0]).strip() for line in lines]
            return _fitting(np.array(cells[1:] if len(cells) == n_samples + 1 else cells), path, n_samples)
    return _fitting(_labels_in(path, target), path, n_samples)


def _labels_in(path: Path, target: str | int | None) -> np.ndarray:
    frame = read_frame(path)
    if target is not None:
        return (
            frame.labels[str(target)]
            if target in frame.labels
            else values_of(frame, find_column(frame, target, "target"))
        )
    columns = [index for index in range(frame.n_columns) if not is_identifier(frame.text.get(index))]
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
    labels = np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
    is_text = labels.dtype.kind in "OU"
    missing = np.flatnonzero(labels == "" if is_text else np.isnan(labels.astype(np.float64)))
    if len(missing):
        raise ValueError(
            f"The label {name!r} is missing in {len(missing)} samples, first in sample {missing[0] + 1}: give it, or "
            "leave them out."
        )
    if not is_text and not (labels == np.rint(labels.astype(np.float64))).all():
        raise ValueError(
            f"The label {name!r} holds numbers that are not whole ({labels[labels != np.rint(labels)][0]:g}): it is "
            "measured, not a class. Give a column of classes, or cut it into some."
        )
    y = labels.astype(str) if is_text else labels.astype(np.int64)
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
