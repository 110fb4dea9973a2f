"""What knowing something of the features costs: fits with covariates, a free bias or factors, against a plain fit.

Processor time, the best of several rounds of all fits in turn. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import time
import warnings
from itertools import product
from typing import Any
from unittest.mock import patch

import click
import numpy as np

from benchmarks.data import load, needed
from benchmarks.harness import record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row
from dsofs.solvers.qp import pivoting

STUDY, ROUNDS = "known", 5
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
        for data in needed(DATA):
            X, y = load(data)
            for number, (name, setting), (what, given) in product(
                range(ROUNDS), SETTINGS.items(), known(X.shape[1]).items()
            ):
                selector = DSOSelector(**setting, **given)
                clock = time.process_time()
                selector.fit(X, y)
                seconds = time.process_time() - clock
                values = {"steps": selector.n_iter_, "factorisations": factorisations(selector, X, y)}
                record(STUDY, Row(data, what, number, {"setting": name}, seconds=seconds, values=values))
    draw()


def factorisations(selector: DSOSelector, X: np.ndarray, y: np.ndarray) -> int:
    """Of the inner QPs, in another fit: counting takes time."""
    with patch.object(pivoting, "factorise", wraps=pivoting.factorise) as counted:
        selector.fit(X, y)
    return counted.call_count


def draw() -> None:
    best: dict[tuple[str, str, str], Row] = {}
    for row in sorted(rows_of(STUDY), key=lambda row: -row.seconds):
        best[row.data, row.parameters["setting"], row.method] = row  # the quickest comes last
    lines = []
    for data, what in product(DATA, known(0)):
        pairs = [(best[data, name, what], best[data, name, PLAIN]) for name in SETTINGS]
        cells = [
            f"{row.seconds / plain.seconds:.2f} ({row.values['steps']}, {row.values['factorisations']})"
            for row, plain in pairs
        ]
        lines.append([data, what, *cells])
    notes = (
        f"Processor time over that of a plain fit, one thread, the best of {ROUNDS}; "
        "in brackets the outer steps and the factorisations of their QPs."
    )
    write_table(STUDY, "What covariates and factors cost", ["data", "known", *SETTINGS], lines, notes)


if __name__ == "__main__":
    main()
