"""From a wide CSV file to a finished report, through the command line: where the time goes.

``python -m benchmarks.reporting`` writes a table of 300 samples x 20,000 columns and a label to a temporary folder,
runs ``dsofs select`` on it as a user would, and ``dsofs --help``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import numpy as np

from benchmarks.harness import record, rows_of, start_anew, write_table
from benchmarks.reading import N_FEATURES, N_SAMPLES
from dsofs.experiments.results import Row

STUDY = "reporting"
INFORMATIVE = 20  # columns whose mean depends on the class
SHIFT = 1.0  # standard deviations between the means of the classes
STAGES = {"reading": "reading", "selecting": "selecting", "examining": "resampling", "drawing": "drawing"}
REST = "starting Python, loading packages, writing"
SELECT, HELP = "select", "help"


def write_informative(path: Path) -> None:
    """Noise with all its digits, but for some columns, and a label in the last column."""
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join([*(f"gene_{index}" for index in range(N_FEATURES)), "label"]) + "\n")
        for sample in range(N_SAMPLES):
            values = rng.normal(size=N_FEATURES)
            values[:INFORMATIVE] += SHIFT * (sample % 2)
            file.write(",".join([*map(repr, values.tolist()), "ab"[sample % 2]]) + "\n")


def called(*arguments: str) -> tuple[float, str]:
    """Seconds of a command from start to end, and what it printed."""
    clock = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "dsofs", *arguments], capture_output=True, text=True, check=True)
    return time.perf_counter() - clock, done.stdout


def measure_select(path: Path, number: int) -> None:
    out = path.parent / f"out{number}"
    seconds, printed = called("select", str(path), "--target", "label", "-k", "20", "--out", str(out), "--json")
    values = {
        "stages": json.loads(printed)["seconds"],
        "csv_megabytes": path.stat().st_size / 1e6,
        "report_megabytes": (out / "report.html").stat().st_size / 1e6,
    }
    record(STUDY, Row("wide text", SELECT, number, seconds=seconds, values=values))


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--helps", default=5, show_default=True)
def main(rounds: int, helps: int) -> None:
    start_anew(STUDY)
    for number in range(helps):
        record(STUDY, Row("none", HELP, number, seconds=called("--help")[0]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        write_informative(path)
        for number in range(rounds):
            measure_select(path, number)
    draw()


def draw() -> None:
    rows = rows_of(STUDY)
    runs = [row for row in rows if row.method == SELECT]
    totals = np.array([row.seconds for row in runs], dtype=np.float64)
    parts = {name: np.array([row.values["stages"][stage] for row in runs]) for stage, name in STAGES.items()}
    parts[REST] = totals - sum(parts.values())
    lines = [[name, *(f"{each:.2f}" for each in spent), f"{np.mean(spent / totals):.0%}"]
             for name, spent in {**parts, "all": totals}.items()]  # fmt: skip
    quickest = min(row.seconds for row in rows if row.method == HELP and row.seconds is not None)
    n_helps = sum(row.method == HELP for row in rows)
    write_table(
        STUDY,
        "From a file to a report",
        ["stage", *(f"run {row.seed + 1}, s" for row in runs), "share"],
        lines,
        f"`dsofs select` with its defaults and k = 20 on {N_SAMPLES} samples x {N_FEATURES:,} columns and a label, "
        f"{runs[0].values['csv_megabytes']:.0f} MB of CSV; the report has {runs[0].values['report_megabytes']:.2f} MB. "
        f"`dsofs --help` takes {quickest:.2f} s, the best of {n_helps}.",
    )


if __name__ == "__main__":
    main()
