"""Time and memory of a fit on sparse X with thousands of samples and labels of noise, against the memory it states."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from benchmarks.contender_worker import peak_bytes, resident_bytes
from benchmarks.harness import in_new_process, record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.design.budget import Budget
from dsofs.experiments.results import Row

STUDY = "sparse_wide"
SIZES = ((1250, 50_000), (2500, 100_000), (5000, 200_000))
DENSITY = 0.001


def noise(m: int, n: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Sparse X, and labels at random."""
    rng = np.random.default_rng(0)
    return sparse.random_array((m, n), density=DENSITY, format="csr", rng=rng), rng.integers(0, 2, m)


def fit(m: int, n: int) -> dict[str, object]:
    X, y = noise(m, n)
    DSOSelector().fit(X[:60, :2000], np.arange(60) % 2)  # libraries loaded
    before, clock, cpu = resident_bytes(), time.perf_counter(), time.process_time()
    selector = DSOSelector().fit(X, y)
    return {
        "seconds": time.perf_counter() - clock,
        "cpu": time.process_time() - cpu,
        "extra": peak_bytes() - before,
        "stated": Budget().fit_bytes(m, n, 2),
        "status": selector.status_,
        "steps": selector.n_iter_,
        "objective": float(selector.objective_),
    }


def draw() -> None:
    lines = [
        [
            row.data,
            row.values["status"],
            row.values["steps"],
            f"{row.values['objective']:.5g}",
            f"{row.values['cpu']:.1f} s",
            f"{row.seconds:.1f} s",
            f"{row.values['extra'] / 2**20:.0f} MiB",
            f"{row.values['stated'] / 2**20:.0f} MiB",
        ]
        for row in rows_of(STUDY)
    ]
    write_table(
        STUDY,
        "Sparse and wide",
        ["m x n", "status", "steps", "objective", "CPU time", "time", "extra memory", "stated before the fit"],
        lines,
        f"{DENSITY:.1%} of the entries are not zero, two classes at random, default settings, a process each, on "
        "idle cores.",
    )


@study(STUDY, draw)
def main() -> None:
    for m, n in SIZES:
        values = in_new_process(fit, m, n)
        seconds = values.pop("seconds")
        record(STUDY, Row(f"{m:,} x {n:,}", "dsofs", 0, seconds=seconds, values=values))
        print(m, n, f"{seconds:.1f} s", values, flush=True)


if __name__ == "__main__":
    main()
