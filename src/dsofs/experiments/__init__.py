"""Methods measured over data sets: protocols, a runner that survives, and its results file."""

from __future__ import annotations

from dsofs.experiments.cells import ALL_FEATURES, REFERENCE
from dsofs.experiments.protocols import CLEAN, CLEAN_AT_100, CLEAN_QUICK, PAPER, PAPER_QUICK, Protocol
from dsofs.experiments.results import Row, append_row, read_rows
from dsofs.experiments.runner import CellsFailedError, RunProgress, run

__all__ = [
    "ALL_FEATURES",
    "CLEAN",
    "CLEAN_AT_100",
    "CLEAN_QUICK",
    "PAPER",
    "PAPER_QUICK",
    "REFERENCE",
    "CellsFailedError",
    "Protocol",
    "Row",
    "RunProgress",
    "append_row",
    "read_rows",
    "run",
]
