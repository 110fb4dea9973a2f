"""The features: columns of numbers as they are, columns of categories one-hot, missing values filled or refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.impute import KNNImputer, SimpleImputer

from dsofs.design.linalg import dense, hstack
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.tables.columns import (
    MARKED_NUMBER,
    NUMBER_WITH_COMMA,
    SHOWN,
    are,
    is_nameless,
    listed,
    numbers_among,
    values_of,
)
from dsofs.tables.identifiers import (
    FEW,
    LITTLE_REPEATED,
    columns_in_row_order,
    counts_rows,
    is_named_like_batch,
    is_named_like_id,
    no_feature,
    shared,
)
from dsofs.tables.readers import Frame, Note
from dsofs.tables.readers.numbers import number

Fill = float | str
IMPUTES = ("none", "median", "most-frequent", "knn")


def make_imputer(impute: str) -> Any:
    """A column without any value is kept, as zeros."""
    if impute == "knn":
        return KNNImputer(keep_empty_features=True)
    return SimpleImputer(strategy=impute.replace("-", "_"), keep_empty_features=True)


def count_missing(numbers: AnyArray, columns: Ints) -> Ints:
    """How many values of each of these columns are missing."""
    if sparse.issparse(numbers):
        gaps = numbers.indices[np.isnan(numbers.data)]
        return np.bincount(gaps, minlength=numbers.shape[1])[columns]
    with np.errstate(all="ignore"):
        if not np.isnan(np.sum(numbers)):
            return np.zeros(len(columns), dtype=np.intp)
    return np.asarray(np.isnan(numbers).sum(axis=0)[columns])


def impute_numbers(values: AnyArray, impute: str) -> tuple[AnyArray, list[Fill | None]]:
    """The values without gaps, and for each column what fills a gap in another file.

    The neighbours of a sample are in the data given, so after "knn" another file's gaps are filled with the mean.
    """
    if impute == "keep":
        return values, [None] * values.shape[1]
    if impute == "knn":
        if sparse.issparse(values):
            raise ValueError(
                "Missing values of sparse data cannot be filled by 'knn': use 'median' or 'most-frequent'."
            )
        fills: Floats = np.nanmean(values, axis=0)
        return make_imputer(impute).fit_transform(values), fills.tolist()
    imputer = make_imputer(impute).fit(values)
    return imputer.transform(values), imputer.statistics_.tolist()


def impute_text(values: np.ndarray, impute: str) -> tuple[np.ndarray, str | None]:
    """Text without gaps, and what fills them: the most frequent category, however numbers are filled."""
    if impute in ("none", "keep") or not (values == "").any():
        return values, None
    present, counts = np.unique(values[values != ""], return_counts=True)
    if not len(present):
        return values, None
    fill = str(present[counts.argmax()])
    return np.where(values == "", fill, values), fill


@dataclass(frozen=True)
class TableFeature:
    """A column of X: the column of the file it comes from, the category it stands for, what fills its gaps."""

    name: str
    column: str
    position: int
    category: str | None = None
    fill: Fill | None = None


@dataclass(frozen=True)
class FeatureBlock:
    """Some columns of X: their numbers and what they are."""

    values: AnyArray
    features: list[TableFeature]


def find_blocks(
    frame: Frame, names: list[str], aside: set[int], kept: set[int], impute: str
) -> tuple[list[FeatureBlock], list[Note]]:
    """The columns that are features: numbers in one block, a block for each column of categories.

    Columns that are ``kept`` are always features, those ``aside`` never.
    """
    notes: list[Note] = []
    numeric = _numeric_features(frame, names, aside, kept, notes, impute)
    text = {
        index: values
        for index, values in frame.text.items()
        if index not in aside and _is_category(values, names[index], notes, index in kept)
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
        filled = f"{sum(gaps.values())} missing values in {len(gaps)} columns ({listed(gaps)}) were filled: {impute}"
        notes.append(Note("imputed", filled))
    values = frame.numbers if len(numeric) == frame.numbers.shape[1] else _columns(frame, numeric)
    values, fills = impute_numbers(values, impute) if missing.any() else (values, [None] * len(numeric))
    blocks = [
        FeatureBlock(
            values, [TableFeature(names[i], names[i], int(i), fill=f) for i, f in zip(numeric, fills, strict=True)]
        )
    ]
    categories = [one_hot(names[index], index, *impute_text(values, impute)) for index, values in text.items()]
    if categories:
        notes.append(_encoded(categories))
    return [*blocks, *categories], notes


def _columns(frame: Frame, wanted: Ints) -> AnyArray:
    return frame.numbers[:, np.searchsorted(frame.numeric, wanted)]


def _numeric_features(
    frame: Frame, names: list[str], aside: set[int], kept: set[int], notes: list[Note], impute: str
) -> Ints:
    """Columns of numbers, less identifiers, those that only count the rows and those that hold nothing."""
    found = np.array([index for index in frame.numeric if index not in aside], dtype=np.intp)
    nameless = [index for index in found if is_nameless(frame, index)]
    counting = [index for index in nameless if index not in kept and counts_rows(values_of(frame, index))]
    if counting:
        text = f"{listed(names[i] for i in counting)} only counts the rows and was left out"
        notes.append(Note("row numbers", text))
    missing = count_missing(frame.numbers, np.searchsorted(frame.numeric, found))
    droppable = found if impute not in ("none", "keep") else np.array(nameless, dtype=np.intp)
    empty = [index for index in found[missing == frame.n_samples] if index in droppable]
    if empty:
        notes.append(Note("empty columns", f"{listed(names[i] for i in empty)} {are(empty)} empty: left out"))
    suspected = {index for index in found if is_named_like_id(names[index])} | set(columns_in_row_order(frame, found))
    identifying = {
        index: note
        for index in sorted(suspected - kept - {*counting, *empty})
        if (note := no_feature(names[index], values_of(frame, index))) is not None
    }
    notes += identifying.values()
    return np.setdiff1d(found, [*counting, *empty, *identifying])


def _is_category(values: np.ndarray, name: str, notes: list[Note], kept: bool) -> bool:
    """Whether a column of text holds categories; refuses numbers with commas, and numbers mixed with text."""
    refuse_commas(values, name)
    if not kept:
        refuse_marks(values, name)
    if not kept and (note := no_feature(name, values)) is not None:
        notes.append(note)
        return False
    refuse_mixed(values, name)
    return True


def _encoded(blocks: list[FeatureBlock]) -> Note:
    """What became of columns of text: the page and the summary say so."""
    found = [f"{block.features[0].column!r} ({len(block.features)} categories)" for block in blocks]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    verb = "is text and was" if len(found) == 1 else "are text and were"
    text = f"{', '.join(found[:SHOWN])}{more} {verb} encoded, a column of zeros and ones for each category"
    return Note("categories", f"{text}; those of one column are one group")


def refuse_commas(values: np.ndarray, name: str) -> None:
    comma = next((str(value) for value in np.unique(values) if NUMBER_WITH_COMMA.fullmatch(value)), None)
    if comma is not None:
        raise ValueError(
            f"Column {name!r} holds {comma!r}, a decimal comma or one between thousands: write numbers with a point "
            "and nothing between thousands, or leave it out (--drop)."
        )


def refuse_marks(values: np.ndarray, name: str) -> None:
    present = [str(value) for value in np.unique(values) if value]
    if present and all(MARKED_NUMBER.fullmatch(value) for value in present):
        raise ValueError(
            f"Column {name!r} holds {present[0]!r}, which is text: write numbers without percent signs, and with "
            f"nothing between thousands, or leave it out (--drop); --keep {name!r} makes it categories."
        )


def refuse_mixed(values: np.ndarray, name: str) -> None:
    if not numbers_among(values):
        return
    words = [str(value) for value in np.unique(values[values != ""]) if number(value.encode()) is None]
    if words:
        sample = int(np.flatnonzero(values == words[0])[0]) + 1
        raise ValueError(
            f"Column {name!r} mixes numbers and text ({words[0]!r} in sample {sample}): correct it, or leave it "
            "out (--drop)."
        )


def one_hot(name: str, index: int, values: np.ndarray, fill: str | None) -> FeatureBlock:
    categories = [category for category in np.unique(values) if category]
    features = [TableFeature(f"{name}={category}", name, index, str(category), fill) for category in categories]
    return FeatureBlock((values[:, None] == np.array(categories, dtype=str)).astype(np.float64), features)


def joined(blocks: list[FeatureBlock]) -> tuple[AnyArray, list[TableFeature]]:
    """All blocks side by side, in the order of the columns in the file."""
    if len(blocks) == 1:
        return blocks[0].values, blocks[0].features
    features = [feature for block in blocks for feature in block.features]
    order = np.argsort([feature.position for feature in features], kind="stable")
    return hstack([block.values for block in blocks])[:, order], [features[index] for index in order]


def refuse_infinite(X: AnyArray, features: list[TableFeature]) -> None:
    infinite = np.flatnonzero(np.isinf(extremes(X)).any(axis=0))
    if len(infinite):
        sample = int(np.flatnonzero(np.isinf(np.ravel(dense(X[:, [infinite[0]]]))))[0]) + 1
        names = [features[index].name for index in infinite]
        raise ValueError(
            f"{listed(names)} {'holds' if len(names) == 1 else 'hold'} infinite values, first in sample {sample}: a "
            "logarithm of 0 or a division by 0? Correct them, write NA and fill them (--impute), or leave out such "
            "columns (--drop)."
        )


def suspicious(X: AnyArray, features: list[TableFeature], leaking: Bools, target: str) -> list[Note]:
    """Notes on constant columns, and on columns that give the label away."""
    lowest, highest = extremes(X)
    constant = lowest == highest
    notes = []
    batches = list(dict.fromkeys(feature.column for feature in features if is_named_like_batch(feature.column)))
    if batches:
        text = f"{listed(batches)} {are(batches)} named like a batch: adjust for it (--covariates), or leave it out"
        notes.append(Note("batches", f"{text} (--drop), if it should not be a feature"))
    if constant.any():
        found = [features[index].name for index in np.flatnonzero(constant)]
        notes.append(Note("constant columns", f"{listed(found)} {are(found)} constant and ranked last"))
    columns = list(dict.fromkeys(features[index].column for index in np.flatnonzero(leaking)))
    if columns:
        verb, those = ("gives", "it") if len(columns) == 1 else ("give", "them")
        text = f"{listed(columns)} {verb} the label {target!r} away, since each value occurs in one class only"
        notes.append(Note("leaking columns", f"{text}: leave {those} out (--drop) unless known before the class is"))
    return notes


def copied_samples(X: AnyArray) -> list[Note]:
    """A note on samples that agree in all features, if there are so many that this is no chance.

    Counts and codes of few features agree by chance; those of more features than samples, and measurements, do not.
    """
    first = first_alike(X)
    copies = np.flatnonzero(first != np.arange(len(first)))
    if not len(copies) or (X.shape[1] <= X.shape[0] and n_measured(X) <= FEW):
        return []
    found = f"{len(copies)} {'sample repeats' if len(copies) == 1 else 'samples repeat'} the values of another one"
    which = f"in all features, as sample {copies[0] + 1} those of sample {first[copies[0]] + 1}"
    text = f"{found} {which}: leave out copies; if such samples belong together, say so (--sample-groups)"
    repeats = shared(first) > LITTLE_REPEATED
    return [Note("copies", text, groups="values in all features" if repeats else None)]


def first_alike(X: AnyArray) -> Ints:
    """For each sample the first one with the same values."""
    firsts: dict[int, int] = {}
    X = X.tocsr() if sparse.issparse(X) else X  # imputing makes CSC of it
    return np.array([firsts.setdefault(_hash_of_row(X, row), row) for row in range(X.shape[0])], dtype=np.intp)


def _hash_of_row(X: AnyArray, row: int) -> int:
    if not sparse.issparse(X):
        return hash(X[row].tobytes())
    stored = slice(X.indptr[row], X.indptr[row + 1])
    return hash((X.indices[stored].tobytes(), X.data[stored].tobytes()))


def n_measured(X: AnyArray) -> int:
    """How many features have values with fractions."""
    whole = X.rint() if sparse.issparse(X) else np.rint(X)
    return int(np.count_nonzero(dense((whole != X).max(axis=0))))


def gives_label_away(X: AnyArray, y: np.ndarray, features: list[TableFeature]) -> Bools:
    """Features that are the label under another name, or categories of a column that are all within one class."""
    leaking = equals_label(X, y)
    columns = np.array([feature.column for feature in features])
    categories = np.array([index for index, each in enumerate(features) if each.category is not None], dtype=np.intp)
    mixed = [index for index in categories if len(np.unique(y[np.ravel(dense(X[:, [index]])) != 0])) > 1]
    leaking[categories] |= ~np.isin(columns[categories], columns[mixed])
    return leaking


def extremes(X: AnyArray) -> tuple[Floats, Floats]:
    """The least and the largest value of each column."""
    return np.ravel(dense(X.min(axis=0))), np.ravel(dense(X.max(axis=0)))


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
