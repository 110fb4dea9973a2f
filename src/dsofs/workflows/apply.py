"""The features of a selection, taken from another file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dsofs.design.types import Floats
from dsofs.files import write_whole
from dsofs.tables.columns import as_written, find_kept, name_of, refuse_text, unique_names
from dsofs.tables.identifiers import is_named_like_id, sample_ids
from dsofs.tables.readers import Frame, Note, read_frame
from dsofs.tables.selection import Selection
from dsofs.tables.writers import WRITERS, Columns

SAMPLE = "sample"  # header of row names, which have none in their file


@dataclass(frozen=True)
class AppliedSelection:
    """The selected columns of another file."""

    X: Floats  # samples x selected features, the best first
    names: list[str]  # of the features
    ids: Columns  # the IDs of the samples by the name of their column; empty if the file has none
    kept: Columns  # other columns that were to be kept
    file: Path | None  # that was written
    notes: tuple[Note, ...] = ()  # what is odd about the file


def apply_selection(
    selection: Selection | str | os.PathLike[str],
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    keep: Sequence[str] = (),
) -> AppliedSelection:
    """Reduce a file to the features of a selection: what ``dsofs apply`` does.

    Columns are found by their names, in any order, and by position where there are no names.

    Parameters
    ----------
    selection : Selection or path
        A selection, or the ``selection.json`` that it was saved in.
    path : path
        The file to take the columns from.
    out : path or None, default=None
        The file to write: .csv, .tsv, .parquet or .npz. None writes nothing.
    keep : sequence of str, default=()
        Other columns to keep, such as the label.

    Returns
    -------
    AppliedSelection

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from dsofs import apply_selection, select_table
    >>> wine, folder = load_wine(), TemporaryDirectory()
    >>> table = Path(folder.name) / "wine.npz"
    >>> np.savez(table, X=wine.data, y=wine.target, feature_names=wine.feature_names)
    >>> found = select_table(table, k=3, report=False)
    >>> applied = apply_selection(found.selection, table, Path(folder.name) / "small.csv", keep=["y"])
    >>> applied.X.shape
    (178, 3)
    >>> applied.file.read_text().splitlines()[0]
    '"y","proline","color_intensity","flavanoids"'
    >>> folder.cleanup()
    """
    refuse_text(keep=keep)
    write = None if out is None else WRITERS.get(Path(out).suffix.lower())
    if out is not None and write is None:
        raise ValueError(
            f"The 'out' parameter of apply_selection must end with one of {', '.join(WRITERS)}. Got {Path(out).name!r} "
            "instead."
        )
    chosen = selection if isinstance(selection, Selection) else Selection.load(selection)
    frame = read_frame(path)
    X, ids = chosen.apply(frame), _ids_of(frame, chosen)
    kept = _kept_columns(frame, keep, [*ids, *chosen.names])
    if out is not None and write is not None:
        write_whole(out, write(X, chosen.names, ids, kept))
    notes = tuple(chosen.unknown_categories(frame))
    return AppliedSelection(X, chosen.names, ids, kept, None if out is None else Path(out), notes)


def _ids_of(frame: Frame, selection: Selection) -> Columns:
    """The IDs of the samples by the name of their column: that of the data of the selection, else one found here."""
    names, known = unique_names(frame)[0], str(selection.data.get("sample_column"))
    found = sample_ids(frame, selection.target)
    if known in names:
        ids = {known: as_written(frame, names.index(known))}
    elif found is not None and (found.name is None or is_named_like_id(found.name)):
        ids = {found.name or SAMPLE: found.values}
    else:
        ids = {}
    return {name: values for name, values in ids.items() if name not in selection.names}


def _kept_columns(frame: Frame, wanted: Sequence[str], present: list[str]) -> Columns:
    """Columns that are kept as they are, by name; less those that are present already."""
    columns = [find_kept(frame, name, "keep") for name in wanted]
    kept = {name_of(frame, column): as_written(frame, column) for column in columns}
    return {name: values for name, values in kept.items() if name not in present}
