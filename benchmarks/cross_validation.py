"""``DSOSelectorCV`` over six values of p and five folds, in units of a single fit at the slowest of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median

import click
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_limits

from benchmarks.data import WIDE, available, load, synthetic
from benchmarks.harness import RESULTS, interleave, keep, record, rows_of, write_table
from benchmarks.middle import Data, counts, images, real
from dsofs import DSOSelector, DSOSelectorCV
from dsofs.experiments.results import Row

STUDY = "cross_validation"
POWERS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1)
MARGINS = {"default slack": "auto", "hard": None}
SHAPES = {"synthetic 200x5000x5": (200, 5000, 5), "synthetic 300x20000x2": (300, 20_000, 2)}
MIDDLE = {"images 1440x1024x20": images, "counts 1943x3289x2": counts}
# Larger sets, at most so many samples of each; on counts a hard margin takes minutes, and is left out.
LARGER = ("semeion", "mnist_4v9", "more/pbmc68k_reduced", "more/cora_os", "more/webkb_wisconsin")
MOST_SAMPLES = 1000
COUNTS = ("cora_os", "webkb_wisconsin", "counts 1943x3289x2")
SELECTION, TWO_JOBS, SCORED = "selection", "selection, n_jobs=2", "with scoring"


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--data", multiple=True, help="Only these sets; the rows of all others stay. Default: all.")
@click.option("--margins", type=click.Choice([*MARGINS]), multiple=True, default=[*MARGINS], show_default=True)
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(rounds: int, data: tuple[str, ...], margins: tuple[str, ...], table: bool) -> None:
    if not table:
        found = sets()
        unknown = set(data) - set(found)
        if unknown:
            raise click.BadParameter(f"{', '.join(unknown)} not among {', '.join(found)}", param_hint="--data")
        for name in data or found:
            for kind in margins:
                if not (name in COUNTS and MARGINS[kind] is None):
                    keep(STUDY, [row for row in so_far() if (row.data, row.parameters["margins"]) != (name, kind)])
                    measure(name, *found[name](), kind, rounds)
    draw()


def sets() -> dict[str, Callable[[], Data]]:
    found: dict[str, Callable[[], Data]] = {name: partial(load, name) for name in available()}
    found |= {name: partial(synthetic, 0, *shape) for name, shape in SHAPES.items()} | MIDDLE
    return found | {name.removeprefix("more/"): partial(real, name, MOST_SAMPLES) for name in available(LARGER)}


class OnOneCore:
    """Fits in one thread."""

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        with threadpool_limits(1):
            self.estimator.fit(X, y)


def measure(name: str, X: np.ndarray, y: np.ndarray, margins: str, rounds: int) -> None:
    C = MARGINS[margins]
    single = {f"p={p}": OnOneCore(DSOSelector(p=p, C=C)) for p in POWERS}
    # Selection alone: on the chosen features nothing is trained.
    tuned = {
        SELECTION: DSOSelectorCV(ps=POWERS, Cs=[C], estimator=DummyClassifier()),
        TWO_JOBS: DSOSelectorCV(ps=POWERS, Cs=[C], estimator=DummyClassifier(), n_jobs=2),
        SCORED: DSOSelectorCV(ps=POWERS, Cs=[C]),
    }
    jobs = {what: lambda estimator=estimator: estimator.fit(X, y) for what, estimator in (single | tuned).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer samples than folds
        jobs[TWO_JOBS]()  # warm, and the workers started
        for number, what, seconds, _ in interleave(jobs, rounds):
            values = {"shape": [*X.shape, len(set(y))]}
            record(STUDY, Row(name, what, number, {"margins": margins}, seconds=seconds, values=values))
    print(f"{name:24s} {margins:14s} {time.strftime('%H:%M:%S')}", flush=True)


def so_far() -> list[Row]:
    return rows_of(STUDY) if (RESULTS / f"{STUDY}.jsonl").exists() else []


def in_table(line: tuple[str, str]) -> tuple[int, int]:
    """Where the line of a set and its margins is, whichever was measured last."""
    names = [*WIDE, *SHAPES, *MIDDLE, *(name.removeprefix("more/") for name in LARGER)]
    return names.index(line[0]), [*MARGINS].index(line[1])


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for name, margins in sorted({(row.data, row.parameters["margins"]) for row in rows}, key=in_table):
        of_set = [row for row in rows if (row.data, row.parameters["margins"]) == (name, margins)]
        times = {
            what: median(row.seconds for row in of_set if row.method == what) for what in {r.method for r in of_set}
        }
        if SCORED not in times:  # where a run was stopped
            continue
        slowest = max((what for what in times if what.startswith("p=")), key=times.__getitem__)
        shape = " x ".join(map(str, of_set[0].values["shape"]))
        cells = [f"{times[what]:.2f} s, {times[what] / times[slowest]:.1f} x" for what in (SELECTION, TWO_JOBS)]
        scoring = times[SCORED] - times[SELECTION]
        lines.append([name, shape, margins, f"{times[slowest]:.3f} s ({slowest})", *cells,
                      f"{scoring:.2f} s" if scoring > 0 else "within the noise"])  # fmt: skip
    write_table(
        STUDY,
        "Choosing p by cross-validation",
        ["data", "m x n x classes", "margins", "slowest single fit", "DSOSelectorCV", "on two cores", "scoring"],
        lines,
        f"60 % of each set, and at most {MOST_SAMPLES:,} samples of the larger sets; standardised. "
        "Six values of p, five folds and the final fits, 36 fits in all: seconds, and in units of the slowest single "
        "fit. DSOSelectorCV: one after the other; on two cores: n_jobs=2, workers "
        "running. Medians of interleaved rounds. Scoring, a linear SVM for each of 30 selections, is apart.",
    )


if __name__ == "__main__":
    main()
