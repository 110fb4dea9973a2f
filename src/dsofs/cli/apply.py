"""``dsofs apply``: the columns of a selection, taken from another file."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import click
import numpy as np

from dsofs.arrays.types import Floats
from dsofs.cli.output import csv_text, messages
from dsofs.cli.problems import told_in_one_line
from dsofs.cli.table_options import FILE, split_names
from dsofs.files import write_whole
from dsofs.optional import require
from dsofs.tables.columns import as_written
from dsofs.tables.identifiers import as_text, is_named_like_id
from dsofs.tables.labelled import find_column, unique_names
from dsofs.tables.readers import Frame, read_frame
from dsofs.tables.sample_ids import sample_ids
from dsofs.tables.selection import Selection

Kept = dict[str, np.ndarray]
SAMPLE = "sample"  # header of row names, which have none in their file
# What an NPZ file holds besides, and words that NumPy keeps to itself when it writes one.
TAKEN_IN_NPZ = {"X", "feature_names", "sample_names", "file", "allow_pickle"}
EXACT = 2**53  # whole numbers below it are all floats


@click.command()
@click.argument("selection", type=FILE)
@click.argument("file", type=FILE)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True,
              help="The file to write: .csv, .tsv, .parquet or .npz.")  # fmt: skip
@click.option(
    "--keep", metavar="COLUMNS", multiple=True, help="Other columns to keep, such as the label; may be repeated."
)
def main(selection: Path, file: Path, out: Path, keep: tuple[str, ...]) -> None:
    """Reduce FILE to the features of SELECTION, a selection.json.

    Columns are found by their names, in any order, and by position where there are no names. IDs of the samples, where
    FILE has them, are the first column (in .npz the array sample_names). Exit codes: 0 done; 2
    the files or options cannot be used; 130 interrupted, with nothing half-written.
    """
    console = messages()
    with told_in_one_line():
        write = WRITERS.get(out.suffix.lower())
        if write is None:
            raise click.UsageError(f"--out must end with one of {', '.join(WRITERS)}. Got {out.name!r} instead.")
        chosen = Selection.load(selection)
        with console.status("Reading ..."):
            frame = read_frame(file)
        X = chosen.apply(frame)
        ids = ids_of(frame, chosen)
        kept = kept_columns(frame, split_names(keep), [*ids, *chosen.names])
        write_whole(out, write(X, chosen.names, ids, kept))
    console.print(f"{X.shape[0]} samples x {X.shape[1]} features written.")


def ids_of(frame: Frame, selection: Selection) -> Kept:
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


def kept_columns(frame: Frame, wanted: list[str], present: list[str]) -> Kept:
    """Columns that are kept as they are, by name; less those that are present already."""
    names, _ = unique_names(frame)
    kept: Kept = {}
    for name in wanted:
        if name in frame.labels:
            kept[name] = frame.labels[name]
        else:
            index = find_column(frame, name, "keep")
            kept[names[index]] = as_written(frame, index)
    return {name: values for name, values in kept.items() if name not in present}


def _cells(column: np.ndarray) -> list[object]:
    """Whole numbers without a point, and nothing for what is missing."""
    if column.dtype.kind != "f":
        return column.tolist()
    present = column[~np.isnan(column)]
    are_whole = bool(((present == np.rint(present)) & (abs(present) < EXACT)).all())
    return [None if np.isnan(value) else int(value) if are_whole else value for value in column.tolist()]


def _text(X: Floats, names: list[str], beside: Kept, delimiter: str) -> bytes:
    columns = [_cells(column) for column in beside.values()]
    rows = ([*(column[index] for column in columns), *row] for index, row in enumerate(X.tolist()))
    return csv_text([*beside, *names], rows, delimiter).encode()


def write_csv(X: Floats, names: list[str], ids: Kept, kept: Kept) -> bytes:
    return _text(X, names, ids | kept, ",")


def write_tsv(X: Floats, names: list[str], ids: Kept, kept: Kept) -> bytes:
    return _text(X, names, ids | kept, "\t")


def write_parquet(X: Floats, names: list[str], ids: Kept, kept: Kept) -> bytes:
    pyarrow, parquet = require("pyarrow", "readers"), require("pyarrow.parquet", "readers")
    columns = {name: _cells(column) for name, column in (ids | kept).items()}
    columns |= dict(zip(names, X.T.tolist(), strict=True))
    file = BytesIO()
    parquet.write_table(pyarrow.table({name: pyarrow.array(cells) for name, cells in columns.items()}), file)
    return file.getvalue()


def write_npz(X: Floats, names: list[str], ids: Kept, kept: Kept) -> bytes:
    clash = sorted(set(kept) & TAKEN_IN_NPZ)
    if clash:
        raise ValueError(
            f"An NPZ file cannot keep a column called {clash[0]!r}, a name that is taken there: write another format."
        )
    file = BytesIO()
    of_samples = {"sample_names": as_text(*ids.values())} if ids else {}
    np.savez_compressed(file, X=X, feature_names=np.array(names), **of_samples, **kept)  # type: ignore[arg-type]
    return file.getvalue()


WRITERS = {".csv": write_csv, ".tsv": write_tsv, ".parquet": write_parquet, ".npz": write_npz}
