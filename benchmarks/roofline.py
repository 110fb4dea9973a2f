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
from threading import current_thread, main_thread
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
LARGE = {"synthetic 2000x50000x10": (2000, 50_000, 10), "synthetic 500x300000x10": (500, 300_000, 10)}
SETTINGS: dict[str, dict[str, Any]] = {"p = 1, hard": {"p": 1.0, "C": None}, "defaults": {}}
REPEATS = 5  # once for large shapes, which take minutes
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


def _gram(design: Any, d: np.ndarray, **__: Any) -> Work:
    m = design.n_samples
    return Work(0.5 * m * (m + 1) * len(d), DOUBLE * m * (len(d) + m), 1)


def _normal_equations(X: Any, sets: Any) -> Work:
    n, m = X.n_columns, sum(len(index) for index, *_ in sets)
    return Work(0.5 * n * (n + 1) * m, DOUBLE * n * (m + n * len(sets)), int(m > 0))


def _product(design: Any, right: np.ndarray, *_: Any, **__: Any) -> Work:
    m, n = design.n_samples, design.n_columns
    columns = right.shape[1] if right.ndim == 2 else 1
    return Work(m * n * columns, DOUBLE * (m * n + (m + n) * columns), 1)


def _factorise(K: np.ndarray, _: Any, part: np.ndarray | None = None, n_border: int = 0, **__: Any) -> Work:
    k = len(K) if part is None else int(np.count_nonzero(part))
    return Work(k**3 / 6, DOUBLE * 2 * k**2, 1, rows=k)


def _wrong_side(step: Any, columns: list[int]) -> Work:
    return Work(len(columns) * step.matrix.K.size, DOUBLE * step.matrix.K.size)


def _half_solve(factor: Any, right: np.ndarray, **__: Any) -> Work:
    """L^-1 Z, and its product with itself, which follows."""
    k, r = right.shape
    return Work(0.5 * k**2 * r + 0.5 * k * r**2, DOUBLE * (k**2 + k * r + r**2), 1)


def _forward(X: Any, Y: np.ndarray, *_: Any) -> Work:
    m, n = X.n_samples, X.n_columns
    return Work(0.5 * m * n**2 + n**3 / 6 + n**2 * Y.shape[1], DOUBLE * (m * n + n**3 / 2), 1)


def _moments(X: np.ndarray, *_: Any, **__: Any) -> Work:
    return Work(0.0, X.nbytes, 1)


def _materialise(design: Any, **__: Any) -> Work:
    return Work(0.0, DOUBLE * 2 * design.n_samples * design.n_columns, 1)


def _uncounted(*_: Any, **__: Any) -> Work:
    return Work()


# Phase -> (module, name of the function or Class.method, its work) wherever it is called from.
PHASES: dict[str, list[tuple[str, str, Callable[..., Work]]]] = {
    "standardising": [
        ("dsofs.methods.shared.base", "moments", _moments),
        ("dsofs.design.backends.dense", "ArrayDesign.materialise", _materialise),
    ],
    "Gram": [
        ("dsofs.design.interface", "Block.gram", _gram),
        ("dsofs.design.backends.dense", "DenseDesign._gram", _gram),
        ("dsofs.design.interface", "Design.normal_equations", _normal_equations),
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
        ("dsofs.solvers.acceleration", "BoundedNewton.propose", _uncounted),
        ("dsofs.design.linalg", "Factor.half_solve", _half_solve),
    ],
    "products": [
        ("dsofs.design.interface", "Block.dot", _product),
        ("dsofs.design.interface", "Block.tdot", _product),
        ("dsofs.design.backends.dense", "DenseDesign._dot", _product),
        ("dsofs.design.backends.dense", "DenseDesign._tdot", _product),
        ("dsofs.design.backends.dense", "DenseDesign._dual_norms", _product),
    ],
    "ranking": [
        ("dsofs.methods.dso.fit", "rank_features", _uncounted),
        ("dsofs.ranking", "unexplained", _forward),
        ("dsofs.ranking", "turns_of_elimination", _forward),
    ],
}
OTHER = "other"


@dataclass
class Meter:
    """The work of each phase; the time of a phase that runs inside another is taken out of that.

    Calls in threads of ours count as work of a phase whose time is that of the call they are part of.
    """

    phases: dict[str, Work] = field(default_factory=lambda: defaultdict(Work))
    inside: list[float] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)  # phases under way whose work is counted: parts of it are not

    def wrap(self, phase: str, function: Callable[..., Any], work: Callable[..., Work]) -> Callable[..., Any]:
        def timed(*arguments: Any, **keywords: Any) -> Any:
            done = Work() if phase in self.counted else work(*arguments, **keywords)
            if current_thread() is not main_thread():
                self.phases[phase] += done
                return function(*arguments, **keywords)
            clock = time.perf_counter()
            self.inside.append(0.0)
            self.counted.append(phase if work is not _uncounted else "")
            try:
                return function(*arguments, **keywords)
            finally:
                spent = time.perf_counter() - clock
                self.counted.pop()
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
@click.option("--large", is_flag=True, help="Two large shapes in float32 and float64: a quarter of an hour.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(large: bool, table: bool) -> None:
    study, repeats = (f"{STUDY}_large", 1) if large else (STUDY, REPEATS)
    if not table:
        start_anew(study)
        for name, (X, y) in chosen(large):
            for settings in SETTINGS:
                measure(study, name, X, y, settings, repeats)
    draw(study, repeats)


def chosen(large: bool) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    if not large:
        yield from ((name, load(name)) for name in available(SETS))
        yield from ((name, synthetic(0, *shape)) for name, shape in SHAPES.items())
        return
    for name, shape in LARGE.items():
        X, y = synthetic(0, *shape)
        yield name, (X, y)
        yield f"{name}, float32", (X.astype(np.float32), y)


def measure(study: str, name: str, X: np.ndarray, y: np.ndarray, settings: str, repeats: int) -> None:
    selector = DSOSelector(**SETTINGS[settings])
    if repeats > 1:
        selector.fit(X, y)  # warm
    for number in range(repeats):
        clock = time.perf_counter()
        with metered() as meter:
            selector.fit(X, y)
        total = time.perf_counter() - clock
        phases = {phase: asdict(work) for phase, work in meter.phases.items()}
        values = {"phases": phases, "peak": peaks(X, meter, repeats + 1), "shape": [*X.shape, len(set(y))]}
        record(study, Row(name, settings, number, seconds=total, values=values))
        print(f"{name:32s} {settings:12s} {total:.3f} s", flush=True)


def peaks(X: np.ndarray, meter: Meter, repeats: int) -> dict[str, float]:
    """What the machine can do: multiplications a second of syrk and of Cholesky, bytes a second of gemv and copying."""
    S = np.ascontiguousarray(X if len(X) < X.shape[1] else X.T, dtype=np.float64)
    b, copy = np.ones(len(X), dtype=X.dtype), np.empty_like(X)
    k, n = S.shape
    qps = meter.phases["inner QPs"]
    rows = max(1, round(qps.rows / max(qps.calls, 1)))
    A = np.eye(rows) * rows + 1.0
    on_all = best_of(lambda: S @ S.T, repeats)
    with single_threaded():
        return {
            "syrk": 0.5 * k * (k + 1) * n / min(on_all, best_of(lambda: S @ S.T, repeats)),
            "gemv": X.nbytes / best_of(lambda: X.T @ b, repeats),
            "copy": 2 * X.nbytes / best_of(lambda: np.copyto(copy, X), repeats),
            "cholesky": rows**3 / 6 / best_of(lambda: lapack.dpotrf(A, lower=1), repeats),
        }


def best_of(job: Callable[[], object], repeats: int) -> float:
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


def draw(study: str, repeats: int) -> None:
    rows = rows_of(study)
    lines = []
    for name, settings in dict.fromkeys((row.data, row.method) for row in rows):
        of_set = [row for row in rows if (row.data, row.method) == (name, settings)]
        total = median(row.seconds for row in of_set)
        shape, spent = " x ".join(map(str, of_set[0].values["shape"])), 0.0
        first = [name, shape, f"{settings}: {total:.3g} s"]
        for phase in (phase for phase in PHASES if phase in of_set[0].values["phases"]):
            seconds = median(row.values["phases"][phase]["seconds"] for row in of_set)
            reached = median(fraction(row, phase) for row in of_set)
            work, spent = of_set[0].values["phases"][phase], spent + seconds
            lines.append([*first, phase, f"{1e3 * seconds:.1f}", f"{seconds / total:.0%}",
                          f"{work['multiplications'] / 1e6:.3g}", f"{work['bytes'] / 1e6:.3g}", f"{reached:.0%}",
                          bound(of_set[0], phase, reached)])  # fmt: skip
            first = ["", "", ""]
        lines.append([*first, OTHER, f"{1e3 * (total - spent):.1f}", f"{1 - spent / total:.0%}", "", "", "", ""])
    write_table(
        study,
        "How near a fit comes to the machine's limit" + ": two large shapes" * (study != STUDY),
        ["data", "m x n x classes", "fit", "phase", "ms", "of the fit", "10^6 multiplications", "MB", "of the peak",
         "bound"],
        lines,
        f"Fits to tol = 1e-3, medians of {repeats}, the meter included in 'other'. Of the "
        "peak: the time that the multiplications would take at the rate of syrk or the bytes at that of gemv (copying, "
        "for standardising), whichever is longer, over the time taken; peaks are those of data of the same shape, "
        "syrk in float64 on one core or all, whichever is faster.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
