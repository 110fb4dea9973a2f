"""Speed of a fit to tol = 1e-3 against the methods of ``methods/``."""

from __future__ import annotations

from math import isnan, nan
from statistics import median

import click

from benchmarks.data import available, load, synthetic
from benchmarks.harness import interleave, record, rows_of, start_anew, write_table
from benchmarks.methods import all_methods
from dsofs.evaluation.results import Row

STUDY = "speed"
TOO_LARGE = {"MultiTaskLassoCV": 5e7}  # m n c beyond which a method would take more than ten minutes
SHAPES = {"synthetic 200x5000x5": (200, 5000, 5), "synthetic 300x20000x3": (300, 20000, 3)}


@click.command()
@click.option("--rounds", default=5, show_default=True)
@click.option("--go-on", is_flag=True, help="Keep the data sets that the results file has.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(rounds: int, go_on: bool, table: bool) -> None:
    if not table:
        if not go_on:
            start_anew(STUDY)
        measure(rounds)
    draw()


def measure(rounds: int) -> None:
    sets = {name: load(name) for name in available()}
    sets |= {name: synthetic(0, *shape) for name, shape in SHAPES.items()}
    done = {row.data for row in rows_of(STUDY)}
    for name, (X, y) in sets.items():
        if name in done:
            continue
        size = X.size * len(set(y))
        jobs = {
            method: prepare(X, y) for method, prepare in all_methods().items() if size <= TOO_LARGE.get(method, size)
        }
        jobs["dso p=1"](), jobs["X @ X.T"]()  # warm: libraries loaded, threads started
        for number, method, seconds, result in interleave(jobs, rounds):
            values = {"gap": float(result.duality_gap_)} if method == "dso p=1" else {}
            values["shape"] = [*X.shape, len(set(y))]
            record(STUDY, Row(name, method, number, seconds=seconds, values=values))
            print(f"{name:24s} {method:18s} {seconds:9.4f} s", flush=True)


def draw() -> None:
    rows = rows_of(STUDY)
    methods = list(all_methods())
    lines = []
    for name in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == name]
        times = {m: median([row.seconds for row in of_set if row.method == m] or [nan]) for m in methods}
        ours = times["dso p=1"]
        gap = max(row.values["gap"] for row in of_set if row.method == "dso p=1")
        shape = " x ".join(map(str, of_set[0].values["shape"]))
        others = [_cell(times[m], ours) for m in methods if m not in ("dso p=1", "X @ X.T")]
        lines.append([name, shape, f"{ours:.3f} s", f"{gap:.0e}", *others, f"{ours / times['X @ X.T']:.0f}"])
    header = ["data", "m x n x classes", "dso p=1", "gap", *methods[1:-1]]
    write_table(
        STUDY,
        "Speed: a fit to tol = 1e-3",
        [*header, "in X @ X.T"],
        lines,
        "60 % of each set, standardised; medians of five interleaved rounds in one process, all cores; what takes more "
        "than a minute ran once. "
        "In brackets: the method's time over that of dso at p = 1. MultiTaskLassoCV: 5 folds, 20 alphas. "
        "MultiTaskLasso: one fit, alpha = 0.1 of the largest. Last column: our time in units of one bare X @ X.T.",
    )


def _cell(theirs: float, ours: float) -> str:
    return "not run: takes too long" if isnan(theirs) else f"{theirs:.3g} s ({theirs / ours:.3g} x)"


if __name__ == "__main__":
    main()
