"""Where the time of a fit goes, phase by phase, and how near each comes to the machine's own rate for such work.

Gram: syrk of as many samples. Products: a matrix times c columns. Inner QPs and Newton: a Cholesky factorisation of as
many rows. Ranking and standardising: copying. The rate of the machine is measured beside each fit, on the same shapes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from statistics import median
from typing import Any

import click
import numpy as np
from scipy.linalg import lapack

from benchmarks.data import available, load, synthetic
from benchmarks.harness import record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.arrays.threads import single_threaded
from dsofs.evaluation.results import Row

STUDY = "roofline"
SHAPES = {"synthetic 200x5000x5": (200, 5000, 5), "synthetic 300x20000x3": (300, 20000, 3)}
REPEATS = 5

# Phase -> (module, name of the function or Class.method) wherever it is called from.
PHASES = {
    "standardising": [("dsofs.selectors.linear", "moments"), ("dsofs.arrays.standard", "StandardDesign.materialise")],
    "Gram": [("dsofs.arrays.design", "gram_of_blocks"), ("dsofs.arrays.dense", "gram_of_blocks")],
    "inner QPs": [("dsofs.solvers.gram", "solve_nnqp")],
    "Newton": [("dsofs.solvers.newton", "Newton.propose")],
    "products": [("dsofs.arrays.design", "Block.dot"), ("dsofs.arrays.design", "Block.tdot"),
                 ("dsofs.arrays.dense", "DenseDesign._dot"), ("dsofs.arrays.dense", "DenseDesign._tdot")],
    "ranking": [("dsofs.selectors.dso", "rank_features")],
}  # fmt: skip
OTHER = "other"


@dataclass
class Meter:
    """Seconds and multiplications of each phase; a phase that runs inside another is taken out of it."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    work: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    inside: list[float] = field(default_factory=list)

    def wrap(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            clock = time.perf_counter()
            self.inside.append(0.0)
            try:
                return function(*arguments, **options)
            finally:
                spent = time.perf_counter() - clock
                self.seconds[phase] += spent - self.inside.pop()
                if self.inside:
                    self.inside[-1] += spent
                self.work[phase] += work_of(phase, arguments)

        return timed


def work_of(phase: str, arguments: tuple[Any, ...]) -> float:
    """Multiplications of a call, where they are known beforehand."""
    if phase == "Gram":
        m, _, d = arguments
        return 0.5 * m * (m + 1) * len(d)
    if phase == "products":
        design, right = arguments
        return float(design.n_samples * design.n_columns * right.shape[1])
    return 0.0


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter in every phase, for the time being."""
    meter, originals = Meter(), []
    for phase, places in PHASES.items():
        for module, path in places:
            *owners, name = path.split(".")
            owner = import_module(module)
            for part in owners:
                owner = getattr(owner, part)
            originals.append((owner, name, getattr(owner, name)))
            setattr(owner, name, meter.wrap(phase, getattr(owner, name)))
    try:
        yield meter
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


@click.command()
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(table: bool) -> None:
    if not table:
        start_anew(STUDY)
        sets = {name: load(name) for name in available()}
        sets |= {name: synthetic(0, *shape) for name, shape in SHAPES.items()}
        for name, (X, y) in sets.items():
            measure(name, X, y)
    draw()


def measure(name: str, X: np.ndarray, y: np.ndarray) -> None:
    selector = DSOSelector(p=1.0, C=None)
    selector.fit(X, y)  # warm
    classes = len(set(y))
    for number in range(REPEATS):
        clock = time.perf_counter()
        with metered() as meter:
            selector.fit(X, y)
        total = time.perf_counter() - clock
        meter.seconds[OTHER] = total - sum(meter.seconds.values())
        rates = {"Gram": syrk_rate(*X.shape), "products": product_rate(X, classes), "cholesky": cholesky_rate(len(X))}
        values = {
            "seconds": dict(meter.seconds),
            "work": dict(meter.work),
            "machine": rates,
            "shape": [*X.shape, classes],
        }
        record(STUDY, Row(name, "dso p=1", number, seconds=total, values=values))
        print(f"{name:24s} {total:.3f} s", flush=True)


def best_of(job: Callable[[], object], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        clock = time.perf_counter()
        job()
        times.append(time.perf_counter() - clock)
    return min(times)


def syrk_rate(m: int, n: int) -> float:
    """Multiplications a second of a bare symmetric product of the shape of X, on one core or all if that is faster."""
    S = np.random.default_rng(0).normal(size=(m, n))
    on_all = best_of(lambda: S @ S.T)
    with single_threaded():
        return 0.5 * m * (m + 1) * n / min(on_all, best_of(lambda: S @ S.T))


def product_rate(X: np.ndarray, c: int) -> float:
    """Of X' B with c columns, on one core, as within a fit."""
    B = np.random.default_rng(0).normal(size=(len(X), c))
    with single_threaded():
        return X.size * c / best_of(lambda: X.T @ B)


def cholesky_rate(m: int) -> float:
    """Of a factorisation of m rows, on one core."""
    A = np.eye(m) * m + 1.0
    with single_threaded():
        return m**3 / 6 / best_of(lambda: lapack.dpotrf(A, lower=1))


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for name in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == name]
        total = median(row.seconds for row in of_set)
        shares = {
            phase: median(row.values["seconds"].get(phase, 0.0) for row in of_set) / total for phase in (*PHASES, OTHER)
        }
        fractions = {phase: median(fraction(row, phase) for row in of_set) for phase in ("Gram", "products")}
        shape = " x ".join(map(str, of_set[0].values["shape"]))
        lines.append([name, shape, f"{total:.3f}", *(f"{share:.0%}" for share in shares.values()),
                      *(f"{part:.0%}" for part in fractions.values())])  # fmt: skip
    write_table(
        STUDY,
        "Where the time of a fit goes",
        ["data", "m x n x classes", "seconds", *PHASES, OTHER, "Gram: of syrk", "products: of X'B"],
        lines,
        f"A fit at p = 1 with hard margins to tol = 1e-3, medians of {REPEATS}, the meter included. The last two "
        "columns: multiplications a second, as a part of the rate of one bare product of the whole X, measured beside "
        "it (X @ X.T on one core or all, whichever is faster; X'B with as many columns as classes on one).",
    )


def fraction(row: Row, phase: str) -> float:
    values = row.values
    return values["work"][phase] / values["seconds"][phase] / values["machine"][phase]


if __name__ == "__main__":
    main()
