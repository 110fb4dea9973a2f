"""Reading a wide table of text: our reader against numpy.loadtxt, polars, pyarrow and pandas.

``python -m benchmarks.reading`` writes a table of 300 samples x 20,000 columns and a label to a temporary folder and
has every reader that is installed turn it into a matrix, in turn. Readers must agree to the last bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np

from benchmarks.harness import interleave, record, rows_of, start_anew, write_table
from dsofs.experiments.results import Row
from dsofs.tables.readers import read_frame

STUDY = "reading"
N_SAMPLES, N_FEATURES = 300, 20_000


def write_wide(path: Path) -> None:
    """Numbers with all their digits, as programs write them, and a label in the last column."""
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join([*(f"gene_{index}" for index in range(N_FEATURES)), "label"]) + "\n")
        for sample in range(N_SAMPLES):
            file.write(",".join([*map(repr, rng.normal(size=N_FEATURES).tolist()), "ab"[sample % 2]]) + "\n")


def with_dsofs(path: Path) -> np.ndarray:
    return np.asarray(read_frame(path).numbers)


def with_loadtxt(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(N_FEATURES))


def with_polars(path: Path) -> np.ndarray:
    import polars

    return polars.read_csv(path).drop("label").to_numpy()


def with_pyarrow(path: Path) -> np.ndarray:
    import pyarrow.csv

    # A line does not fit into a block of the default size.
    table = pyarrow.csv.read_csv(path, read_options=pyarrow.csv.ReadOptions(block_size=2**24))
    return np.column_stack([column.to_numpy() for column in table.columns[:-1]])


def with_pandas(path: Path) -> np.ndarray:
    import pandas

    # Its default is quicker and wrong in the last digit.
    return pandas.read_csv(path, float_precision="round_trip").iloc[:, :-1].to_numpy()


READERS: dict[str, Callable[[Path], np.ndarray]] = {
    "dsofs": with_dsofs,
    "numpy": with_loadtxt,
    "polars": with_polars,
    "pyarrow": with_pyarrow,
    "pandas": with_pandas,
}


@click.command()
@click.option("--rounds", default=5, show_default=True)
def main(rounds: int) -> None:
    start_anew(STUDY)
    installed = {name: read for name, read in READERS.items() if find_spec(name)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        write_wide(path)
        expected = with_loadtxt(path)
        jobs = {name: lambda read=read: read(path) for name, read in installed.items()}
        for number, name, seconds, result in interleave(jobs, rounds + 1):
            if number:  # in the first round packages are loaded
                same = bool(np.array_equal(result, expected))  # type: ignore[arg-type]
                megabytes = path.stat().st_size / 1e6
                values = {"equal": same, "megabytes": megabytes}
                record(STUDY, Row("wide text", name, number, seconds=seconds, values=values))
    draw()


def draw() -> None:
    rows = rows_of(STUDY)
    medians = {name: np.median([row.seconds for row in rows if row.method == name]) for name in READERS}
    lines = [
        [
            "numpy.loadtxt" if name == "numpy" else name,
            f"{median:.2f}",
            f"{median / medians['numpy']:.2f}",
            "yes" if all(row.values["equal"] for row in rows if row.method == name) else "no",
        ]
        for name, median in medians.items()
        if not np.isnan(median)
    ]
    write_table(
        STUDY,
        "Reading a wide table of text",
        ["reader", "seconds", "of numpy.loadtxt", "equal to the last bit"],
        lines,
        f"{N_SAMPLES} samples x {N_FEATURES:,} columns and a label, {rows[0].values['megabytes']:.0f} MB of CSV, to "
        "one matrix of float64; medians of one interleaved run.",
    )


if __name__ == "__main__":
    main()
