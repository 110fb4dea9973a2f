"""What knowing something of the features costs: fits with covariates, a free bias or factors, against a plain fit.

Processor time, the best of some rounds of all fits in turn, on ten parts of each set: below p = 1 a fit of another
problem ends at another local optimum, and takes fewer steps or more by chance. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import time
import warnings
from itertools import product
from statistics import median
from typing import Any
from unittest.mock import patch

import click
import numpy as np

from benchmarks.data import load, needed
from benchmarks.harness import record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row
from dsofs.solvers.qp import pivoting

STUDY, PARTS, ROUNDS = "known", 10, 3
DATA = ("ar", "tox_171")
SETTINGS: dict[str, dict[str, Any]] = {
    "p = 0.85": {}, "p = 1": {"p": 1.0}, "p = 1, hard": {"p": 1.0, "C": None}, "p = 0.5": {"p": 0.5},
}  # fmt: skip
PLAIN = "plain"


def known(n_features: int) -> dict[str, dict[str, Any]]:
    factors = np.random.default_rng(0).uniform(1, 10, n_features)
    return {
        PLAIN: {}, "two covariates": {"penalty_factor": {0: 0, 1: 0}}, "free bias": {"intercept_penalty": 0.0},
        "factors of 1 to 10": {"penalty_factor": factors},
    }  # fmt: skip


@click.command()
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(table: bool) -> None:
    if not table:
        start_anew(STUDY)
        warnings.simplefilter("ignore")
        for data, part in product(needed(DATA), range(PARTS)):
            X, y = load(data, seed=part)
            for name, setting in SETTINGS.items():
                selectors = {what: DSOSelector(**setting, **given) for what, given in known(X.shape[1]).items()}
                best = dict.fromkeys(selectors, np.inf)
                for _, (what, selector) in product(range(ROUNDS), selectors.items()):
                    clock = time.process_time()
                    selector.fit(X, y)
                    best[what] = min(best[what], time.process_time() - clock)
                for what, selector in selectors.items():
                    values = {"steps": selector.n_iter_, "factorisations": factorisations(selector, X, y)}
                    record(STUDY, Row(data, what, part, {"setting": name}, seconds=best[what], values=values))
    draw()


def factorisations(selector: DSOSelector, X: np.ndarray, y: np.ndarray) -> int:
    """Of the inner QPs, in another fit: counting takes time."""
    with patch.object(pivoting, "factorise", wraps=pivoting.factorise) as counted:
        selector.fit(X, y)
    return counted.call_count


def draw() -> None:
    rows = {(row.data, row.parameters["setting"], row.method, row.seed): row for row in rows_of(STUDY)}
    lines = []
    for data, what in product(DATA, [name for name in known(0) if name != PLAIN]):
        cells = []
        for name in SETTINGS:
            pairs = [(rows[data, name, what, part], rows[data, name, PLAIN, part]) for part in range(PARTS)]
            times = [row.seconds / plain.seconds for row, plain in pairs]
            counts = [row.values["factorisations"] / plain.values["factorisations"] for row, plain in pairs]
            cells.append(f"{median(times):.2f} ({min(times):.2f} to {max(times):.2f}; {median(counts):.2f})")
        lines.append([data, what, *cells])
    notes = (
        f"Processor time over that of a plain fit, one thread, the best of {ROUNDS}: the median of {PARTS} parts of "
        "each set, in brackets the least and the most, and the median ratio of the factorisations of the QPs."
    )
    write_table(STUDY, "What covariates and factors cost", ["data", "known", *SETTINGS], lines, notes)


if __name__ == "__main__":
    main()
