"""Excel workbooks (.xlsx), the first sheet. Needs the extra ``readers``."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from typing import Any

import numpy as np

from dsofs.design.budget import DOUBLE
from dsofs.files import DamagedFileError
from dsofs.optional import require
from dsofs.tables.readers.frame import Column, Frame, Note, column_frame
from dsofs.tables.readers.numbers import cells_of
from dsofs.tables.readers.source import InputFile, as_damage, refuse_bomb, refuse_too_big


def read(source: InputFile) -> Frame:
    openpyxl = require("openpyxl", "readers")
    with as_damage("save it again", "it is cut short or no workbook"):
        with zipfile.ZipFile(source.path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        refuse_bomb(source.size, unpacked, "save it as CSV.")
        with source.open() as file:  # by its name openpyxl would refuse what is not called .xlsx
            # Formulas give the values they were saved with; nothing is calculated.
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheets = book.sheetnames
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # a declared size can be wrong, or a bomb
            rows = [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
    return replace(_frame(rows), notes=_sheet_notes(sheets))


def _frame(rows: list[tuple[Any, ...]]) -> Frame:
    if len(rows) < 2:
        raise DamagedFileError("its first sheet needs a header and at least one row of data below it")
    width = max(map(len, rows))
    refuse_too_big(DOUBLE * width * len(rows))  # one cell far to the right makes all rows as long
    padded = [(*row, *[None] * (width - len(row))) for row in rows]
    names = ["" if name is None else str(name).strip() for name in padded[0]]
    return column_frame("Excel", names, [_column(list(column)) for column in zip(*padded[1:], strict=True)])


def _column(cells: list[Any]) -> Column:
    """A column of numbers, if every cell is a number, one stored as text, or missing; else of text."""
    if all(cell is None or isinstance(cell, int | float) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells]), None
    return cells_of(["" if cell is None else str(cell) for cell in cells])


def _sheet_notes(sheets: list[str]) -> tuple[Note, ...]:
    if len(sheets) == 1:
        return ()
    read = f"the workbook has {len(sheets)} sheets; the first one, {sheets[0]!r}, was read"
    return (Note("sheets", f"{read}: move the table there if it is in another"),)
