"""Parquet and Feather, read with pyarrow. Needs the extra ``readers``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsofs.arrays.memory import DOUBLE
from dsofs.datasets.errors import DamagedFileError
from dsofs.datasets.readers.arrow_sizes import unpacked_bytes
from dsofs.datasets.readers.frame import Frame, column_frame
from dsofs.datasets.readers.limits import refuse_bomb, refuse_too_big
from dsofs.datasets.readers.numbers import numbers_or_text
from dsofs.datasets.readers.source import Source
from dsofs.optional import require

ARROW = b"ARROW1"


def read_parquet(source: Source) -> Frame:
    pyarrow = require("pyarrow", "readers")
    parquet = require("pyarrow.parquet", "readers")
    try:
        # With the schema of pandas left aside: it could ask for other types than the columns have.
        with parquet.ParquetFile(source.path) as file:
            metadata = file.metadata
            groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
            refuse_bomb(source.size, sum(group.total_byte_size for group in groups), "write it without compression.")
            refuse_too_big(DOUBLE * metadata.num_rows * metadata.num_columns)
            table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise DamagedFileError(f"it is cut short or damaged ({_first_line(error)}): copy or write it again") from error
    return table_frame(pyarrow, "Parquet", table)


def read_feather(source: Source) -> Frame:
    pyarrow = require("pyarrow", "readers")
    feather = require("pyarrow.feather", "readers")
    try:
        if source.head.startswith(ARROW):  # the first version of Feather does not pack
            unpacked = unpacked_bytes(pyarrow, source.path)
            refuse_bomb(source.size, unpacked, "write it with compression='uncompressed'.")
            refuse_too_big(unpacked)
        table = feather.read_table(source.path, memory_map=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise DamagedFileError(f"it is cut short or damaged ({_first_line(error)}): copy or write it again") from error
    return table_frame(pyarrow, "Feather", table)


def table_frame(pyarrow: Any, format: str, table: Any) -> Frame:
    return column_frame(
        format,
        [str(name) for name in table.column_names],
        [_values(pyarrow, str(name), column) for name, column in zip(table.column_names, table.columns, strict=True)],
    )


def _values(pyarrow: Any, name: str, column: Any) -> np.ndarray:
    """Numbers with NaN for what is missing, or text with an empty one."""
    kind, types = column.type, pyarrow.types
    declared_categories = types.is_dictionary(kind)
    if declared_categories:
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        plain = column.cast("int8") if types.is_boolean(kind) else column
        return np.asarray(plain.cast("float64", safe=False).to_numpy(), dtype=np.float64)
    if types.is_nested(kind) or types.is_binary(kind):
        raise DamagedFileError(f"column {name!r} holds {kind} values: leave it out when you write the file")
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    texts = ["" if value is None else str(value) for value in column.to_pylist()]
    return np.array(texts, dtype=str) if declared_categories else numbers_or_text(texts)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
