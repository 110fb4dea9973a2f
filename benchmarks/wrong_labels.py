"""Five labels of separable data are flipped: how many of them are among the samples in conflict?"""

from __future__ import annotations

import warnings

import click
import numpy as np

from benchmarks.harness import record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "wrong_labels"
SHAPES = ((200, 10), (200, 50), (1000, 20), (1000, 100), (5000, 50))
N_WRONG = 5


def find_wrong_labels(m: int, n: int, seed: int) -> dict[str, int | str]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = X @ rng.normal(size=n) > 0
    wrong = rng.permutation(m)[:N_WRONG]
    y[wrong] ^= True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = DSOSelector(p=1.0, C=None).fit(X, y)
    found = len(np.intersect1d(wrong, fit.conflicts_))
    return {"found": found, "conflicts": len(fit.conflicts_), "status": fit.status_}


def draw() -> None:
    rows, lines = rows_of(STUDY), []
    for name in dict.fromkeys(row.data for row in rows):
        of_shape = [row for row in rows if row.data == name]
        found, conflicts = (np.mean([row.values[key] for row in of_shape]) for key in ("found", "conflicts"))
        m = int(name.split(" ")[0])
        lines.append(
            [name, len(of_shape), f"{found:.1f} of {N_WRONG}", f"{conflicts:.1f}", f"{N_WRONG * conflicts / m:.1f}"]
        )
    write_table(
        STUDY,
        "Wrong labels among the samples in conflict",
        ["m x n", "data sets", "wrong labels found", "samples in conflict", "by chance"],
        lines,
        f"Two separable classes, {N_WRONG} labels flipped. A minimal proof needs up to n + 2 samples, most of them "
        "right; by chance: the wrong labels among as many samples drawn at random.",
    )


@study(STUDY, draw)
@click.option("--seeds", default=10, show_default=True)
def main(seeds: int) -> None:
    for m, n in SHAPES:
        for seed in range(seeds):
            values = find_wrong_labels(m, n, seed)
            record(STUDY, Row(f"{m} x {n}", "dso p=1", seed, values=values))


if __name__ == "__main__":
    main()
