"""The certificate of a fit with hard margins, for every real set and every p of the paper."""

from __future__ import annotations

import time
import warnings
from itertools import product

import click

from benchmarks.data import TALL, WIDE, load, needed
from benchmarks.harness import record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "certificates"
PARTS = (0.6, 1.0)
POWERS = (1.5, 1.0, 0.9, 0.7, 0.5, 0.3, 0.1)


@click.command()
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(table: bool) -> None:
    if not table:
        names = needed(WIDE + TALL)
        start_anew(STUDY)
        for name, part in product(names, PARTS):
            X, y = load(name, part=part)
            for p in POWERS:
                clock = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the status is in the table
                    fit = DSOSelector(p=p, C=None).fit(X, y)
                seconds = time.perf_counter() - clock
                values = {
                    "status": fit.status_,
                    "certificate": float(fit.duality_gap_ if p >= 1 else fit.stationarity_),
                    "rows": int((abs(fit.coef_).sum(axis=0) > 0).sum()),
                    "steps": fit.n_iter_,
                    "conflicts": len(fit.conflicts_),
                }
                given = {"p": p, "part": part}
                record(STUDY, Row(name, "dso", 0, given, seconds=seconds, values=values))
    draw()


def draw() -> None:
    lines = [
        [row.data, f"{row.parameters['part']:.0%}", row.parameters["p"], row.values["status"],
         f"{row.values['certificate']:.1e}", row.values["rows"], row.values["steps"], row.values["conflicts"],
         f"{row.seconds:.2f}"]
        for row in rows_of(STUDY)
    ]  # fmt: skip
    write_table(
        STUDY,
        "Certificates with hard margins (tol = 1e-3)",
        [
            "data",
            "part",
            "p",
            "status",
            "gap (p >= 1) or stationarity",
            "features not zero",
            "steps",
            "in conflict",
            "seconds",
        ],
        lines,
        "Relative duality gap from p = 1 on, largest relative violation of stationarity below.",
    )


if __name__ == "__main__":
    main()
