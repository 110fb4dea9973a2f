"""Extra memory of a fit, against the bound  8 (3 m^2 + 4 n c) + 2 blocks + 50 MB,  and 0.25 X at 1 GB."""

from __future__ import annotations

import multiprocessing

import click
import numpy as np

from benchmarks.harness import extra_memory, record, rows_of, start_anew, write_table
from dsofs.arrays.memory import fit_bytes
from dsofs.evaluation.results import Row

STUDY = "memory"
MIB = 2**20
SHAPES = [(200, 5000, 5, "float64"), (300, 20000, 3, "float64"), (1000, 20000, 10, "float64"),
          (400, 312500, 3, "float64"), (400, 625000, 3, "float32")]  # fmt: skip


@click.command()
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(table: bool) -> None:
    if not table:
        start_anew(STUDY)
        for shape in SHAPES:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                values = pool.apply(measure, shape)
            m, n, c, dtype = shape
            record(STUDY, Row(f"{m} x {n} x {c} {dtype}", "dso p=1", 0, values=values))
    draw()


def measure(m: int, n: int, c: int, dtype: str) -> dict[str, float]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(m) % c)
    X = np.empty((m, n), dtype=dtype)
    for row in X:
        row[:] = rng.standard_normal(n, dtype=dtype)
    X[:, :10] += y[:, None]
    return {"extra": extra_memory(X, y), "bound": fit_bytes(m, n, c) + 50 * MIB, "X": X.nbytes}


def draw() -> None:
    lines = [
        [row.data, *(f"{row.values[name] / MIB:.0f}" for name in ("X", "extra", "bound")),
         f"{row.values['extra'] / row.values['X']:.2f}"]
        for row in rows_of(STUDY)
    ]  # fmt: skip
    write_table(
        STUDY,
        "Extra memory of a fit (MiB)",
        ["m x n x classes", "X", "extra", "bound", "extra / X"],
        lines,
        "Growth of peak resident memory during one fit at default settings, each in a process of its own.",
    )


if __name__ == "__main__":
    main()
