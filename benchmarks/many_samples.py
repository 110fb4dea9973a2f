"""Time and memory as the number of samples grows: 500 features, two classes, 5 % of the labels wrong."""

from __future__ import annotations

import time

import click
import numpy as np

from benchmarks.harness import extra_memory, in_new_process, record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "many_samples"
SIZES = (10**3, 10**4, 10**5, 10**6)
N_FEATURES = 500


def noisy_data(m: int) -> tuple[np.ndarray, np.ndarray]:
    """float32, so that a million samples take 2 GB."""
    rng = np.random.default_rng(0)
    X = np.empty((m, N_FEATURES), dtype=np.float32)
    for part in range(0, m, 10_000):
        X[part : part + 10_000] = rng.standard_normal((min(10_000, m - part), N_FEATURES), dtype=np.float32)
    y = X[:, :20] @ rng.normal(size=20) > 0
    return X, y ^ (rng.random(m) < 0.05)


def fit(m: int) -> dict[str, object]:
    X, y = noisy_data(m)
    extra = extra_memory(X, y)
    clock = time.perf_counter()
    selector = DSOSelector(p=1.0, C=None).fit(X, y)
    return {
        "seconds": time.perf_counter() - clock,
        "m": m,
        "extra": extra,
        "X": X.nbytes,
        "status": selector.status_,
        "gap": float(selector.duality_gap_),
        "found": int((selector.ranking_[:20] <= 20).sum()),
    }


def draw() -> None:
    rows, lines, last = rows_of(STUDY), [], None
    for row in rows:
        slope = "" if last is None else f"{np.log10(row.seconds / last.seconds):.2f}"
        size = [f"{row.values[name] / 2**20:.0f} MiB" for name in ("X", "extra")]
        found = f"{row.values['found']} of 20"
        lines.append(
            [row.data, row.values["status"], f"{row.values['gap']:.0e}", f"{row.seconds:.2f} s", slope, *size, found]
        )
        last = row
    write_table(
        STUDY,
        "Time and memory as the number of samples grows",
        ["m x n", "status", "gap", "time", "slope", "X (float32)", "extra memory", "true features in the top 20"],
        lines,
        "Two classes, 5 % of the labels wrong, p = 1 without slack asked for; a fit each in a process of its own, the "
        "proof that the classes cannot be separated included. Slope: log10 of the time over that of a tenth as many.",
    )


@study(STUDY, draw)
@click.option("--largest", default=SIZES[-1], show_default=True)
def main(largest: int) -> None:
    for m in [size for size in SIZES if size <= largest]:
        values = in_new_process(fit, m)
        seconds = values.pop("seconds")
        record(STUDY, Row(f"{m} x {N_FEATURES}", "dso p=1", 0, seconds=seconds, values=values))
        print(f"{m:8d} samples {seconds:8.2f} s", values, flush=True)


if __name__ == "__main__":
    main()
