"""More samples than features: a fit to tol = 1e-3 against LinearSVC, which does not select, and its extra memory."""

from __future__ import annotations

from statistics import median

import click
from sklearn.svm import LinearSVC

from benchmarks.data import TALL, load, needed
from benchmarks.harness import extra_memory, in_new_process, interleave, record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "tall"


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(rounds: int, table: bool) -> None:
    if not table:
        names = needed(TALL)
        start_anew(STUDY)
        for name in names:
            measure(name, rounds)
    draw()


def measure(name: str, rounds: int) -> None:
    X, y = load(name)
    jobs = {
        "dso p=1": lambda: DSOSelector(p=1.0, C=None).fit(X, y),
        "dso p=0.5": lambda: DSOSelector(p=0.5, C=None).fit(X, y),
        "LinearSVC": lambda: LinearSVC(C=1).fit(X, y),
    }
    jobs["dso p=1"]()  # warm: libraries loaded, threads started
    extra = in_new_process(extra_memory_of, name)
    for number, method, seconds, result in interleave(jobs, rounds):
        values = {"shape": [*X.shape, len(set(y))], "extra": extra}
        if method != "LinearSVC":
            certificate = result.duality_gap_ if method == "dso p=1" else result.stationarity_
            values |= {"status": result.status_, "certificate": float(certificate)}
        record(STUDY, Row(name, method, number, seconds=seconds, values=values))
        print(f"{name:12s} {method:10s} {seconds:8.2f} s", flush=True)


def extra_memory_of(name: str) -> float:
    X, y = load(name)
    return extra_memory(X, y)


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for name in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == name]
        times = {m: median(r.seconds for r in of_set if r.method == m) for m in ("dso p=1", "dso p=0.5", "LinearSVC")}
        first = next(row for row in of_set if row.method == "dso p=1")
        lines.append([
            name,
            " x ".join(map(str, first.values["shape"])),
            first.values["status"],
            f"{first.values['certificate']:.0e}",
            *(f"{seconds:.2f} s" for seconds in times.values()),
            f"{times['LinearSVC'] / times['dso p=1']:.1f} x",
            f"{first.values['extra'] / 2**20:.0f} MiB",
        ])  # fmt: skip
    write_table(
        STUDY,
        "More samples than features: against LinearSVC(C=1)",
        ["data", "m x n x classes", "status", "gap", "dso p=1", "dso p=0.5", "LinearSVC", "ratio", "extra memory"],
        lines,
        "60 % of each set, standardised; to tol = 1e-3; medians of interleaved rounds (what takes more than a minute "
        "ran once), all cores. LinearSVC with its defaults, one versus rest, whether or not it converged. Extra memory "
        "is the growth of peak resident memory during a fit at p = 1, in a process of its own.",
    )


if __name__ == "__main__":
    main()
