"""The raw gene expressions of the lung data: a spreadsheet of probe sets x samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsofs.datasets.formats import Members, ParsedTable
from dsofs.files import DamagedFileError
from dsofs.optional import require

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
        raise DamagedFileError("it is no table of probe set, gene and a column for each sample")
    try:
        return np.array([row[2:] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise DamagedFileError(f"it holds an expression that is no number: {error}") from error


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
        raise DamagedFileError(f"it is no Excel file: {error}") from error
    return [sheet.row_values(row) for row in range(sheet.nrows)] or [[]]


def _text_rows(content: bytes) -> list[list[Any]]:
    return [line.split("\t") for line in content.decode("latin-1").splitlines() if line.strip()] or [[]]
