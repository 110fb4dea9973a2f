"""Labels in a file of their own: joined with the samples by their IDs, or given to them in order."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from dsofs.design.types import Ints
from dsofs.files import readable
from dsofs.tables.columns import as_written, find_column, has, is_nameless, listed, stand, unique_names
from dsofs.tables.identifiers import SampleIds, certain_ids, is_named_like_id, possible_ids
from dsofs.tables.readers import Frame, Note, format_of, naming, read_frame
from dsofs.tables.readers.delimited import BLANKS, DELIMITERS, TAB, decode, logical_lines, split
from dsofs.tables.readers.numbers import cells_of
from dsofs.tables.readers.numpy_files import read_vector
from dsofs.tables.readers.source import InputFile, open_source

USUAL_LABELS = ("y", "Y", "label", "labels", "target")
MOST = 0.5  # of the samples
NEVER_IN_TEXT = b"\x1f"  # a delimiter that leaves lines whole


def default_label(frame: Frame) -> str | None:
    """Which of the labels that a format keeps apart from the columns is meant, if that is clear."""
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
    label = target if target is None or target in other.labels else find_column(other, target, "target")
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
                f"{stand(ids.repeated)} there more than once: correct them, or leave one of each out."
            )
    place = {str(name): row for row, name in enumerate(their.values) if name}
    lost = [str(name) for name in own.values if name not in place]
    if not lost:
        return np.array([place[str(name)] for name in own.values], dtype=np.intp)
    columns = f"{own.title} of {file!r} with {their.title} of {label_file!r} ({listed(map(str, their.values))})"
    header = " The first line of that file was taken for its header: give it one." if their.name in lost else ""
    raise ValueError(
        f"{len(lost)} of the {len(own.values)} samples {has(lost)} no label in {label_file!r}: {listed(lost)}. IDs "
        f"were compared in {columns}: write them alike, leave those samples out, or give a file of labels alone, in "
        f"the order of the samples.{header}"
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
    names = unique_names(frame)[0]
    if label is None and (label := default_label(frame)) is None:
        naming_samples = {each.column for each in certain_ids(frame, None) if not each.repeated}
        naming_samples |= set() if ids is None else {ids.column}
        columns = [i for i in range(frame.n_columns) if i not in naming_samples and not is_nameless(frame, i)]
        if len(columns) != 1:
            raise ValueError(f"{label_file!r} holds {len(columns)} columns: say which is the label (--target).")
        label = columns[0]
    if isinstance(label, str):
        return repr(label), frame.labels[label]
    return repr(names[label]), as_written(frame, label)


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
