"""A selection to keep: which columns, in what order, found how and on what data. Plain JSON: nothing in it is run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dsofs.design.types import Floats
from dsofs.environment import environment
from dsofs.files import write_whole
from dsofs.records import read_record
from dsofs.tables.columns import listed, unique_names, values_of
from dsofs.tables.counts import TRANSFORMS, TransformRecord
from dsofs.tables.features import TableFeature
from dsofs.tables.labelled import LabelledTable
from dsofs.tables.readers import Frame, Note, read_frame
from dsofs.tables.readers.numbers import number

HEAD = {"schema": "dsofs selection", "schema_version": 2}  # 2: features name their group
TRUTHS = {"true": 1.0, "false": 0.0}  # text in some formats, numbers in others


@dataclass(frozen=True)
class SelectedFeature:
    """One feature of a selection: where it is found in a file, and what the method found."""

    rank: int
    name: str
    index: int  # in X
    score: float
    column: str  # of the file
    position: int  # of that column
    category: str | None = None  # of a one-hot column
    group: str | None = None  # of the features that were selected together
    fill: float | str | None = None  # for missing values
    coefficients: list[float] | None = None  # one per class, or one in all for two classes
    frequency: float | None = None  # how often it was chosen over resamples


AnyFeature = SelectedFeature | TableFeature


@dataclass(frozen=True)
class Selection:
    """Selected features, and what is needed to take them from another file.

    Examples
    --------
    ``Selection.load("selection.json").apply("other.csv")`` is the matrix of the selected columns.
    """

    features: list[SelectedFeature]
    method: str
    parameters: dict[str, Any]
    classes: list[str | int]
    intercept: list[float] | None
    target: str
    target_position: int | None
    n_columns: int
    named: bool
    data: dict[str, Any]  # file, format, sha256, n_samples, n_features, sample_column (None if none has their IDs)
    versions: dict[str, str] = field(default_factory=environment)
    transform: TransformRecord | None = None  # what the values of the file go through

    @property
    def names(self) -> list[str]:
        return [feature.name for feature in self.features]

    @property
    def indices(self) -> list[int]:
        return [feature.index for feature in self.features]

    @classmethod
    def of(cls, table: LabelledTable, selector: Any, method: str, parameters: Mapping[str, Any]) -> Selection:
        """What a fitted selector selected from the table."""
        chosen = np.flatnonzero(selector.get_support())
        chosen = chosen[np.argsort(selector.ranking_[chosen])]
        coef, intercept = getattr(selector, "coef_", None), getattr(selector, "intercept_", None)
        groups = table.shared_groups
        return cls(
            features=[
                SelectedFeature(
                    rank=rank,
                    index=int(index),
                    score=float(selector.scores_[index]),
                    coefficients=None if coef is None else np.atleast_2d(coef)[:, index].tolist(),
                    group=groups[index],
                    **asdict(table.features[index]),
                )
                for rank, index in enumerate(chosen, 1)
            ],
            method=method,
            parameters=dict(parameters),
            classes=np.unique(table.y).tolist(),
            intercept=None if intercept is None else np.ravel(intercept).tolist(),
            target=table.target,
            target_position=table.target_position,
            n_columns=table.n_columns,
            named=table.named,
            data={
                "file": table.file,
                "format": table.format,
                "sha256": table.sha256,
                "n_samples": int(table.X.shape[0]),
                "n_features": len(table.features),
                "sample_column": table.sample_column,
            },
        )

    def with_frequencies(self, frequencies: Sequence[float]) -> Selection:
        """The same, with how often each feature was chosen over resamples."""
        pairs = zip(self.features, frequencies, strict=True)
        return replace(self, features=[replace(feature, frequency=share) for feature, share in pairs])

    def to_json(self) -> str:
        content = {**HEAD, **asdict(self)}
        return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Selection:
        """Read a selection; a ValueError says what does not fit the schema."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
            return _selection(content)
        except (ValueError, RecursionError) as error:
            wrong = "it is not JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else error
            raise ValueError(
                f"{str(path)!r} is not a selection of dsofs: {wrong}. Give the selection.json that dsofs select wrote."
            ) from error

    def apply(self, data: str | os.PathLike[str] | Frame) -> Floats:
        """The selected columns of another file, in the order of their rank."""
        frame = data if isinstance(data, Frame) else read_frame(data)
        X = np.zeros((frame.n_samples, len(self.features)))
        for column, values in enumerate(self._columns(frame, self.features, "selected columns")):
            X[:, column] = values
        return X if self.transform is None else self._transformed(X, self.transform, frame)

    def unknown_categories(self, frame: Frame) -> list[Note]:
        """Notes on columns whose categories were selected together and which hold others in this file."""
        known: dict[str, list[SelectedFeature]] = {}
        for feature in self.features:
            if feature.category is not None and feature.group is not None:
                known.setdefault(feature.column, []).append(feature)
        notes = []
        for column, features in known.items():
            strange = np.flatnonzero(sum(self._columns(frame, features, "selected columns")) == 0)
            if len(strange):
                found = f"{column!r} holds what was not in the data of the selection, first in sample {strange[0] + 1}"
                where = f"{len(strange)} of {frame.n_samples} samples are 0 in all columns of its categories"
                notes.append(Note("unknown categories", f"{found}: {where}"))
        return notes

    def _transformed(self, X: Floats, transform: TransformRecord, frame: Frame) -> Floats:
        """What the transform of the whole file would hold of the selected columns ``X``."""
        if not transform.features:
            return np.asarray(TRANSFORMS[transform.name]().fit_transform(X))
        columns = self._columns(frame, transform.features, "columns that the length of a sample is taken over")
        squares = sum((factor * values) ** 2 for factor, values in zip(transform.factors, columns, strict=True))
        length = np.sqrt(np.where(squares > 0, squares, 1.0))  # a sample without any count stays as it is
        return X * np.array(transform.factors)[self.indices] / length[:, None]

    def _columns(self, frame: Frame, features: Sequence[AnyFeature], what: str) -> Iterator[Floats]:
        """The values of these features in the file; a column that is not there may be one of zeros."""
        for feature, place in zip(features, self._places(frame, features, what), strict=True):
            yield np.zeros(frame.n_samples) if place is None else _column(frame, place, feature)

    def _places(self, frame: Frame, features: Sequence[AnyFeature], what: str) -> list[int | None]:
        """Which column of the file each feature is: by name, or by position where one of the two has no names."""
        if self.named and frame.names is not None:
            where = {name: index for index, name in enumerate(unique_names(frame)[0])}
            absent = dict.fromkeys(feature.column for feature in features if feature.column not in where)
            # In svmlight any index that no sample has is a column of zeros.
            missing = [column for column in absent if not (frame.open_ended and column.isdecimal())]
            if missing:
                raise ValueError(
                    f"The file lacks {len(missing)} of the {what}: {listed(missing)}.{_why(frame, missing)}"
                )
            return [where.get(feature.column) for feature in features]
        return [self._shifted(feature.position, frame.n_columns) for feature in features]

    def _shifted(self, position: int, n_columns: int) -> int:
        """The position in a file that may lack the label."""
        if n_columns == self.n_columns:
            return position
        if self.target_position is not None and n_columns == self.n_columns - 1:
            return position - (position > self.target_position)
        raise ValueError(
            f"Columns cannot be found by position: the file has {n_columns}, and the data of the selection "
            f"{self.n_columns}. Give a file with names, or with the same columns."
        )


def _why(frame: Frame, missing: list[str]) -> str:
    """What may explain that columns are missing."""
    if any(np.isin(missing, values).all() for values in frame.text.values()):
        return " They are rows of the file, and one sample per row is needed: transpose it."
    close = [name for name in frame.names or () if name.casefold() == missing[0].casefold()]
    return f" It has {close[0]!r}: write names alike." if close else ""


def _column(frame: Frame, place: int, feature: AnyFeature) -> Floats:
    values = values_of(frame, place)
    if feature.category is not None:
        return _of_category(values, feature, feature.category)
    if values.dtype.kind in "OU":
        words = [str(value) for value in values if number(value.encode()) is None]
        word = f" ({words[0]!r})" if words else ""
        raise ValueError(
            f"Column {feature.column!r} must hold numbers, as in the data of the selection, and holds text{word}."
        )
    gaps = np.isnan(values)
    _refuse_gaps(gaps, feature)
    return np.where(gaps, np.float64(feature.fill or 0), values) if gaps.any() else values


def _of_category(values: np.ndarray, feature: AnyFeature, category: str) -> Floats:
    """Ones where the category is, which a column of numbers holds as a number."""
    is_text = values.dtype.kind in "OU"
    gaps = values == "" if is_text else np.isnan(values)
    _refuse_gaps(gaps, feature)
    found = values == (category if is_text else _as_number(category, values[~gaps], feature))
    return np.where(gaps, feature.fill == category, found).astype(np.float64)


def _as_number(category: str, present: Floats, feature: AnyFeature) -> float:
    value = TRUTHS.get(category.lower(), number(category.encode()))
    value = np.nan if value is None else value
    if np.isnan(value) and len(present):
        raise ValueError(
            f"Column {feature.column!r} must hold text, as in the data of the selection, and holds numbers "
            f"({present[0]:g})."
        )
    return value


def _refuse_gaps(gaps: np.ndarray, feature: AnyFeature) -> None:
    if gaps.any() and feature.fill is None:
        raise ValueError(
            f"Column {feature.column!r} has {int(gaps.sum())} missing values, and the data of the selection had "
            "none: fill them first."
        )


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is not a number")


def _check_transform(selection: Selection) -> None:
    transform = selection.transform
    if transform is None:
        return
    if transform.name not in TRANSFORMS:
        raise ValueError(f"transform.name must be one of {', '.join(TRANSFORMS)}, and is {transform.name!r}")
    n = len(transform.features)
    if len(transform.factors) != n or (n and max(selection.indices) >= n):
        raise ValueError("transform.factors must hold one number for each of the features")


def _selection(content: Any) -> Selection:
    if not isinstance(content, dict):
        raise ValueError("it must be an object")
    for name, value in HEAD.items():
        if name not in content:
            raise ValueError(f"{name} is missing")
        if content[name] != value:
            raise ValueError(f"{name} must be {value!r} for this version of dsofs to read it, and is {content[name]!r}")
    values = {name: value for name, value in content.items() if name not in HEAD}
    found = read_record(Selection, {"transform": None, **values})  # which older files do not have
    _check_transform(found)
    if not found.features:
        raise ValueError("features must be a list that is not empty")
    for place, feature in enumerate(found.features):
        if not 0 <= feature.position < found.n_columns or feature.position == found.target_position:
            raise ValueError(f"features[{place}].position must be below n_columns, and not the place of the target")
        if feature.index < 0:
            raise ValueError(f"features[{place}].index must not be negative, and is {feature.index}")
    return found
