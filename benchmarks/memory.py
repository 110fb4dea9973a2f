"""Extra memory of a fit, against the bound  8 (3 m^2 + 4 n c) + 2 blocks + 50 MB,  and 0.25 X at 1 GB."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks.harness import extra_memory, in_new_process, record, rows_of, study, write_table
from dsofs.design.budget import Budget
from dsofs.experiments.results import Row

STUDY = "memory"
MIB = 2**20
SHAPES = [(200, 5000, 5, "float64"), (300, 20000, 3, "float64"), (1000, 20000, 10, "float64"),
          (200, 100_000, 10, "float64"), (400, 312500, 3, "float64"), (400, 625000, 3, "float32"),
          (100, 1_000_000, 40, "float32"), (2000, 50_000, 10, "float64")]  # fmt: skip
SETTINGS: dict[str, dict[str, Any]] = {
    "p = 1, hard margins": {"p": 1.0, "C": None},
    "defaults": {"p": 0.85, "C": "auto"},
}


def measure(m: int, n: int, c: int, dtype: str, settings: dict[str, Any]) -> dict[str, float]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(m) % c)
    X = np.empty((m, n), dtype=dtype)
    for row in X:
        row[:] = rng.standard_normal(n, dtype=dtype)
    X[:, :10] += y[:, None]
    return {"extra": extra_memory(X, y, **settings), "bound": Budget().fit_bytes(m, n, c) + 50 * MIB, "X": X.nbytes}


def draw() -> None:
    lines = [
        [row.data, row.method, *(f"{row.values[name] / MIB:.0f}" for name in ("X", "extra", "bound")),
         f"{row.values['extra'] / row.values['X']:.2f}"]
        for row in rows_of(STUDY)
    ]  # fmt: skip
    write_table(
        STUDY,
        "Extra memory of a fit (MiB)",
        ["m x n x classes", "settings", "X", "extra", "bound", "extra / X"],
        lines,
        "Growth of peak resident memory during one fit, each in a process of its own.",
    )


@study(STUDY, draw)
def main() -> None:
    for (m, n, c, dtype), (name, settings) in product(SHAPES, SETTINGS.items()):
        values = in_new_process(measure, m, n, c, dtype, settings)
        record(STUDY, Row(f"{m} x {n} x {c} {dtype}", name, 0, values=values))


if __name__ == "__main__":
    main()
