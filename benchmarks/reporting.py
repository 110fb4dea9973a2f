"""From a file to a finished report, through the command line: where the time goes.

``python -m benchmarks.reporting`` writes three synthetic tables to a temporary folder: 300 samples x 20,000 columns,
1,943 x 3,289 word counts of two classes, and 1,440 pictures of 32 x 32 pixels of twenty objects. It runs ``dsofs
select`` on them as a user would, and ``dsofs --help``. The time of the processor is measured beside that of the clock,
since other programs change only the latter.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

from benchmarks.harness import record, rows_of, start_anew, write_table
from benchmarks.reading import N_FEATURES, N_SAMPLES
from dsofs.experiments.results import Row

STUDY = "reporting"
INFORMATIVE = 20  # columns whose mean depends on the class
SHIFT = 1.0  # standard deviations between the means of the classes
STAGES = {"reading": "reading", "selecting": "selecting", "resampling": "resampling",
          "shuffling labels": "permutations", "drawing": "drawing"}  # fmt: skip
REST = "the rest: starting Python, loading packages, describing, writing"
SELECT, HELP = "select", "help"
Data = tuple[np.ndarray, np.ndarray]


def wide(rng: np.random.Generator) -> Data:
    """Noise with all its digits, but for some columns."""
    y = np.arange(N_SAMPLES) % 2
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    X[:, :INFORMATIVE] += SHIFT * y[:, None]
    return X, y


def counts(rng: np.random.Generator, m: int = 1943, n: int = 3289) -> Data:
    """Words by Zipf's law; a tenth of them are more common in one of two topics, which documents mix."""
    y = np.arange(m) % 2
    tilt = np.where(rng.random(n) < 0.1, rng.normal(size=n), 0)
    topics = np.stack([np.exp(-tilt), np.exp(tilt)]) * rng.permutation(1 / (np.arange(n) + 10.0))
    topics /= topics.sum(axis=1, keepdims=True)
    own = rng.beta(4, 1, size=(m, 1))
    lengths = 5 + rng.lognormal(4.2, 0.7, m).astype(int)
    return rng.multinomial(lengths, own * topics[y] + (1 - own) * topics[1 - y]), y


def images(rng: np.random.Generator, n_objects: int = 20, n_views: int = 72, side: int = 32) -> Data:
    """Objects of eight soft spots, seen from all around."""
    grid = np.arange(side) - (side - 1) / 2
    turns = 2 * np.pi * np.arange(n_views)[:, None] / n_views
    pictures = []
    for _ in range(n_objects):
        distance, angle, size, light = (rng.uniform(low, high, 8) for low, high in
                                        ((0, 12), (0, 2 * np.pi), (1.5, 5), (0.3, 1)))  # fmt: skip
        x = distance * np.cos(angle + turns)
        y = distance * (np.sin(angle) + 0.3 * np.sin(angle + turns))
        across, down = (np.exp(-((grid - place[..., None]) ** 2) / (2 * size[:, None] ** 2)) for place in (x, y))
        pictures.append(np.einsum("s,vsi,vsj->vij", light, down, across).reshape(n_views, -1))
    return np.clip(120 * np.concatenate(pictures), 0, 255).astype(int), np.repeat(np.arange(n_objects), n_views)


FILES: dict[str, Callable[[np.random.Generator], Data]] = {"wide": wide, "counts": counts, "images": images}


def write_csv(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    """A label in the last column."""
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join([*(f"feature_{index}" for index in range(X.shape[1])), "label"]) + "\n")
        for row, code in zip(X.tolist(), y, strict=True):
            file.write(",".join([*map(repr, row), f"class_{code}"]) + "\n")


def called(*arguments: str) -> tuple[float, float, str]:
    """Seconds of a command from start to end and of the processor, and what it printed."""
    before, clock = _processor(), time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "dsofs", *arguments], capture_output=True, text=True, check=True)
    return time.perf_counter() - clock, _processor() - before, done.stdout


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_select(path: Path, number: int) -> None:
    out = path.parent / f"{path.stem}{number}"
    words = ("select", str(path), "--target", "label", "-k", "20", "--out", str(out), "--json")
    seconds, processor, printed = called(*words)
    found = json.loads(printed)
    values = {
        "stages": found["seconds"],
        "processor_seconds": processor,
        "resamples": found["examined"]["resamples"],
        "permutations": found["examined"]["permutations"],
        "csv_megabytes": path.stat().st_size / 1e6,
        "report_megabytes": (out / "report.html").stat().st_size / 1e6,
        "samples": found["data"]["n_samples"],
        "features": found["data"]["n_features"],
        "classes": len(found["classes"]),
    }
    record(STUDY, Row(path.stem, SELECT, number, seconds=seconds, values=values))


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--helps", default=5, show_default=True)
def main(rounds: int, helps: int) -> None:
    start_anew(STUDY)
    for number in range(helps):
        record(STUDY, Row("none", HELP, number, seconds=called("--help")[0]))
    with tempfile.TemporaryDirectory() as folder:
        for name, make in FILES.items():
            write_csv(Path(folder) / f"{name}.csv", *make(np.random.default_rng(0)))
        for number in range(rounds):
            for name in FILES:
                measure_select(Path(folder) / f"{name}.csv", number)
    draw()


def draw() -> None:
    rows = rows_of(STUDY)
    runs = [row for row in rows if row.method == SELECT]
    helps = [row.seconds for row in rows if row.method == HELP and row.seconds is not None]
    largest = max(row.values["report_megabytes"] for row in runs)
    write_table(
        STUDY,
        "From a file to a report",
        ["file", "resamples, permutations", *STAGES.values(), REST, "all", "of the processor"],
        [_line(row) for row in sorted(runs, key=lambda row: list(FILES).index(row.data))],
        "`dsofs select` with its defaults and k = 20 on CSV files with a label in the last column: seconds, and their "
        f"share of all. A report has at most {largest:.2f} MB. `dsofs --help` takes {min(helps):.2f} s, the best of "
        f"{len(helps)}. Where the time of the processor is much less than the clock's times the cores, the machine was "
        "busy with other work, and fewer resamples and permutations fitted into the minute.",
    )


def _line(row: Row) -> list[str]:
    values, total = row.values, row.seconds or np.nan
    shape = f"{row.data}, {values['samples']:,} x {values['features']:,}, {values['classes']} classes"
    spent = [values["stages"][stage] for stage in STAGES]
    shares = [f"{seconds:.1f} ({seconds / total:.0%})" for seconds in (*spent, total - sum(spent))]
    numbers = f"{values['resamples']}, {values['permutations']}"
    return [shape, numbers, *shares, f"{total:.1f}", f"{values['processor_seconds']:.1f}"]


if __name__ == "__main__":
    main()
