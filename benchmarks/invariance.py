"""Does the ranking depend on what it must not depend on: sparse or dense, units, the order of the samples?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row
from dsofs.ranking import RANKINGS

STUDY = "invariance"
TABLES = 200
POWERS = (0.5, 0.85, 1.0)
FIRST = 10  # features whose ranks are compared


def versions(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, Any, np.ndarray]]:
    """The same table in other forms."""
    rows = rng.permutation(len(y))
    yield "sparse", sparse.csr_matrix(X), y
    yield "order of samples", X[rows], y[rows]
    yield "units", X * rng.uniform(0.1, 10, X.shape[1]), y


def measure(seed: int) -> None:
    """A small table of zeros and ones, in which many columns are exactly as good as each other."""
    rng = np.random.default_rng(seed)
    m, n, c = int(rng.integers(8, 30)), int(rng.integers(5, 60)), int(rng.integers(2, 4))
    X = (rng.random((m, n)) < rng.uniform(0.1, 0.5)).astype(float)
    y = rng.permutation(np.arange(m) % c)
    if not X.std(axis=0).any():
        return
    for ranking in RANKINGS:
        options = {"p": POWERS[seed % len(POWERS)], "ranking": ranking}
        plain = DSOSelector(1, **options).fit(X, y).ranking_
        first = plain <= FIRST
        for version, other, labels in versions(X, y, np.random.default_rng(seed)):
            same = np.array_equal(DSOSelector(1, **options).fit(other, labels).ranking_[first], plain[first])
            values = {"version": version, "same": bool(same)}
            record(STUDY, Row(f"random {seed}", "dso", seed, options, values=values))


def draw() -> None:
    rows = rows_of(STUDY)
    kinds = list(dict.fromkeys(row.values["version"] for row in rows))
    lines = []
    for ranking in RANKINGS:
        cells: list[object] = [ranking]
        for kind in kinds:
            same = [r.values["same"] for r in rows if (r.parameters["ranking"], r.values["version"]) == (ranking, kind)]
            cells.append(f"{len(same) - sum(same)} of {len(same)}")
        lines.append(cells)
    write_table(
        STUDY,
        "Rankings of tied features",
        ["ranking", *(f"differ: {kind}" for kind in kinds)],
        lines,
        f"{TABLES} small tables of zeros and ones, p = 0.5, 0.85 and 1: how often the first {FIRST} features differ "
        "between the dense table and the same one in another form.",
    )


@study(STUDY, draw)
def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(TABLES):
            measure(seed)


if __name__ == "__main__":
    main()
