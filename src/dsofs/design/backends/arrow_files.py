"""X as a pyarrow.dataset.Dataset: Parquet, Feather or Arrow files, one or many, each column stored by itself.

Of a piece, the columns are read by name, in record batches, from the row groups or files that hold its rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from dsofs.design.backends.on_disk import FileArray
from dsofs.design.budget import DOUBLE
from dsofs.design.types import AnyArray, Floats, Ints

READER = 13 * 2**10  # bytes that Arrow takes to read a column of Parquet, however few rows it has
BATCH = 2**22  # bytes of a record batch: little beside a piece, and much beside the work of asking for it


def is_dataset(X: AnyArray) -> bool:
    """Whether X is a dataset of Arrow."""
    dataset = sys.modules.get("pyarrow.dataset")
    return dataset is not None and isinstance(X, dataset.Dataset)


class ArrowFiles(FileArray):
    """The columns of a dataset, all of them numbers; nulls are NaN."""

    def __init__(self, X: AnyArray, rows: Ints | None = None) -> None:
        """``rows``: the samples that there are; None is all of them."""
        for field in X.schema:
            _check_numeric(field)
        self.dataset, self.rows, self.bytes_read = X, rows, 0
        self.names = X.schema.names  # a list that the schema makes anew whenever it is asked
        parts = [part for fragment in X.get_fragments() for part in _row_groups(fragment)]
        self.parts = [part for part, _ in parts]
        self.ends = np.cumsum([n_rows for _, n_rows in parts], dtype=np.intp)
        m, n = int(self.ends[-1]) if len(self.ends) else 0, len(X.schema)
        self.shape = (m if rows is None else len(rows), n)
        self.density = 1 + READER / (DOUBLE * max(m, 1))
        single = all(str(field.type) in ("halffloat", "float") for field in X.schema)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.edges = (self.ends if rows is None else np.searchsorted(rows, self.ends), np.arange(1, n + 1))

    def header(self) -> AnyArray:
        return self.dataset.schema.empty_table()

    def rows_of(self, index: Ints) -> ArrowFiles:
        return ArrowFiles(self.dataset, index if self.rows is None else self.rows[index])

    def read(self, rows: Ints, columns: Ints) -> Floats:
        rows = rows if self.rows is None else self.rows[rows]
        names = [self.names[column] for column in columns]
        X = np.empty((len(rows), len(names)), dtype=self.dtype, order="F")
        for first, batch in self._batches(rows, names):
            start, end = np.searchsorted(rows, [first, first + batch.num_rows])
            taken = rows[start:end] - first
            for place, column in enumerate(batch.columns):
                X[start:end, place] = _numbers(column)[taken]
        return X

    def _batches(self, rows: Ints, names: list[str]) -> Iterator[tuple[int, Any]]:
        """Record batches with all of these rows, and the number of the first row of each."""
        size = max(1, BATCH // (DOUBLE * len(names)))
        starts = np.append(0, self.ends[:-1])
        for part, start, end in zip(self.parts, starts, self.ends, strict=True):
            first = int(start)
            inside = rows[slice(*np.searchsorted(rows, [first, end]))]
            if not len(inside):
                continue
            for batch in part.to_batches(self.dataset.schema, names, batch_size=size, batch_readahead=2):
                self.bytes_read += batch.nbytes
                yield first, batch
                first += batch.num_rows
                if first > inside[-1]:
                    break


def _row_groups(fragment: Any) -> list[tuple[Any, int]]:
    """The parts of a file that can be read by themselves, of Parquet its row groups, and the rows of each."""
    if not hasattr(fragment, "split_by_row_group"):
        return [(fragment, fragment.count_rows())]
    # count_rows of a row group counts those of its file
    return [(part, sum(group.num_rows for group in part.row_groups)) for part in fragment.split_by_row_group()]


def _check_numeric(field: Any) -> None:
    types = sys.modules["pyarrow"].types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if not any(is_of_kind(field.type) for is_of_kind in tests):
        raise ValueError(
            f"X must hold numbers, and its column {field.name!r} holds {field.type} values. Encode it, or leave it "
            f"out: X.replace_schema(X.schema.remove(X.schema.get_field_index({field.name!r})))."
        )


def _numbers(column: Any) -> Floats:
    types = sys.modules["pyarrow"].types
    if types.is_boolean(column.type):
        column = column.cast("int8")
    elif types.is_decimal(column.type):
        column = column.cast("float64")
    return column.to_numpy(zero_copy_only=False)
