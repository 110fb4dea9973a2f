"""The label, from the file or from another one, as classes; values that are not classes are refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from dsofs.files import readable
from dsofs.tables.columns import as_written, find_column, listed, refuse_missing, stand
from dsofs.tables.identifiers import FEW, SAMPLES_PER_CATEGORY, SampleIds, sample_ids
from dsofs.tables.label_file import default_label, labels_for
from dsofs.tables.readers import Frame, Note
from dsofs.tables.readers.numbers import LARGEST_EXACT

TYPING_ERROR = 0.8  # similarity (difflib) of two names from which on one may be the other, misspelt


@dataclass(frozen=True)
class FoundLabel:
    """The labels as they were found, where, and the IDs of their samples."""

    values: np.ndarray
    name: str
    position: int | None  # column of the file; None if they lie elsewhere
    ids: SampleIds | None
    notes: tuple[Note, ...] = ()


def find_label(
    frame: Frame, file: str, target: str | int | None, target_file: str | os.PathLike[str] | None
) -> FoundLabel:
    """The labels of a frame that was read from ``file``."""
    if target_file is not None:
        path = Path(target_file)
        values, ids, notes = labels_for(frame, file, path, target)
        return FoundLabel(values, readable(path.name), None, ids or sample_ids(frame, None), tuple(notes))
    if target is None and (target := default_label(frame)) is None:
        kept = f" ({listed(frame.labels)})" if frame.labels else ""
        raise ValueError(f"Say which column{kept} holds the label (--target), or which file (--target-file).")
    if target in frame.labels:
        return FoundLabel(frame.labels[str(target)], str(target), None, sample_ids(frame, target))
    if frame.open_ended:
        raise ValueError(
            f"The label of an {frame.format} file is the first number of each line, and {target!r} would be a feature: "
            "leave out --target, or give the labels in a file of their own (--target-file)."
        )
    index = find_column(frame, target, "target")
    name = frame.names[index] if frame.names else str(target)
    return FoundLabel(as_written(frame, index), name, index, sample_ids(frame, index))


def clean_label(values: np.ndarray, name: str) -> tuple[np.ndarray, list[Note]]:
    """Classes as whole numbers or text; refuses other values."""
    refuse_missing(values, f"The label {name!r}")
    if values.dtype.kind in "OU":
        y = values.astype(str)
        return y, [*_spelling_notes(y, name), *_class_notes(y, name)]
    numbers = values.astype(np.float64)
    odd = numbers[~np.isfinite(numbers) | (numbers != np.rint(numbers))]
    if len(odd):
        raise ValueError(
            f"The label {name!r} holds numbers that are not whole ({odd[0]:g}): it is measured, not a class. Give a "
            "column of classes, or cut it into some."
        )
    if values.dtype.kind == "f" and len(large := numbers[np.abs(numbers) >= LARGEST_EXACT]):
        raise ValueError(
            f"The label {name!r} holds {large[0]:g}, and whole numbers beyond 2^53 are rounded, so that classes would "
            "be merged: number the classes from 0, or write them as text."
        )
    y = values.astype(np.int64)
    return y, [*_class_notes(y, name), *_measurement_notes(y, name)]


def _spelling_notes(y: np.ndarray, name: str) -> list[Note]:
    """Refuse classes that differ in capitals or blanks only; for single letters, which may be meant, a note."""
    classes, counts = np.unique(y, return_counts=True)
    alike: dict[str, list[int]] = {}
    for place, label in enumerate(classes):
        alike.setdefault(" ".join(label.split()).casefold(), []).append(place)
    pair = next((places for places in alike.values() if len(places) > 1), None)
    if pair is None:
        return []
    found = " and ".join(f"{str(classes[place])!r} ({counts[place]} of {len(y)} samples)" for place in pair)
    likely = str(classes[max(pair, key=lambda place: counts[place])])
    text = f"the label {name!r} holds {found}, which differ in capitals or blanks only: did you mean {likely!r}?"
    if max(map(len, classes)) == 1:
        return [Note("similar classes", text)]
    raise ValueError(f"{text[0].upper()}{text[1:]} Write the labels of a class in the same way.")


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
    alone = [str(label) for label in classes[counts == 1]]
    if alone:
        others = [str(label) for label in classes[counts > 1]]
        text = f"{listed(alone)} {stand(alone)} for one sample only, which cannot be both learned and tested"
        notes.append(Note("small classes", text))
        notes += [Note("similar classes", f"{a!r} is for one sample only: did you mean {b!r}?")
                  for a in alone if (b := _misspelt(a, others)) is not None]  # fmt: skip
    return notes


def _misspelt(label: str, others: list[str]) -> str | None:
    """The class that a label may be a misspelling of: 'tumuor' of 'tumour', but not 'type 1' of 'type 2'."""
    close = get_close_matches(label, others, n=1, cutoff=TYPING_ERROR)
    return close[0] if close and _digits(close[0]) == _digits(label) else None


def _digits(text: str) -> list[str]:
    return [char for char in text if char.isdigit()]


def _measurement_notes(y: np.ndarray, name: str) -> list[Note]:
    """Refuse whole numbers with too few samples each to be classes; a note where they leave gaps."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) <= FEW:
        return []
    found = f"the label {name!r} holds {len(classes)} whole numbers from {classes[0]} to {classes[-1]}"
    cure = "cut it into a few classes, such as low and high"
    if len(y) < SAMPLES_PER_CATEGORY * len(classes):
        raise ValueError(
            f"{found[0].upper()}{found[1:]} for {len(y)} samples, and looks like a measurement or an ID: {cure}, or "
            "give the column of the classes. If each number is a class, write it as text (c12 for 12)."
        )
    if classes[-1] - classes[0] + 1 == len(classes) and counts.min() > 1:
        return []  # as codes of classes are
    return [Note("measured label", f"{found}, each taken for a class: if it is a measurement, {cure}")]
