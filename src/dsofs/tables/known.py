"""What the user knows about the columns: groups, covariates, features always or never selected, costs, weights."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dsofs.design.linalg import hstack
from dsofs.design.types import AnyArray, Floats
from dsofs.tables.columns import Column, are, as_written, find_kept, listed, name_of, refuse_missing, values_of
from dsofs.tables.features import (
    FeatureBlock,
    TableFeature,
    impute_numbers,
    impute_text,
    one_hot,
    refuse_commas,
    refuse_mixed,
)
from dsofs.tables.identifiers import FEW
from dsofs.tables.label import FoundLabel
from dsofs.tables.readers import Frame, Note
from dsofs.tables.readers.numbers import number

Roles = dict[str, list[Column]]


@dataclass(frozen=True)
class KnownColumns:
    """What the user knows about columns of X, and the weights of the samples."""

    covariates: dict[str, list[int]] = field(default_factory=dict)  # which come after the features
    covariate_names: list[str] = field(default_factory=list)  # of these columns
    include: list[int] = field(default_factory=list)
    never: list[int] = field(default_factory=list)
    costs: dict[int, float] = field(default_factory=dict)
    sample_weight: Floats | None = None
    record: dict[str, Any] = field(default_factory=dict)  # the same by the names in the file


def find_roles(frame: Frame, label: FoundLabel, drop: set[int], wanted: Mapping[str, Sequence[str | int]]) -> Roles:
    """The columns that each option means; none of them may be the label, left out, or meant by another option."""
    taken: dict[Column, str] = dict.fromkeys(drop, "'drop'")
    taken[label.name if label.position is None else label.position] = "the label"
    roles: Roles = {}
    for option, columns in wanted.items():
        roles[option] = list(dict.fromkeys(find_kept(frame, column, option) for column in columns))
        for column in roles[option]:
            if column in taken:
                raise ValueError(
                    f"Column {name_of(frame, column)!r} is both {taken[column]} and {option!r}: choose one."
                )
            taken[column] = repr(option)
    return roles


def positions(columns: Iterable[Column]) -> set[int]:
    """The positions of those that are columns of the file."""
    return {column for column in columns if isinstance(column, int)}


def known_columns(
    frame: Frame, roles: Roles, features: list[TableFeature], blocks: list[FeatureBlock], costs: Mapping[str, float]
) -> KnownColumns:
    """Where they are in X, whose features are followed by the ``blocks`` of the covariates."""
    covariates, place = {}, len(features)
    for block in blocks:
        covariates[block.features[0].column] = list(range(place, place + len(block.features)))
        place += len(block.features)
    places: dict[Column, list[int]] = {}
    for index, feature in enumerate(features):
        places.setdefault(feature.position, []).append(index)
    unknown = [name_of(frame, column) for column in roles["include"] if column not in places]
    if unknown:
        raise ValueError(f"'include' names {listed(unknown)}, which {are(unknown)} not among the features.")
    include, never = ([i for c in roles[option] for i in places.get(c, [])] for option in ("include", "never"))
    record: dict[str, Any] = {
        option: [name_of(frame, column) for column in columns] for option, columns in roles.items() if columns
    }
    record |= {"weight": record["weight"][0]} if roles["weight"] else {}
    return KnownColumns(
        covariates,
        [feature.name for block in blocks for feature in block.features],
        include,
        never,
        {index: costs[key] for index, f in enumerate(features) for key in (f.column, f.name) if key in costs},
        weights_of(frame, roles["weight"]),
        record | ({"costs": dict(costs)} if costs else {}),
    )


def covariate_blocks(frame: Frame, columns: list[Column], impute: str) -> tuple[list[FeatureBlock], list[Note]]:
    """A block for each covariate: numbers as they are, text as categories."""
    blocks = [_block(name_of(frame, column), values_of(frame, column), impute) for column in columns]
    return blocks, [note for block in blocks for note in _coded(block)]


def _block(name: str, values: np.ndarray, impute: str) -> FeatureBlock:
    if impute == "none":
        refuse_missing(values, f"The covariate {name!r}")
    if values.dtype.kind in "OU":
        refuse_commas(values, name)
        refuse_mixed(values, name)
        return one_hot(name, -1, *impute_text(values.astype(str), impute))
    filled, _ = impute_numbers(values.astype(np.float64)[:, None], impute) if impute != "none" else (values, None)
    return FeatureBlock(np.reshape(filled, (-1, 1)).astype(np.float64), [TableFeature(name, name, -1)])


def _coded(block: FeatureBlock) -> list[Note]:
    """A note on a few whole numbers: they may be codes of categories, and are taken for amounts."""
    feature, levels = block.features[0], np.unique(block.values)
    if feature.category is not None or not 2 < len(levels) <= FEW or (levels != np.rint(levels)).any():
        return []
    text = f"the covariate {feature.name!r} holds {len(levels)} whole numbers and is adjusted for as a number"
    return [Note("covariates", f"{text}: if they are categories, write them as text (b1 for 1)")]


def with_covariates(X: AnyArray, blocks: list[FeatureBlock]) -> AnyArray:
    """X, with the covariates after its columns."""
    return hstack([X, *(block.values for block in blocks)]) if blocks else X


def groups_with_covariates(groups: np.ndarray | None, blocks: list[FeatureBlock]) -> np.ndarray | None:
    """The indicators of a covariate are one group, where features have groups."""
    if groups is None:
        return None
    return np.array([*groups, *(f"covariate {f.column}" for block in blocks for f in block.features)])


def weights_of(frame: Frame, columns: list[Column]) -> Floats | None:
    """The weights of the samples: numbers above 0."""
    if not columns:
        return None
    name, values = name_of(frame, columns[0]), values_of(frame, columns[0])
    refuse_missing(values, f"The weight {name!r}")
    if values.dtype.kind in "OU":
        raise ValueError(f"The 'weight' {name!r} must hold numbers, and holds text ({str(values[0])!r}).")
    weights = values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        raise ValueError(
            f"The 'weight' {name!r} must hold numbers above 0. Got {weights[wrong[0]]:g} in sample {wrong[0] + 1}: "
            "leave out samples that are not to count."
        )
    return weights


def read_costs(path: str | os.PathLike[str] | None, features: list[TableFeature]) -> dict[str, float]:
    """The factors of a file of lines ``feature, factor``: numbers above 0 of features, or of columns of categories."""
    given = _pairs_of_features("costs", path, features, "factor", "cost")
    return {name: _factor(name, text) for name, text in given.items()}


def _factor(name: str, text: str) -> float:
    value = number(text.encode())
    if value is None or not 0 < value < np.inf:
        raise ValueError(
            f"The file of 'costs' must give a number above 0 for each feature. Got {text!r} for {name!r}: to adjust "
            "for a column, see --covariates; to leave a feature out, --never."
        )
    return value


def groups_of_samples(frame: Frame, column: str | int | None) -> tuple[np.ndarray | None, int | None]:
    if column is None:
        return None, None
    found = find_kept(frame, column, "sample_groups")
    groups = as_written(frame, found)
    refuse_missing(groups, f"The group in {str(column)!r}")
    return groups, found if isinstance(found, int) else None


def refuse_groups_of_classes(groups: np.ndarray | None, y: np.ndarray, column: str | int | None) -> None:
    """Samples of a group stay on one side of every split: a class within one group is learned or tested, never both."""
    if groups is None:
        return
    n_groups, n_classes = len(np.unique(groups)), len(np.unique(y))
    if len(set(zip(groups.tolist(), y.tolist(), strict=True))) == n_classes:
        raise ValueError(
            f"The 'sample_groups' {str(column)!r} must not follow from the label: all samples of each class are in one "
            f"group ({n_groups} groups, {n_classes} classes), so that no class could be both learned and tested. Give "
            "a column of patients or batches, or leave out --sample-groups."
        )


def groups_of_features(features: list[TableFeature], path: str | os.PathLike[str] | None) -> np.ndarray | None:
    """The group of each feature: as the file says, else its block of categories, else its own."""
    given = _pairs_of_features("feature_groups", path, features, "group")
    if not given and all(feature.category is None for feature in features):
        return None
    return np.array(
        [
            f"group {given[key]}" if (key := f.name if f.name in given else f.column) in given else f"column {f.column}"
            for f in features
        ]
    )


def _pairs_of_features(
    option: str, path: str | os.PathLike[str] | None, features: list[TableFeature], *words: str
) -> dict[str, str]:
    """What ``read_pairs`` reads from the file of an option; refuses names that no feature or column has."""
    given = {} if path is None else read_pairs(Path(path), *words)
    known = {feature.name for feature in features} | {feature.column for feature in features}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(
            f"The file of {option!r} names {listed(unknown)}, which {are(unknown)} not among the features."
        )
    return given


def read_pairs(path: Path, *words: str) -> dict[str, str]:
    """Lines ``feature, group``, or what the second is called in ``words``; a header with one of them is passed over."""
    second = words[0]
    with open(path, encoding="utf-8-sig", newline="") as file:  # spreadsheets begin with a mark
        try:
            text = file.read()
        except UnicodeDecodeError as error:
            raise ValueError(f"{path.name!r} is not text in UTF-8: give lines 'feature,{second}'.") from error
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    odd = next((row for row in rows if len(row) != 2), None)
    if odd is not None or not rows:
        raise ValueError(f"{path.name!r} must have lines 'feature,{second}'. Got {odd!r} instead.")
    cells = [(name.strip(), value.strip()) for name, value in rows]
    return dict(cells[1:] if cells[0][1].lower() in words else cells)
