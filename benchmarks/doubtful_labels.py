"""Samples whose labels a report doubts, against those that the literature doubts."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from statistics import mean

import click
import numpy as np

from benchmarks.harness import record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row
from dsofs.report import examine

STUDY = "doubtful_labels"
DATA = ("mislabel_colon", "mislabel_breast_west")
SIZES, DRAWS = (10, 20), 5  # of the resamples


def measure(folder: Path, name: str, k: int, draw: int) -> None:
    with np.load(folder / f"{name}.npz") as file:
        X, y, suspect = file["X"].astype(np.float64), file["y"], np.asarray(file["suspect"], dtype=bool)
    found = examine(X, y, DSOSelector(k), n_resamples=20, n_permutations=0, random_state=draw)
    listed = np.zeros(len(y), dtype=bool)
    listed[[int(each.sample) for each in found.suspects]] = True
    values = {"listed": int(listed.sum()), "right": int((listed & suspect).sum()), "suspect": int(suspect.sum())}
    record(STUDY, Row(name, "dso", draw, {"k": k}, k=k, values=values))


@click.command()
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(table: bool) -> None:
    if not table:
        folder = Path(os.environ.get("DSOFS_DATA", ".")) / "more"
        missing = [name for name in DATA if not (folder / f"{name}.npz").exists()]
        if missing:
            raise click.ClickException(f"{', '.join(missing)} must be in the folder 'more' of DSOFS_DATA.")
        start_anew(STUDY)
        for name, k, draw_of_resamples in product(DATA, SIZES, range(DRAWS)):
            measure(folder, name, k, draw_of_resamples)
    draw()


def draw() -> None:
    lines = []
    for name, k in product(DATA, SIZES):
        values = [row.values for row in rows_of(STUDY) if (row.data, row.k) == (name, k)]
        listed, right, suspect = (mean(each[key] for each in values) for key in ("listed", "right", "suspect"))
        precision = f"{right / listed:.2f}" if listed else ""
        lines.append([name, k, f"{listed:g}", f"{right:g}", f"{suspect:g}", precision, f"{right / suspect:.2f}"])
    write_table(
        STUDY,
        "Labels that a report doubts",
        ["data", "features", "listed", "of them doubted in the literature", "doubted there", "precision", "recall"],
        lines,
        f"`examine` with its defaults, without permutations: means of {DRAWS} draws of the resamples. Colon: Alon et "
        "al. 1999; breast: West et al. 2001, in the versions that mark the samples whose labels later work doubts.",
    )


if __name__ == "__main__":
    main()
