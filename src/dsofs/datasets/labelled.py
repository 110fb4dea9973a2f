"""A user's file as samples, features and classes; what is odd about it is noted, what cannot be used is refused."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import file_digest, sha256
from pathlib import Path

import numpy as np
from scipy import sparse

from dsofs.arrays.types import AnyArray, Bools, Floats, Ints
from dsofs.datasets.imputing import Fill, count_missing, impute_numbers, impute_text
from dsofs.datasets.readers import Frame, Note, read_frame
from dsofs.datasets.readers.delimited import decode, logical_lines, sniff_delimiter, split
from dsofs.datasets.readers.numbers import number
from dsofs.datasets.readers.source import open_source

SHOWN = 5  # names listed in a message
USUAL_LABELS = ("y", "Y", "label", "labels", "target")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


@dataclass(frozen=True)
class Feature:
    """A column of X: the column of the file it comes from, the category it stands for, what fills its gaps."""

    name: str
    column: str
    position: int
    category: str | None = None
    fill: Fill | None = None


@dataclass(frozen=True)
class LabelledTable:
    """Samples x features, the class of each sample, and where it all came from."""

    X: AnyArray  # float, dense or CSR
    y: np.ndarray  # whole numbers or text
    features: tuple[Feature, ...]
    target: str
    target_position: int | None  # column of the file that holds the label; None if it lies elsewhere
    n_columns: int  # of the file
    named: bool  # whether the file names its columns
    feature_groups: np.ndarray | None  # one label per feature, where some belong together
    sample_groups: np.ndarray | None  # one label per sample, where some belong together
    notes: tuple[Note, ...]
    file: str
    format: str
    sha256: str

    @property
    def names(self) -> list[str]:
        return [feature.name for feature in self.features]


@dataclass(frozen=True)
class _Block:
    """Some columns of X: their numbers and what they are."""

    values: AnyArray
    features: list[Feature]


def read_labelled(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    target_file: str | os.PathLike[str] | None = None,
    drop: Sequence[str | int] = (),
    feature_groups: str | os.PathLike[str] | None = None,
    sample_groups: str | int | None = None,
    impute: str = "none",
) -> LabelledTable:
    """Read a table of samples and their classes from a file of any known format.

    Parameters
    ----------
    path : path
        The file; its content tells the format.
    target : str, int or None, default=None
        Which column holds the label: its name, or else its position (negative from the end). None where the file, or
        ``target_file``, holds just one.
    target_file : path or None, default=None
        Another file with the labels, in the order of the samples.
    drop : sequence of str or int, default=()
        Columns to leave out.
    feature_groups : path or None, default=None
        A text file of lines ``feature, group``.
    sample_groups : str, int or None, default=None
        A column that tells which samples belong together (a patient, a batch). It is no feature.
    impute : {"none", "median", "most-frequent", "knn", "keep"}, default="none"
        How missing values are filled; they are refused with "none", and left as NaN with "keep".

    Returns
    -------
    LabelledTable

    Raises
    ------
    ValueError
        In one sentence, what is wrong and what to do.
    """
    path = Path(path)
    frame = read_frame(path)
    names, renamed = unique_names(frame)
    notes = [*frame.notes, *renamed]
    label, target_name, target_position = _find_label(frame, target, target_file)
    y, label_notes = clean_label(label, target_name)
    groups, groups_position = _find_groups(frame, sample_groups)
    left_out = {find_column(frame, column, "drop") for column in drop}
    aside = left_out | {index for index in (target_position, groups_position) if index is not None}
    blocks, block_notes = _blocks(frame, names, aside, impute)
    X, features = _joined(blocks)
    if not features:
        raise ValueError(f"No column of {path.name!r} is left to select from.")
    return LabelledTable(
        X=X,
        y=y,
        features=tuple(features),
        target=target_name,
        target_position=target_position,
        n_columns=frame.n_columns,
        named=frame.names is not None,
        feature_groups=_feature_groups(features, feature_groups),
        sample_groups=groups,
        notes=(*notes, *label_notes, *block_notes, *_suspicious(X, y, features, target_name)),
        file=path.name,
        format=frame.format,
        sha256=hash_of(path),
    )


def hash_of(path: Path) -> str:
    """SHA-256 of a file; of a folder, of the names and hashes of its files."""
    if path.is_dir():
        files = (file for file in sorted(path.rglob("*")) if file.is_file())
        lines = [f"{hash_of(file)}  {file.relative_to(path).as_posix()}\n" for file in files]
        return sha256("".join(lines).encode()).hexdigest()
    with open(path, "rb") as content:
        return file_digest(content, "sha256").hexdigest()


def unique_names(frame: Frame) -> tuple[list[str], list[Note]]:
    """A name for each column; the second ``a`` is called ``a.1``, and so on."""
    if frame.names is None:
        return [f"feature_{index}" for index in range(frame.n_columns)], []
    taken = Counter(name for name in frame.names if name)
    repeated = [name for name, count in taken.items() if count > 1]
    names, seen = [], set()
    for index, name in enumerate(frame.names):
        name = unique = name or f"column_{index}"
        suffix = 0
        while unique in seen or (suffix and unique in taken):
            suffix += 1
            unique = f"{name}.{suffix}"
        seen.add(unique)
        names.append(unique)
    if not repeated:
        return names, []
    second = repr(f"{repeated[0]}.1")
    text = f"{_listed(repeated)} {_stand(repeated)} in the header more than once: the second is called {second}"
    return names, [Note("duplicate names", text)]


def find_column(frame: Frame, wanted: str | int, option: str) -> int:
    """Which column is meant by a name or, where none has that name, a position."""
    matching = [index for index, name in enumerate(frame.names or ()) if name == wanted]
    if len(matching) > 1:
        raise ValueError(
            f"{len(matching)} columns are called {wanted!r}, so {option!r} is ambiguous: give its position, one of "
            f"{matching[:SHOWN]}."
        )
    if matching:
        return matching[0]
    position = _position(wanted)
    if position is not None and -frame.n_columns <= position < frame.n_columns:
        return position % frame.n_columns
    raise ValueError(_no_such_column(frame, wanted, option))


def _position(wanted: str | int) -> int | None:
    try:
        return int(wanted)
    except ValueError:
        return None


def _no_such_column(frame: Frame, wanted: str | int, option: str) -> str:
    known = [*frame.labels, *(frame.names or ())]
    if frame.n_columns == 1:
        known_text = "only one was found: put commas, tabs, semicolons, | or blanks between the columns"
    elif not known:
        known_text = f"the file names no columns: give a position from 0 to {frame.n_columns - 1}"
    else:
        close = get_close_matches(str(wanted), known, n=1)
        guess = f"did you mean {close[0]!r}? " if close else ""
        known_text = f"{guess}there are {len(known)}: {_listed(known)}"
    return f"There is no column {wanted!r} for {option!r}; {known_text}."


def values_of(frame: Frame, index: int) -> np.ndarray:
    """The values of a column of the file."""
    if index in frame.text:
        return frame.text[index]
    column = frame.numbers[:, [int(np.searchsorted(frame.numeric, index))]]
    return np.ravel(column.toarray() if sparse.issparse(column) else column)


def _find_label(
    frame: Frame, target: str | int | None, target_file: str | os.PathLike[str] | None
) -> tuple[np.ndarray, str, int | None]:
    """The labels, what they are called, and the column of the file they take up."""
    if target_file is not None:
        return read_label_file(Path(target_file), target, frame.n_samples), Path(target_file).name, None
    if target is None:
        usual = [name for name in USUAL_LABELS if name in frame.labels]
        if not usual and len(frame.labels) != 1:
            kept = f" ({_listed(frame.labels)})" if frame.labels else ""
            raise ValueError(f"Say which column{kept} holds the label (--target), or which file (--target-file).")
        target = (usual or list(frame.labels))[0]
    if target in frame.labels:
        return frame.labels[str(target)], str(target), None
    index = find_column(frame, target, "target")
    return values_of(frame, index), frame.names[index] if frame.names else str(target), index


def _find_groups(frame: Frame, column: str | int | None) -> tuple[np.ndarray | None, int | None]:
    if column is None:
        return None, None
    if column in frame.labels:
        return frame.labels[str(column)], None
    index = find_column(frame, column, "sample_groups")
    return values_of(frame, index), index


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
    columns = [index for index in range(frame.n_columns) if not _is_identifier(frame.text.get(index))]
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
        notes.append(Note("small classes", f"{_listed(map(str, alone))} {_stand(alone)} for one sample only"))
    return notes


def _blocks(frame: Frame, names: list[str], aside: set[int], impute: str) -> tuple[list[_Block], list[Note]]:
    """The columns that are features: numbers in one block, a block for each column of categories."""
    notes: list[Note] = []
    numeric = _numeric_features(frame, names, aside, notes, impute)
    text = {
        index: values
        for index, values in frame.text.items()
        if index not in aside and _is_category(values, names[index], notes)
    }
    missing = count_missing(frame.numbers, np.searchsorted(frame.numeric, numeric))
    gaps = {names[index]: int(count) for index, count in zip(numeric, missing, strict=True) if count}
    gaps |= {names[index]: int(np.sum(values == "")) for index, values in text.items() if (values == "").any()}
    if gaps and impute == "none":
        where = ", ".join(f"{name!r} {count}" for name, count in list(gaps.items())[:SHOWN])
        raise ValueError(
            f"{sum(gaps.values())} values are missing in {len(gaps)} columns ({where}{', ...' * (len(gaps) > SHOWN)}): "
            "fill them (--impute median, most-frequent or knn), or leave those columns out (--drop)."
        )
    if gaps and impute != "keep":
        filled = f"{sum(gaps.values())} missing values in {len(gaps)} columns ({_listed(gaps)}) were filled: {impute}"
        notes.append(Note("imputed", filled))
    values = frame.numbers if len(numeric) == frame.numbers.shape[1] else _columns(frame, numeric)
    values, fills = impute_numbers(values, impute) if missing.any() else (values, [None] * len(numeric))
    blocks = [
        _Block(values, [Feature(names[i], names[i], int(i), fill=f) for i, f in zip(numeric, fills, strict=True)])
    ]
    blocks += [_one_hot(names[index], index, *impute_text(values, impute)) for index, values in text.items()]
    return blocks, notes


def _columns(frame: Frame, wanted: Ints) -> AnyArray:
    return frame.numbers[:, np.searchsorted(frame.numeric, wanted)]


def _numeric_features(frame: Frame, names: list[str], aside: set[int], notes: list[Note], impute: str) -> Ints:
    """Columns of numbers, less those that only count the rows or hold nothing."""
    kept = np.array([index for index in frame.numeric if index not in aside], dtype=np.intp)
    nameless = [] if frame.names is None else [i for i in kept if frame.names[i] in ("", "Unnamed: 0")]
    counting = [index for index in nameless if _counts_rows(values_of(frame, index))]
    if counting:
        text = f"{_listed(names[i] for i in counting)} only counts the rows and was left out"
        notes.append(Note("row numbers", text))
    missing = count_missing(frame.numbers, np.searchsorted(frame.numeric, kept))
    droppable = kept if impute not in ("none", "keep") else np.array(nameless, dtype=np.intp)
    empty = [index for index in kept[missing == frame.n_samples] if index in droppable]
    if empty:
        notes.append(Note("empty columns", f"{_listed(names[i] for i in empty)} {_stand(empty)} empty: left out"))
    return np.setdiff1d(kept, [*counting, *empty])


def _counts_rows(values: Floats) -> bool:
    rows = np.arange(len(values))
    return np.array_equal(values, rows) or np.array_equal(values, rows + 1)


def _is_category(values: np.ndarray, name: str, notes: list[Note]) -> bool:
    """Whether a column of text holds categories; refuses one that mixes numbers and text."""
    if _is_identifier(values):
        notes.append(Note("identifier", f"{name!r} has another text for each sample, an identifier: left out"))
        return False
    _refuse_mixed(values, name)
    return True


def _is_identifier(values: np.ndarray | None) -> bool:
    return values is not None and len(np.unique(values)) == len(values) and _numbers_among(values) == 0


def _numbers_among(values: np.ndarray) -> int:
    return sum(number(value.encode()) is not None for value in np.unique(values) if value)


def _refuse_mixed(values: np.ndarray, name: str) -> None:
    present = np.unique(values[values != ""])
    if not _numbers_among(values):
        comma = next((str(value) for value in present if DECIMAL_COMMA.fullmatch(value)), None)
        if comma is not None:
            raise ValueError(f"Column {name!r} holds {comma!r}, a decimal comma: write numbers with a point.")
        return
    words = [str(value) for value in present if number(value.encode()) is None]
    if words:
        sample = int(np.flatnonzero(values == words[0])[0]) + 1
        raise ValueError(
            f"Column {name!r} mixes numbers and text ({words[0]!r} in sample {sample}): correct it, or leave it "
            "out (--drop)."
        )


def _one_hot(name: str, index: int, values: np.ndarray, fill: str | None) -> _Block:
    categories = [category for category in np.unique(values) if category]
    features = [Feature(f"{name}={category}", name, index, str(category), fill) for category in categories]
    return _Block((values[:, None] == np.array(categories, dtype=str)).astype(np.float64), features)


def _joined(blocks: list[_Block]) -> tuple[AnyArray, list[Feature]]:
    """All blocks side by side, in the order of the columns in the file."""
    if len(blocks) == 1:
        return blocks[0].values, blocks[0].features
    features = [feature for block in blocks for feature in block.features]
    order = np.argsort([feature.position for feature in features], kind="stable")
    parts = [block.values for block in blocks]
    X = sparse.hstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.hstack(parts)
    return X[:, order], [features[index] for index in order]


def _feature_groups(features: list[Feature], path: str | os.PathLike[str] | None) -> np.ndarray | None:
    """The group of each feature: as the file says, else its block of categories, else its own."""
    given = {} if path is None else read_groups(Path(path))
    known = {feature.name for feature in features} | {feature.column for feature in features}
    strangers = [name for name in given if name not in known]
    if strangers:
        raise ValueError(
            f"The file of 'feature_groups' names {_listed(strangers)}, which {_stand(strangers)} no feature."
        )
    if not given and all(feature.category is None for feature in features):
        return None
    return np.array(
        [
            f"group {given[key]}" if (key := f.name if f.name in given else f.column) in given else f"column {f.column}"
            for f in features
        ]
    )


def read_groups(path: Path) -> dict[str, str]:
    """Lines ``feature, group``; a header of these two words is passed over."""
    with open(path, encoding="utf-8", newline="") as file:
        try:
            text = file.read()
        except UnicodeDecodeError as error:
            raise ValueError(f"{path.name!r} is no text in UTF-8: give lines 'feature,group'.") from error
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    odd = next((row for row in rows if len(row) != 2), None)
    if odd is not None or not rows:
        raise ValueError(f"{path.name!r} must have lines 'feature,group'. Got {odd!r} instead.")
    cells = [(name.strip(), group.strip()) for name, group in rows]
    return dict(cells[1:] if cells[0][1].lower() == "group" else cells)


def _suspicious(X: AnyArray, y: np.ndarray, features: list[Feature], target: str) -> list[Note]:
    """Columns that say nothing, and columns that say it all."""
    lowest, highest = extremes(X)
    constant = lowest == highest
    notes = []
    if constant.any():
        found = [features[index].name for index in np.flatnonzero(constant)]
        notes.append(Note("constant columns", f"{_listed(found)} {_stand(found)} constant and ranked last"))
    equal = [features[index].name for index in np.flatnonzero(equals_label(X, y) & ~constant)]
    if equal:
        text = (
            f"{_listed(equal)} {_stand(equal)} the label {target!r} under another name: drop it if it leaks the answer"
        )
        notes.append(Note("leaking columns", text))
    return notes


def extremes(X: AnyArray) -> tuple[Floats, Floats]:
    """The least and the largest value of each column."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if sparse.issparse(X) else (low, high)


def equals_label(X: AnyArray, y: np.ndarray) -> Bools:
    """Whether a column has one value for each class, and another for each other."""
    classes = np.unique(y)
    equal = np.ones(X.shape[1], dtype=bool)
    values = np.empty((len(classes), X.shape[1]))
    for place, label in enumerate(classes):
        low, high = extremes(X[np.flatnonzero(y == label)])
        equal &= low == high
        values[place] = low
        if not equal.any():
            return equal
    candidates = np.flatnonzero(equal)
    equal[candidates] = [len(np.unique(values[:, index])) == len(classes) for index in candidates]
    return equal


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(map(repr, found[:SHOWN])) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def _stand(names: Sequence[object] | np.ndarray) -> str:
    return "is" if len(names) == 1 else "are"
