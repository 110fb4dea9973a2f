"""Tables of numbers: in text, as UCI keeps them, and the spreadsheet of gene expressions of the lung data."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from dsofs.datasets.formats import Members, ParsedTable, member, numbered_table
from dsofs.design.types import Floats
from dsofs.files import DamagedFileError
from dsofs.optional import require

N_DIGITS = 10

# How the names of the samples begin -> what they are.
TISSUES = {
    "AD": "adenocarcinoma",
    "SQ": "squamous cell carcinoma",
    "COID": "carcinoid",
    "SMCL": "small cell carcinoma",
    "NL": "normal lung",
}
LEAST_DEVIATION = 50  # expression units; genes that vary less were removed (Bhattacharjee et al., and the paper)
OLE_MAGIC = b"\xd0\xcf\x11\xe0"  # a spreadsheet of Excel 97; otherwise it is text with tabs


def parse_isolet(members: Members) -> ParsedTable:
    """Two files with commas; the last column is the letter, 1 to 26."""
    parts = [_numbers(member(members, name), ",") for name in ("isolet1+2+3+4.data", "isolet5.data")]
    table = _stacked(parts)
    return numbered_table(table[:, :-1], table[:, -1])


def parse_semeion(members: Members) -> ParsedTable:
    """One file with blanks; the last ten columns are the digit: a single 1 among zeros."""
    table = _numbers(member(members, "semeion.data"))
    X, digits = table[:, :-N_DIGITS], table[:, -N_DIGITS:]
    if not ((digits == 1).sum(axis=1) == 1).all():
        raise DamagedFileError(f"semeion.data has rows whose last {N_DIGITS} columns do not name one digit")
    return numbered_table(X, digits.argmax(axis=1))


def parse_gisette(members: Members) -> ParsedTable:
    """The training and validation files of the NIPS 2003 challenge; the test file was published without labels."""
    X = _stacked([_numbers(member(members, f"gisette_{part}.data")) for part in ("train", "valid")])
    labels = _stacked([_numbers(member(members, f"gisette_{part}.labels")) for part in ("train", "valid")])
    return numbered_table(X, labels[:, 0])


def parse_lung(members: Members) -> ParsedTable:
    """A header (probe set, gene, samples); then for each probe set its name, its gene and the expressions."""
    if len(members) != 1:
        raise DamagedFileError(f"one spreadsheet is needed, and there are {len(members)}")
    (content,) = members.values()
    header, *rows = _excel_rows(content) if content.startswith(OLE_MAGIC) else _text_rows(content)
    samples = [str(name).strip() for name in header[2:]]
    X = _expressions(rows, len(samples)).T
    kept = np.flatnonzero(X.std(axis=0, ddof=1) >= LEAST_DEVIATION)
    return ParsedTable(
        X[:, kept], _tissue_codes(samples), list(TISSUES.values()), [str(rows[gene][0]) for gene in kept]
    )


def _expressions(rows: list[list[Any]], n_samples: int) -> np.ndarray:
    if len(rows) == 0 or n_samples < 2 or any(len(row) != n_samples + 2 for row in rows):
        raise DamagedFileError("it is not a table of probe set, gene and a column for each sample")
    try:
        return np.array([row[2:] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise DamagedFileError(f"it holds an expression that is not a number: {error}") from error


def _tissue_codes(samples: list[str]) -> np.ndarray:
    prefixes = [name.split("-")[0] for name in samples]
    unknown = sorted(set(prefixes) - set(TISSUES))
    if unknown:
        raise DamagedFileError(f"it has samples that begin with {unknown}; known are {list(TISSUES)}")
    return np.array([list(TISSUES).index(prefix) for prefix in prefixes])


def _excel_rows(content: bytes) -> list[list[Any]]:
    xlrd = require("xlrd", "data")
    try:
        sheet = xlrd.open_workbook(file_contents=content).sheet_by_index(0)
    except Exception as error:  # xlrd has no common class for what it raises on damaged files
        raise DamagedFileError(f"it is not an Excel file: {error}") from error
    return [sheet.row_values(row) for row in range(sheet.nrows)] or [[]]


def _text_rows(content: bytes) -> list[list[Any]]:
    return [line.split("\t") for line in content.decode("latin-1").splitlines() if line.strip()] or [[]]


def _numbers(content: bytes, delimiter: str | None = None) -> Floats:
    if not content.strip():
        raise DamagedFileError("it is empty")
    try:
        return np.loadtxt(BytesIO(content), delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise DamagedFileError(f"it is not a table of numbers: {error}") from error


def _stacked(parts: list[Floats]) -> Floats:
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise DamagedFileError(f"its files have different numbers of columns: {sorted(widths)}")
    return np.vstack(parts)
