"""What a labelled table holds: samples x features, the class of each sample, and where it all came from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsofs.design.types import AnyArray
from dsofs.tables.imputing import Fill
from dsofs.tables.readers import Note


@dataclass(frozen=True)
class TableFeature:
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
    features: tuple[TableFeature, ...]
    target: str
    target_position: int | None  # column of the file that holds the label; None if it lies elsewhere
    n_columns: int  # of the file
    named: bool  # whether the file names its columns
    feature_groups: np.ndarray | None  # one label per feature, where some belong together
    sample_groups: np.ndarray | None  # one label per sample, where some belong together
    sample_names: tuple[str, ...] | None  # IDs of the samples, where the file has some
    sample_column: str | None  # the column that they stand in; None: row names, or none
    notes: tuple[Note, ...]
    file: str
    format: str
    sha256: str

    @property
    def names(self) -> list[str]:
        return [feature.name for feature in self.features]

    @property
    def shared_groups(self) -> list[str | None]:
        """The name of each feature's group, where that has several features."""
        if self.feature_groups is None:
            return [None] * len(self.features)
        _, group, counts = np.unique(self.feature_groups, return_inverse=True, return_counts=True)
        names = [str(name).partition(" ")[2] for name in self.feature_groups]  # after the word for its kind
        return [name if count > 1 else None for name, count in zip(names, counts[group], strict=True)]
