"""What belongs together: samples, as a column says; features, as a file says or as categories of one column."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from dsofs.tables.columns import as_written, find_column, listed, refuse_missing, stand
from dsofs.tables.features import TableFeature
from dsofs.tables.readers import Frame


def groups_of_samples(frame: Frame, column: str | int | None) -> tuple[np.ndarray | None, int | None]:
    if column is None:
        return None, None
    index = None if column in frame.labels else find_column(frame, column, "sample_groups")
    groups = frame.labels[str(column)] if index is None else as_written(frame, index)
    refuse_missing(groups, f"The group in {str(column)!r}")
    return groups, index


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
    given = {} if path is None else read_pairs(Path(path), "group")
    known = {feature.name for feature in features} | {feature.column for feature in features}
    strangers = [name for name in given if name not in known]
    if strangers:
        raise ValueError(
            f"The file of 'feature_groups' names {listed(strangers)}, which {stand(strangers)} not among the features."
        )
    if not given and all(feature.category is None for feature in features):
        return None
    return np.array(
        [
            f"group {given[key]}" if (key := f.name if f.name in given else f.column) in given else f"column {f.column}"
            for f in features
        ]
    )


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
