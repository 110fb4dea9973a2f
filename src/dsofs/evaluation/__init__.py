"""Measuring selectors: splits, protocols, a runner that survives, and its results file."""

from __future__ import annotations

from dsofs.evaluation.cells import ALL_FEATURES, REFERENCE
from dsofs.evaluation.protocols import CLEAN, CLEAN_QUICK, PAPER, PAPER_QUICK, Protocol
from dsofs.evaluation.results import Row, append_row, read_rows
from dsofs.evaluation.runner import CellsFailedError, run
from dsofs.evaluation.samples import Samples
from dsofs.evaluation.significance import compare_with_first, mean_ranks
from dsofs.evaluation.stability import stability
from dsofs.methods import Method

__all__ = [
    "ALL_FEATURES",
    "CLEAN",
    "CLEAN_QUICK",
    "PAPER",
    "PAPER_QUICK",
    "REFERENCE",
    "CellsFailedError",
    "Method",
    "Protocol",
    "Row",
    "Samples",
    "append_row",
    "compare_with_first",
    "mean_ranks",
    "read_rows",
    "run",
    "stability",
]
