"""A user's file as samples, features and classes; what is odd about it is noted, what cannot be used is refused."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dsofs.design.types import AnyArray
from dsofs.files import hash_of, readable
from dsofs.tables.columns import find_column, refuse_text, unique_names
from dsofs.tables.features import (
    TableFeature,
    copied_samples,
    find_blocks,
    gives_label_away,
    joined,
    refuse_infinite,
    suspicious,
)
from dsofs.tables.identifiers import named_alike, persons_apart
from dsofs.tables.known import (
    KnownColumns,
    covariate_blocks,
    find_roles,
    groups_of_features,
    groups_of_samples,
    groups_with_covariates,
    known_columns,
    positions,
    read_costs,
    refuse_groups_of_classes,
    with_covariates,
)
from dsofs.tables.label import clean_label, find_label
from dsofs.tables.readers import Note, read_frame


@dataclass(frozen=True)
class LabelledTable:
    """Samples x features, the class of each sample, and where it all came from."""

    X: AnyArray  # float, dense or CSR: the features, and after them the covariates
    y: np.ndarray  # whole numbers or text
    features: tuple[TableFeature, ...]
    target: str
    target_position: int | None  # column of the file that holds the label; None if it is elsewhere
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
    known: KnownColumns = field(default_factory=KnownColumns)
    leaking: tuple[str, ...] = ()  # features that give the label away

    @property
    def repeated_ids(self) -> tuple[str, ...]:
        """What samples that may belong together have in common, such as a column, unless groups are given."""
        if self.sample_groups is not None:
            return ()
        return tuple(note.groups for note in self.notes if note.groups is not None)

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


def read_labelled(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    target_file: str | os.PathLike[str] | None = None,
    drop: Sequence[str | int] = (),
    keep: Sequence[str | int] = (),
    feature_groups: str | os.PathLike[str] | None = None,
    sample_groups: str | int | None = None,
    impute: str = "none",
    covariates: Sequence[str | int] = (),
    include: Sequence[str | int] = (),
    never: Sequence[str | int] = (),
    costs: str | os.PathLike[str] | None = None,
    weight: str | int | None = None,
) -> LabelledTable:
    """Read a table of samples and their classes from a file of any known format.

    Parameters
    ----------
    path : path
        The file; its content decides the format.
    target : str, int or None, default=None
        Which column holds the label: its name, or else its position (negative from the end). None where the file, or
        ``target_file``, holds just one.
    target_file : path or None, default=None
        Another file with the labels. They are joined with the samples by sample ID where both files have one, and
        otherwise taken in the order of the samples.
    drop : sequence of str or int, default=()
        Columns to leave out.
    keep : sequence of str or int, default=()
        Columns that are features though they look like an identifier or a date, which are left out otherwise.
    feature_groups : path or None, default=None
        A text file of lines ``feature, group``.
    sample_groups : str, int or None, default=None
        A column that says which samples belong together (a patient, a batch). It is not a feature.
    impute : {"none", "median", "most-frequent", "knn", "keep"}, default="none"
        How missing values are filled; they are refused with "none", and left as NaN with "keep".
    covariates : sequence of str or int, default=()
        Columns to adjust for. They are no features, and stand after these in X: numbers as they are, text as a column
        of zeros and ones for each category.
    include, never : sequence of str or int, default=()
        Columns that are always selected, whatever they look like, or never.
    costs : path or None, default=None
        A text file of lines ``feature, factor``: numbers above 0 that the penalties of features are multiplied by.
    weight : str, int or None, default=None
        A column of weights of the samples, above 0. It is not a feature.

    Returns
    -------
    LabelledTable

    Raises
    ------
    ValueError
        In one sentence, what is wrong and what to do.
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(
            f"'path' must be the path of a file. Got a {type(path).__name__} instead: for data in memory there are "
            "DSOSelector and dsofs.report.examine."
        )
    refuse_text(drop=drop, keep=keep, covariates=covariates, include=include, never=never)
    path = Path(path)
    frame, file = read_frame(path), readable(path.name)
    names, renamed = unique_names(frame)
    label = find_label(frame, file, target, target_file)
    y, label_notes = clean_label(label.values, label.name)
    groups, groups_position = groups_of_samples(frame, sample_groups)
    refuse_groups_of_classes(groups, y, sample_groups)
    left_out = {find_column(frame, column, "drop") for column in drop}
    weights = [] if weight is None else [weight]
    wanted = {"covariates": covariates, "include": include, "never": never, "weight": weights}
    roles = find_roles(frame, label, left_out, wanted)
    kept = {find_column(frame, column, "keep") for column in keep} | positions(roles["include"])
    aside = left_out | {index for index in (label.position, groups_position) if index is not None}
    aside |= positions([*roles["covariates"], *roles["weight"]])
    ids, id_notes = label.ids, []
    if ids is not None and ids.column is not None and ids.column not in aside | kept:
        aside.add(ids.column)
        verb = "name the samples and are not features" if ids.name is None else "names the samples and is not a feature"
        id_notes = [Note("identifier", f"{ids.title} {verb}")]
    blocks, block_notes = find_blocks(frame, names, aside, kept, impute)
    X, features = joined(blocks)
    if not features:
        raise ValueError(f"No column of {path.name!r} is left to select from.")
    beside_features, covariate_notes = covariate_blocks(frame, roles["covariates"], impute)
    known = known_columns(frame, roles, features, beside_features, read_costs(costs, features))
    refuse_infinite(X, features)
    leaking = gives_label_away(X, y, features)
    return LabelledTable(
        X=with_covariates(X, beside_features),
        y=y,
        features=tuple(features),
        target=label.name,
        target_position=label.position,
        n_columns=frame.n_columns,
        named=frame.names is not None,
        feature_groups=groups_with_covariates(groups_of_features(features, feature_groups), beside_features),
        sample_groups=groups,
        sample_names=None if ids is None else tuple(map(str, ids.values)),
        sample_column=None if ids is None else ids.name,
        notes=(
            *frame.notes,
            *renamed,
            *label.notes,
            *label_notes,
            *id_notes,
            *(persons_apart(frame, label.name) if groups is None else ()),
            *(named_alike(ids.values, y) if groups is None and ids is not None and ids.column not in left_out else ()),
            *block_notes,
            *covariate_notes,
            *suspicious(X, features, leaking, label.name),
            *copied_samples(X),
        ),
        file=file,
        format=frame.format,
        sha256=hash_of(path),
        known=known,
        leaking=tuple(features[index].name for index in np.flatnonzero(leaking)),
    )
