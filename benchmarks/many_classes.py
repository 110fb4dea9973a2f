"""Time and memory as the number of classes grows, three samples of each: by products, and with a matrix per class."""

from __future__ import annotations

import multiprocessing
import time

import click
import numpy as np

from benchmarks.contender_worker import peak_bytes, resident_bytes
from benchmarks.harness import keep, record, rows_of, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row
from dsofs.solvers.inner import margin

STUDY = "many_classes"
SIZES = ((300, 60, 100), (1200, 120, 400), (3000, 300, 1000))
WAYS = {"products": margin.MANY_CLASSES, "a matrix per class": 10**9}  # from so many classes on by products


@click.command()
@click.option("--way", "ways", multiple=True, type=click.Choice([*WAYS]), default=[*WAYS], help="Keep rows of others.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(ways: tuple[str, ...], table: bool) -> None:
    if not table:
        keep(STUDY, [row for row in rows_of(STUDY) if row.method not in ways])
        for size in SIZES:
            for way in ways:
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    values = pool.apply(fit, (way, *size))
                seconds = values.pop("seconds")
                record(STUDY, Row(name(size), way, 0, seconds=seconds, values=values))
                print(size, way, f"{seconds:.1f} s", values, flush=True)
    draw()


def name(size: tuple[int, int, int]) -> str:
    return "{} x {}, {} classes".format(*size)


def around_centres(m: int, n: int, c: int) -> tuple[np.ndarray, np.ndarray]:
    """m / c samples of each class, around a random centre."""
    rng, y = np.random.default_rng(0), np.repeat(np.arange(c), m // c)
    return rng.normal(size=(c, n))[y] + rng.normal(size=(m, n)), y


def fit(way: str, m: int, n: int, c: int) -> dict[str, object]:
    margin.MANY_CLASSES = WAYS[way]
    X, y = around_centres(m, n, c)
    DSOSelector().fit(X[:60, :20], y[:60] % 3)  # libraries loaded
    before, clock, cpu = resident_bytes(), time.perf_counter(), time.process_time()
    selector = DSOSelector().fit(X, y)
    return {
        "seconds": time.perf_counter() - clock,
        "cpu": time.process_time() - cpu,
        "extra": peak_bytes() - before,
        "status": selector.status_,
        "objective": float(selector.objective_),
    }


def draw() -> None:
    lines = [
        [
            row.data,
            row.method,
            row.values["status"],
            f"{row.values['objective']:.5g}",
            f"{row.values['cpu']:.1f} s",
            f"{row.seconds:.1f} s",
            f"{row.values['extra'] / 2**20:.0f} MiB",
        ]
        for row in sorted(rows_of(STUDY), key=lambda row: [*map(name, SIZES)].index(row.data))
    ]
    write_table(
        STUDY,
        "Many classes",
        ["m x n", "inner step", "status", "objective", "CPU time", "time", "extra memory"],
        lines,
        "Three samples of each class around a random centre, default settings, a process each. Products on two "
        "idle cores; a matrix per class with one thread (OPENBLAS_NUM_THREADS=1) on busy ones: compare its CPU time.",
    )


if __name__ == "__main__":
    main()
