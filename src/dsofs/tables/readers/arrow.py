"""Parquet and Feather, read with pyarrow. Needs the extra ``readers``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from dsofs.design.budget import DOUBLE
from dsofs.files import DamagedFileError
from dsofs.optional import require
from dsofs.tables.readers.frame import Column, Frame, column_frame
from dsofs.tables.readers.numbers import LARGEST_EXACT, cells_of, exact_texts
from dsofs.tables.readers.source import InputFile, as_damage, refuse_bomb, refuse_too_big

ARROW = b"ARROW1"
CURE, UNPACKED = "copy or write it again", "write it without compression."


def read_parquet(source: InputFile) -> Frame:
    pyarrow = require("pyarrow", "readers")
    parquet = require("pyarrow.parquet", "readers")
    # With the schema of pandas left aside: it could ask for other types than the columns have.
    with as_damage(CURE), parquet.ParquetFile(source.path) as file:
        metadata = file.metadata
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        refuse_bomb(source.size, sum(group.total_byte_size for group in groups), UNPACKED)
        refuse_too_big(DOUBLE * metadata.num_rows * metadata.num_columns)
        return _frame(pyarrow, "Parquet", source, file.schema_arrow, file.iter_batches())


def read_feather(source: InputFile) -> Frame:
    pyarrow = require("pyarrow", "readers")
    # Mapped into memory, a part cannot declare itself larger than the file and have that much memory set aside.
    with as_damage(CURE), pyarrow.memory_map(os.fspath(source.path)) as file:
        if not source.head.startswith(ARROW):  # the first version of Feather, which does not pack
            table = require("pyarrow.feather", "readers").read_table(file)
            return _frame(pyarrow, "Feather", source, table.schema, table.to_batches())
        reader = pyarrow.ipc.open_file(file)
        bits = sum(_bits(kind) for kind in reader.schema.types)
        n_rows = require("pyarrow.dataset", "readers").dataset(source.path, format="ipc").count_rows()
        refuse_bomb(source.size, n_rows * bits // 8, UNPACKED)
        batches = map(reader.get_batch, range(reader.num_record_batches))
        return _frame(pyarrow, "Feather", source, reader.schema, batches)


def _bits(kind: Any) -> int:
    """The bits of a value; 0 for values of any length, such as text."""
    try:
        return int(kind.bit_width)
    except ValueError:
        return 0


def _frame(pyarrow: Any, format: str, source: InputFile, schema: Any, batches: Iterable[Any]) -> Frame:
    """The columns of some batches, which are unpacked one by one; refuses bombs and what does not fit in memory."""
    read, before = [], pyarrow.total_allocated_bytes()
    for batch in batches:
        refuse_bomb(source.size, pyarrow.total_allocated_bytes() - before, UNPACKED)
        batch.validate(full=True)  # pyarrow trusts the offsets of texts and the codes of categories
        read.append(batch)
    table = pyarrow.Table.from_batches(read, schema)
    refuse_too_big(DOUBLE * table.num_rows * table.num_columns)
    names = [str(name) for name in table.column_names]
    return column_frame(
        format, names, [_column(pyarrow, name, column) for name, column in zip(names, table.columns, strict=True)]
    )


def _column(pyarrow: Any, name: str, column: Any) -> Column:
    """Numbers with NaN for what is missing, or text with an empty one."""
    kind, types = column.type, pyarrow.types
    declared_categories = types.is_dictionary(kind)
    if declared_categories:
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        plain = column.cast("int8") if types.is_boolean(kind) else column
        values = np.asarray(plain.cast("float64", safe=False).to_numpy(), dtype=np.float64)
        is_exact = not types.is_integer(kind) or (np.abs(values[~np.isnan(values)]) < LARGEST_EXACT).all()
        return values, None if is_exact else exact_texts(_texts(column))
    if types.is_nested(kind) or types.is_binary(kind):
        raise DamagedFileError(f"column {name!r} holds {kind} values: leave it out when you write the file")
    if types.is_null(kind):
        return np.full(len(column), np.nan), None
    texts = _texts(column)
    return (np.array(texts, dtype=str), None) if declared_categories else cells_of(texts)


def _texts(column: Any) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]
