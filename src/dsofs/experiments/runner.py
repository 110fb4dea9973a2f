"""Experiments that survive: every finished cell is in the results file, and a run goes on where it was stopped.

How long the rest will take is estimated from the cells that have been measured.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from dsofs.datasets import load_dataset
from dsofs.experiments.cells import ALL_FEATURES, Cell, run_cell, settings_of
from dsofs.experiments.protocols import CLEAN, Protocol
from dsofs.experiments.results import Row, append_row, read_rows
from dsofs.files import sole_writer
from dsofs.methods import METHODS, Method
from dsofs.statistics.samples import TRAINING, Samples

KS = (10, 20, 50, 100)


@dataclass(frozen=True)
class RunProgress:
    """How far a run is, and how long the rest will take."""

    done: int  # cells
    total: int
    n_workers: int
    seconds_left: float | None  # None while no cell has been measured
    n_guessed: int  # of the cells that are left, those of a kind that was not measured yet

    @property
    def left(self) -> int:
        return self.total - self.done


class Forecast:
    """Seconds that cells will take: as their like took before, or else in proportion to their work.

    ``work`` is a number for every (data, method): its unit does not matter.
    """

    def __init__(self, work: Mapping[tuple[str, str], float]) -> None:
        self._work = work
        self._measured: dict[tuple[str, str], list[float]] = defaultdict(list)

    def learn(self, rows: Iterable[Row]) -> None:
        """Rows of one cell carry the same seconds: each cell counts once."""
        for (data, method, _), seconds in {
            (row.data, row.method, row.seed): row.values["cell_seconds"]
            for row in rows
            if (row.data, row.method) in self._work
        }.items():
            self._measured[data, method].append(seconds)

    def progress(self, left: Collection[Cell], total: int, n_workers: int) -> RunProgress:
        """How far a run of ``total`` cells is that has these left."""
        seconds = sum(map(self.seconds, left)) / n_workers if self._measured else None
        n_guessed = sum((cell.data, cell.method) not in self._measured for cell in left)
        return RunProgress(total - len(left), total, n_workers, seconds, n_guessed)

    def seconds(self, cell: Cell) -> float:
        measured = self._measured.get((cell.data, cell.method))
        return fmean(measured) if measured else self._rate(cell.method) * self._work[cell.data, cell.method]

    def _rate(self, method: str) -> float:
        """Seconds per unit of work: of the method on other data, or of all methods if it has not been run."""
        rates = {key: fmean(seconds) / self._work[key] for key, seconds in self._measured.items()}
        own = [rate for (_, name), rate in rates.items() if name == method]
        return fmean(own or rates.values())


class CellsFailedError(RuntimeError):
    """Some cells could not be run; all others are in the results file, and these will be tried again.

    Attributes
    ----------
    failures : list of str
        Data set, method and trial of each, and the error.
    n_cells : int
        How many cells there were.
    """

    def __init__(self, failures: list[str], n_cells: int) -> None:
        super().__init__("\n".join([f"{len(failures)} of {n_cells} cells failed:", *failures]))
        self.failures, self.n_cells = failures, n_cells


def run(
    out: str | os.PathLike[str],
    data: Iterable[str] | Mapping[str, Samples],
    methods: Mapping[str, Method] = METHODS,
    *,
    protocol: Protocol = CLEAN,
    ks: Iterable[int] = KS,
    trials: int | None = None,
    n_jobs: int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> list[Row]:
    """Run every method on every data set in every trial, for all numbers of features.

    Cells that ``out`` already holds are not run again, so an interrupted run is continued by the same call.

    Parameters
    ----------
    out : path
        The results file, one JSON object per line. Rows of other runs may be in it.
    data : names of data sets, or mapping of name -> Samples
    methods : mapping of name -> Method, default=METHODS
        ``REFERENCE`` of :mod:`dsofs.experiments.cells` is the one without selection; its rows have k = None.
    protocol : Protocol, default=CLEAN
    ks : numbers of features, default=(10, 20, 50, 100)
        Those above the number of features of a data set are left out there.
    trials : int or None, default=None
        None is the protocol's own number.
    n_jobs : int or None, default=None
        Cells in parallel, as joblib understands it: ``with joblib.parallel_config("dask")`` runs them on a cluster.
    data_dir : path, default=None
        As for ``load_dataset``.
    progress : callable, default=None
        Called at the start and after every cell with a ``RunProgress``: the cells done and the seconds left.

    Returns
    -------
    list of Row
        The rows of this experiment, those found in ``out`` and those added, by trial, data, method and k.
    """
    tables = _load(data, data_dir, protocol)
    methods = {name: replace(method, grid=protocol.grids.get(name, method.grid)) for name, method in methods.items()}
    cells = list(_cells(tables, methods, sorted(set(ks)), protocol.trials if trials is None else trials))
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    with sole_writer(out):
        found = {row.key: row for row in read_rows(out) if row.parameters.get("protocol") == protocol.name}
        pending = [cell for cell in cells if any(cell.row(protocol, k).key not in found for k in cell.ks)]
        forecast = Forecast(_work(tables, methods, protocol))
        forecast.learn(found.values())
        jobs = (delayed(_attempt)(cell, protocol, methods[cell.method], tables[cell.data]) for cell in pending)
        failures, left = [], set(pending)

        def report() -> None:
            if progress is not None:
                progress(forecast.progress(left, len(pending), effective_n_jobs(n_jobs)))

        report()
        for cell, rows, error in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            _keep(rows, out, found)
            failures += [error] if error else []
            left.discard(cell)
            forecast.learn(rows)
            report()
    if failures:
        raise CellsFailedError(failures, len(cells))
    return [found[cell.row(protocol, k).key] for cell in cells for k in cell.ks]


def _keep(rows: Iterable[Row], out: str | os.PathLike[str], found: dict[Any, Row]) -> None:
    """Append the rows that the file does not hold yet: a run may have been killed between the rows of a cell."""
    for row in rows:
        if row.key not in found:
            append_row(out, row)
            found[row.key] = row


def _load(
    data: Iterable[str] | Mapping[str, Samples], data_dir: str | os.PathLike[str] | None, protocol: Protocol
) -> dict[str, Samples]:
    """All data before anything is run, so that what is missing is said at once."""
    if not isinstance(data, Mapping):
        bunches = {name: load_dataset(name, data_dir=data_dir) for name in data}
        data = {name: Samples(bunch.X, bunch.y) for name, bunch in bunches.items()}
    return {name: protocol.prepare(samples) for name, samples in data.items()}


def _cells(tables: Mapping[str, Samples], methods: Iterable[str], ks: Sequence[int], trials: int) -> Iterator[Cell]:
    """Trial by trial, so that after the first the time that the others take is known."""
    for trial, (name, samples), method in product(range(trials), tables.items(), methods):
        possible = tuple(k for k in ks if k <= samples.X.shape[1])
        yield Cell(name, method, trial, (None,) if method == ALL_FEATURES else possible)


def _work(
    tables: Mapping[str, Samples], methods: Mapping[str, Method], protocol: Protocol
) -> dict[tuple[str, str], float]:
    """(data, method) -> the work of a cell: the size of X times the number of selections from it."""
    work = {}
    for (data, samples), (name, method) in product(tables.items(), methods.items()):
        n_folds = protocol.n_folds(int(TRAINING * len(samples))) if protocol.tuned else 0
        work[data, name] = float(samples.X.size * (1 + n_folds * len(settings_of(method))))
    return work


def _attempt(cell: Cell, protocol: Protocol, method: Method, samples: Samples) -> tuple[Cell, list[Row], str | None]:
    """The cell with its rows, or with its error, which must not end the others."""
    try:
        return cell, run_cell(cell, protocol, method, samples), None
    except Exception as error:
        return cell, [], f"{cell.data}, {cell.method}, trial {cell.trial}: {type(error).__name__}: {error}"
