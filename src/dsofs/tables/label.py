"""The label as classes, from the file or from one of its own; values that are not classes are refused.

Labels in a file of their own are joined with the samples by their IDs, or given to them in order.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path

import numpy as np

from dsofs.design.types import Ints
from dsofs.files import readable
from dsofs.tables.columns import are, as_written, find_kept, have, is_nameless, listed, name_of, refuse_missing
from dsofs.tables.identifiers import (
    FEW,
    SAMPLES_PER_CATEGORY,
    SampleIds,
    certain_ids,
    is_named_like_id,
    possible_ids,
    sample_ids,
)
from dsofs.tables.readers import Frame, Note, format_of, naming, read_frame
from dsofs.tables.readers.delimited import BLANKS, DELIMITERS, TAB, decode, logical_lines, split
from dsofs.tables.readers.numbers import LARGEST_EXACT, cells_of
from dsofs.tables.readers.numpy_files import read_vector
from dsofs.tables.readers.source import InputFile, open_source

TYPING_ERROR = 0.8  # similarity (difflib) of two names from which on one may be the other, misspelt
USUAL_LABELS = ("y", "Y", "label", "labels", "target")
MOST = 0.5  # of the samples
NEVER_IN_TEXT = b"\x1f"  # a delimiter that leaves lines whole


@dataclass(frozen=True)
class FoundLabel:
    """The labels as they were found, where, and the IDs of their samples."""

    values: np.ndarray
    name: str
    position: int | None  # column of the file; None if they are elsewhere
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
    if frame.open_ended and target not in frame.labels:
        raise ValueError(
            f"The label of an {frame.format} file is the first number of each line, and {target!r} would be a feature: "
            "leave out --target, or give the labels in a file of their own (--target-file)."
        )
    column = find_kept(frame, target, "target")
    position = column if isinstance(column, int) else None
    name = str(target) if position is None or not frame.names else frame.names[position]
    return FoundLabel(as_written(frame, column), name, position, sample_ids(frame, column))


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
        text = f"{listed(alone)} {are(alone)} for one sample only, which cannot be both learned and tested"
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


def default_label(frame: Frame) -> str | None:
    """Which of the labels that are not columns of the file is meant, if that is clear."""
    known = [name for name in frame.labels if not is_named_like_id(name)]
    usual = [name for name in USUAL_LABELS if name in known]
    return usual[0] if usual else known[0] if len(known) == 1 else None


def labels_for(
    frame: Frame, file: str, path: Path, target: str | int | None
) -> tuple[np.ndarray, SampleIds | None, list[Note]]:
    """The label of each sample of the frame read from ``file``; and its ID, where the labels were joined by IDs."""
    label_file = readable(path.name)
    if target is None and path.is_file():
        with naming(path):
            bare = _bare_labels(open_source(path), frame.n_samples)
        if bare is not None:
            return _in_order(bare, frame.n_samples, label_file, "it holds labels alone")
    other = read_frame(path)
    label = None if target is None else find_kept(other, target, "target")
    theirs = possible_ids(other, label)
    pair = matching_ids(possible_ids(frame, None), theirs)
    _refuse_features_as_rows(frame, theirs, pair, file, label_file)
    title, labels = _label_column(other, label, None if pair is None else pair[1], label_file)
    if pair is None:
        lacking = file if not certain_ids(frame, None) else label_file
        reason = f"{lacking!r} has no column of sample IDs; the label is {title}"
        return _in_order(labels, frame.n_samples, label_file, reason)
    own, their = pair
    rows = _rows_of(own, their, file, label_file)
    text = f"labels were joined by sample ID: {own.title} of {file!r} with {their.title} of {label_file!r}"
    notes = [Note("sample IDs", f"{text}, where the label is {title}")]
    strange = their.values[~np.isin(their.values, own.values)]
    if len(strange):
        found = f"labels of {label_file!r} without a sample in {file!r} were dropped"
        notes.append(Note("labels without a sample", f"{len(strange)} {found}: {listed(map(str, strange))}"))
    return labels[rows], own, notes


def _refuse_features_as_rows(
    frame: Frame, theirs: list[SampleIds], pair: tuple[SampleIds, SampleIds] | None, file: str, label_file: str
) -> None:
    """Refuse a table whose columns, not rows, are the samples of the file of labels."""
    in_rows = 0.0 if pair is None else float(np.isin(pair[1].values, pair[0].values).mean())
    for ids in theirs:
        columns = ids.values[np.isin(ids.values, frame.names or ())]
        if len(columns) > MOST * len(ids.values) and len(columns) > in_rows * len(ids.values):
            raise ValueError(
                f"The samples of {label_file!r} are the columns of {file!r} ({listed(map(str, columns))}), which has "
                "its features in rows. One sample per row is needed: transpose the table."
            )


def matching_ids(ours: list[SampleIds], theirs: list[SampleIds]) -> tuple[SampleIds, SampleIds] | None:
    """The columns of two files whose IDs match best; None if one of the files has no IDs.

    Columns that can be little else than IDs are matched however few are shared, so that what does not match is refused
    and not paired by position; columns of whole numbers only where all are found. Two that only number the rows say
    no more than the position.
    """
    pairs = []
    for own, their in product(ours, theirs):
        share = float(np.isin(own.values, their.values).mean())
        certain = own.certain and their.certain
        if certain or (share == 1 and not (own.counts_rows and their.counts_rows)):
            differ = not own.repeated and not their.repeated
            pairs.append(((share, differ, certain, own.name == their.name), own, their))
    return max(pairs, key=lambda pair: pair[0])[1:] if pairs else None


def _rows_of(own: SampleIds, their: SampleIds, file: str, label_file: str) -> Ints:
    """Where in the file of labels each sample stands; refuses IDs that repeat, and samples without a label."""
    for ids, where in ((own, file), (their, label_file)):
        if ids.repeated:
            raise ValueError(
                f"The sample IDs in {ids.title} of {where!r} must differ, and {listed(ids.repeated)} "
                f"{are(ids.repeated)} there more than once: correct them, or leave one of each out."
            )
    place = {str(name): row for row, name in enumerate(their.values) if name}
    lost = [str(name) for name in own.values if name not in place]
    if not lost:
        return np.array([place[str(name)] for name in own.values], dtype=np.intp)
    columns = f"{own.title} of {file!r} with {their.title} of {label_file!r} ({listed(map(str, their.values))})"
    header = " The first line of that file was taken for its header: give it one." if their.name in lost else ""
    raise ValueError(
        f"{len(lost)} of the {len(own.values)} samples {have(lost)} no label in {label_file!r}: {listed(lost)}. "
        f"IDs were compared in {columns}: write them alike, leave those samples out, or give a file of labels alone, "
        f"in the order of the samples.{header}"
    )


def _in_order(
    labels: np.ndarray, n_samples: int, label_file: str, reason: str
) -> tuple[np.ndarray, SampleIds | None, list[Note]]:
    if len(labels) != n_samples:
        raise ValueError(
            f"{label_file!r} holds {len(labels)} labels, and there are {n_samples} samples: give one for each, or "
            "sample IDs in both files."
        )
    text = f"labels of {label_file!r} were given to the samples in their order, since {reason}"
    return labels, None, [Note("paired by position", text)]


def _label_column(
    frame: Frame, label: str | int | None, ids: SampleIds | None, label_file: str
) -> tuple[str, np.ndarray]:
    """The labels, and what their column is called: the one given, else the only one that names no samples."""
    if label is None and (label := default_label(frame)) is None:
        naming_samples = {each.column for each in certain_ids(frame, None) if not each.repeated}
        naming_samples |= set() if ids is None else {ids.column}
        columns = [i for i in range(frame.n_columns) if i not in naming_samples and not is_nameless(frame, i)]
        if len(columns) != 1:
            raise ValueError(f"{label_file!r} holds {len(columns)} columns: say which is the label (--target).")
        label = columns[0]
    return repr(name_of(frame, label)), as_written(frame, label)


def _bare_labels(source: InputFile, n_samples: int) -> np.ndarray | None:
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
    cells = labels[1:] if len(labels) == n_samples + 1 else labels
    values, exact = cells_of(cells)
    return values if exact is None else exact


def _is_table(lines: list[bytes], delimiter: bytes) -> bool:
    """Whether a delimiter cuts every line into the same number of cells; a header of R lacks that of the row names."""
    first, *others = [split(line, delimiter) for line in lines] or [[]]
    n_columns = len(others[0]) if others else 1
    if n_columns == 1 or any(len(cells) != n_columns for cells in others):
        return False
    has_ids = any(len(set(column)) == len(others) for column in zip(*others, strict=True))
    if delimiter == BLANKS and not has_ids:  # a blank may also be part of a label: high risk, low risk
        return False
    return len(first) == n_columns or (delimiter in (BLANKS, TAB) and len(first) == n_columns - 1)
