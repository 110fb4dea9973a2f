"""Tables to write: CSV, TSV, Parquet and NPZ files of samples, ready in memory."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO, StringIO

import numpy as np

from dsofs.design.types import Floats
from dsofs.optional import require
from dsofs.tables.identifiers import as_text

Columns = dict[str, np.ndarray]  # name -> a value for each sample

# Spreadsheets take a cell that begins so for a formula.
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
# Other arrays of an NPZ file, and names that numpy.savez reserves.
TAKEN_IN_NPZ = {"X", "feature_names", "sample_names", "file", "allow_pickle"}
EXACT = 2**53  # whole numbers below it are all floats


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """A CSV file; texts that a spreadsheet would take for a formula get a quotation mark before them."""
    file = StringIO()
    writer = csv.writer(file, csv.unix_dialect, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([harmless(name) for name in header])
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return file.getvalue()


def harmless(cell: object) -> object:
    """Numbers as they are, and texts that no spreadsheet runs."""
    is_formula = isinstance(cell, str) and len(cell) > 1 and cell.startswith(FORMULA_MARKS)
    return f"'{cell}" if is_formula else cell


def _cells(column: np.ndarray) -> list[object]:
    """Whole numbers without a point, and nothing for what is missing."""
    if column.dtype.kind != "f":
        return column.tolist()
    present = column[~np.isnan(column)]
    are_whole = bool(((present == np.rint(present)) & (abs(present) < EXACT)).all())
    return [None if np.isnan(value) else int(value) if are_whole else value for value in column.tolist()]


def write_text(X: Floats, names: list[str], ids: Columns, kept: Columns, delimiter: str = ",") -> bytes:
    other = ids | kept
    columns = [_cells(column) for column in other.values()]
    rows = ([*(column[index] for column in columns), *row] for index, row in enumerate(X.tolist()))
    return csv_text([*other, *names], rows, delimiter).encode()


def write_parquet(X: Floats, names: list[str], ids: Columns, kept: Columns) -> bytes:
    pyarrow, parquet = require("pyarrow", "readers"), require("pyarrow.parquet", "readers")
    columns = {name: _cells(column) for name, column in (ids | kept).items()}
    columns |= dict(zip(names, X.T.tolist(), strict=True))
    file = BytesIO()
    parquet.write_table(pyarrow.table({name: pyarrow.array(cells) for name, cells in columns.items()}), file)
    return file.getvalue()


def write_npz(X: Floats, names: list[str], ids: Columns, kept: Columns) -> bytes:
    clash = sorted(set(kept) & TAKEN_IN_NPZ)
    if clash:
        raise ValueError(
            f"An NPZ file cannot keep a column called {clash[0]!r}, a name that is taken there: write another format."
        )
    file = BytesIO()
    of_samples = {"sample_names": as_text(*ids.values())} if ids else {}
    np.savez_compressed(file, X=X, feature_names=np.array(names), **of_samples, **kept)  # type: ignore[arg-type]
    return file.getvalue()


WRITERS: dict[str, Callable[..., bytes]] = {
    ".csv": write_text, ".tsv": partial(write_text, delimiter="\t"), ".parquet": write_parquet, ".npz": write_npz,
}  # fmt: skip
