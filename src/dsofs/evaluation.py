"""Where experiments were before they moved to :mod:`dsofs.experiments` and :mod:`dsofs.statistics`."""

from __future__ import annotations

from dsofs.moved import moved

_EXPERIMENTS = (
    "ALL_FEATURES", "CLEAN", "CLEAN_QUICK", "PAPER", "PAPER_QUICK", "REFERENCE", "CellsFailedError", "Protocol", "Row",
    "append_row", "read_rows", "run",
)  # fmt: skip
_STATISTICS = ("Samples", "compare_with_first", "mean_ranks", "stability")

__getattr__ = moved(
    __name__,
    dict.fromkeys(_EXPERIMENTS, "dsofs.experiments")
    | dict.fromkeys(_STATISTICS, "dsofs.statistics")
    | {"Method": "dsofs.methods"},
)
