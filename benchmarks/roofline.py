"""How near a fit comes to the machine's limit, phase by phase.

Of each phase the multiplications it does and the bytes it must read and write are counted. The time it would take at
the machine's peak (multiplications at the rate of syrk, bytes at that of gemv or of copying, whichever is longer), over
the time it takes, is the fraction reached. Peaks are measured beside each fit, on data of the same shape.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from statistics import median
from typing import Any

import click
import numpy as np
from scipy.linalg import lapack

from benchmarks.data import available, load, synthetic
from benchmarks.harness import record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.design.budget import single_threaded
from dsofs.experiments.results import Row

STUDY = "roofline"
SETS = ("ar", "tox_171", "umist", "leukemia_mll", "brain_tumor_1", "orl", "semeion", "isolet")
SHAPES = {"synthetic 200x5000x5": (200, 5000, 5), "synthetic 300x20000x3": (300, 20000, 3),
          "synthetic 1000x20000x5": (1000, 20000, 5)}  # fmt: skip
REPEATS = 5
DOUBLE = 8
ENOUGH = 0.5  # of the peak; below it is said what bounds the phase
SHORT_CALL = 3e-4  # seconds; in shorter ones Python and the first cache misses are most of the time


@dataclass
class Work:
    """Of a phase, or of one call."""

    multiplications: float = 0.0
    bytes: float = 0.0
    calls: int = 0
    seconds: float = 0.0
    rows: float = 0.0  # of the matrices factorised, added up

    def __iadd__(self, other: Work) -> Work:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


def _gram(design: Any, d: np.ndarray) -> Work:
    m = design.n_samples
    return Work(0.5 * m * (m + 1) * len(d), DOUBLE * m * (len(d) + m), 1)


def _normal_matrix(X: Any, _: Any, samples: np.ndarray) -> Work:
    n = X.n_columns
    return Work(0.5 * n * (n + 1) * len(samples), DOUBLE * n * (len(samples) + n), int(len(samples) > 0))


def _product(design: Any, right: np.ndarray) -> Work:
    m, n = design.n_samples, design.n_columns
    columns = right.shape[1] if right.ndim == 2 else 1
    return Work(m * n * columns, DOUBLE * (m * n + (m + n) * columns), 1)


def _factorise(K: np.ndarray, _: Any, part: np.ndarray | None = None, n_border: int = 0) -> Work:
    k = len(K) if part is None else int(np.count_nonzero(part))
    return Work(k**3 / 6, DOUBLE * 2 * k**2, 1, rows=k)


def _wrong_side(step: Any, *_: Any) -> Work:
    return Work(step.matrix.K.size, DOUBLE * step.matrix.K.size)


def _half_solve(factor: Any, right: np.ndarray) -> Work:
    """L^-1 Z, and its product with itself, which follows."""
    k, r = right.shape
    return Work(0.5 * k**2 * r + 0.5 * k * r**2, DOUBLE * (k**2 + k * r + r**2), 1)


def _forward(X: Any, Y: np.ndarray, *_: Any) -> Work:
    m, n = X.n_samples, X.n_columns
    return Work(0.5 * m * n**2 + n**3 / 6 + n**2 * Y.shape[1], DOUBLE * (m * n + n**3 / 2), 1)


def _moments(X: np.ndarray, *_: Any) -> Work:
    return Work(0.0, DOUBLE * X.size, 1)


def _materialise(design: Any) -> Work:
    return Work(0.0, DOUBLE * 2 * design.n_samples * design.n_columns, 1)


def _uncounted(*_: Any) -> Work:
    return Work()


# Phase -> (module, name of the function or Class.method, its work) wherever it is called from.
PHASES: dict[str, list[tuple[str, str, Callable[..., Work]]]] = {
    "standardising": [
        ("dsofs.methods.shared.base", "moments", _moments),
        ("dsofs.design.standard", "StandardDesign.materialise", _materialise),
    ],
    "Gram": [
        ("dsofs.design.interface", "Block.gram", _gram),
        ("dsofs.design.backends.dense", "DenseDesign._gram", _gram),
        ("dsofs.solvers.inner.features", "normal_matrix", _normal_matrix),
    ],
    "inner QPs": [
        ("dsofs.solvers.inner.margin", "solve_qp", _uncounted),
        ("dsofs.solvers.inner.support", "solve_qp", _uncounted),
        ("dsofs.solvers.qp.pivoting", "factorise", _factorise),
        ("dsofs.solvers.qp.pivoting", "ProximalStep.wrong_side", _wrong_side),
        ("dsofs.solvers.inner.features", "factorise", _factorise),
    ],
    "Newton": [
        ("dsofs.solvers.acceleration", "Newton.propose", _uncounted),
        ("dsofs.design.linalg", "Factor.half_solve", _half_solve),
    ],
    "products": [
        ("dsofs.design.interface", "Block.dot", _product),
        ("dsofs.design.interface", "Block.tdot", _product),
        ("dsofs.design.backends.dense", "DenseDesign._dot", _product),
        ("dsofs.design.backends.dense", "DenseDesign._tdot", _product),
    ],
    "ranking": [
        ("dsofs.methods.dso.fit", "rank_features", _uncounted),
        ("dsofs.ranking", "unexplained", _forward),
    ],
}
OTHER = "other"


@dataclass
class Meter:
    """The work of each phase; the time of a phase that runs inside another is taken out of that."""

    phases: dict[str, Work] = field(default_factory=lambda: defaultdict(Work))
    inside: list[float] = field(default_factory=list)

    def wrap(self, phase: str, function: Callable[..., Any], work: Callable[..., Work]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            clock = time.perf_counter()
            self.inside.append(0.0)
            try:
                return function(*arguments)
            finally:
                spent = time.perf_counter() - clock
                done = work(*arguments)
                done.seconds = spent - self.inside.pop()
                if self.inside:
                    self.inside[-1] += time.perf_counter() - clock  # counting is nobody's time
                self.phases[phase] += done

        return timed


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter in every phase, for the time being."""
    meter, originals = Meter(), []
    for phase, places in PHASES.items():
        for module, path, work in places:
            *owners, name = path.split(".")
            owner = import_module(module)
            for part in owners:
                owner = getattr(owner, part)
            originals.append((owner, name, getattr(owner, name)))
            setattr(owner, name, meter.wrap(phase, getattr(owner, name), work))
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
        for name in available(SETS):
            measure(name, *load(name))
        for name, shape in SHAPES.items():
            measure(name, *synthetic(0, *shape))
    draw()


def measure(name: str, X: np.ndarray, y: np.ndarray) -> None:
    selector = DSOSelector(p=1.0, C=None)
    selector.fit(X, y)  # warm
    for number in range(REPEATS):
        clock = time.perf_counter()
        with metered() as meter:
            selector.fit(X, y)
        total = time.perf_counter() - clock
        phases = {phase: asdict(work) for phase, work in meter.phases.items()}
        values = {"phases": phases, "peak": peaks(X, meter), "shape": [*X.shape, len(set(y))]}
        record(STUDY, Row(name, "dso p=1", number, seconds=total, values=values))
        print(f"{name:24s} {total:.3f} s", flush=True)


def peaks(X: np.ndarray, meter: Meter) -> dict[str, float]:
    """What the machine can do: multiplications a second of syrk and of Cholesky, bytes a second of gemv and copying."""
    S, b, copy = np.ascontiguousarray(X if len(X) < X.shape[1] else X.T), np.ones(len(X)), np.empty_like(X)
    k, n = S.shape
    qps = meter.phases["inner QPs"]
    rows = max(1, round(qps.rows / max(qps.calls, 1)))
    A = np.eye(rows) * rows + 1.0
    on_all = best_of(lambda: S @ S.T)
    with single_threaded():
        return {
            "syrk": 0.5 * k * (k + 1) * n / min(on_all, best_of(lambda: S @ S.T)),
            "gemv": DOUBLE * X.size / best_of(lambda: X.T @ b),
            "copy": DOUBLE * 2 * X.size / best_of(lambda: np.copyto(copy, X)),
            "cholesky": rows**3 / 6 / best_of(lambda: lapack.dpotrf(A, lower=1)),
        }


def best_of(job: Callable[[], object], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        clock = time.perf_counter()
        job()
        times.append(time.perf_counter() - clock)
    return min(times)


def fraction(row: Row, phase: str) -> float:
    """Time at the peak over the time taken."""
    work, peak = row.values["phases"][phase], row.values["peak"]
    moving = peak["copy"] if phase == "standardising" else peak["gemv"]
    return float(max(work["multiplications"] / peak["syrk"], work["bytes"] / moving) / work["seconds"])


def bound(row: Row, phase: str, reached: float) -> str:
    """What keeps a phase below half of the peak."""
    if reached >= ENOUGH:
        return ""
    work, peak = row.values["phases"][phase], row.values["peak"]
    each = work["seconds"] / max(work["calls"], 1)
    calls = f"{work['calls']} calls of {1e6 * each:.0f} us"
    if phase == "inner QPs":
        rows, alone = work["rows"] / max(work["calls"], 1), peak["cholesky"] / peak["syrk"]
        return f"{calls}: factorisations of {rows:.0f} rows alone reach {alone:.0%}"
    return calls + (": too short" if each < SHORT_CALL else "")


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for name in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == name]
        total = median(row.seconds for row in of_set)
        shape, spent = " x ".join(map(str, of_set[0].values["shape"])), 0.0
        for phase in PHASES:
            seconds = median(row.values["phases"][phase]["seconds"] for row in of_set)
            reached = median(fraction(row, phase) for row in of_set)
            work, spent = of_set[0].values["phases"][phase], spent + seconds
            lines.append([name, shape, phase, f"{1e3 * seconds:.1f}", f"{seconds / total:.0%}",
                          f"{work['multiplications'] / 1e6:.3g}", f"{work['bytes'] / 1e6:.3g}", f"{reached:.0%}",
                          bound(of_set[0], phase, reached)])  # fmt: skip
            name = shape = ""
        lines.append(["", "", OTHER, f"{1e3 * (total - spent):.1f}", f"{1 - spent / total:.0%}", "", "", "", ""])
    write_table(
        STUDY,
        "How near a fit comes to the machine's limit",
        ["data", "m x n x classes", "phase", "ms", "of the fit", "10^6 multiplications", "MB", "of the peak", "bound"],
        lines,
        f"A fit at p = 1 with hard margins to tol = 1e-3, medians of {REPEATS}, the meter included in 'other'. Of the "
        "peak: the time that the multiplications would take at the rate of syrk or the bytes at that of gemv (copying, "
        "for standardising), whichever is longer, over the time taken; peaks are those of data of the same shape, "
        "syrk on one core or all, whichever is faster.",
    )


if __name__ == "__main__":
    main()
