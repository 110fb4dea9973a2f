"""X that is not in memory: time, memory and bytes read as it grows, on a disk and on a cluster of two workers."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.contender_worker import peak_bytes, resident_bytes
from benchmarks.harness import RESULTS, keep, record, rows_of, write_table
from dsofs import DSOSelector
from dsofs.design.backends.on_disk import StoredArray
from dsofs.design.budget import Budget
from dsofs.experiments.results import Row

STUDY = "beyond"
MIB = 2**20
PANEL = 2**22  # numbers that are written at a time
DISK = {"500 x 10,000": (500, 10**4), "500 x 100,000": (500, 10**5), "500 x 1,000,000": (500, 10**6)}
TALL = {"100,000 x 50": (10**5, 50), "1,000,000 x 50": (10**6, 50), "10,000,000 x 50": (10**7, 50)}
CLUSTER = {"500 x 200,000": (500, 2 * 10**5), "500 x 2,000,000": (500, 2 * 10**6)}
SMALL = {"100 x 2,000": (100, 2000), "400 x 20,000": (400, 20_000), "4,000 x 100": (4000, 100)}
PARTS = ("disk", "tall", "cluster", "small")


@click.command()
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), default=PARTS)
@click.option("--largest", default=4.0, show_default=True, help="Gigabytes of the largest X.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where X is written, and deleted.  [default: temporary]"
)
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(parts: tuple[str, ...], largest: float, folder: Path | None, table: bool) -> None:
    jobs: dict[str, tuple[dict[str, tuple[int, int]], Callable[..., dict[str, Any]]]] = {
        "disk": (DISK, from_disk),
        "tall": (TALL, from_disk),
        "cluster": (CLUSTER, on_cluster),
        "small": (SMALL, small),
    }
    for part in () if table else parts:
        shapes, job = jobs[part]
        for name, shape in shapes.items():
            if 4 * shape[0] * shape[1] <= 1.001e9 * largest:
                values = in_process(job, shape, folder)
                keep(STUDY, [row for row in so_far() if (row.data, row.method) != (name, part)])
                record(STUDY, Row(name, part, 0, seconds=values.pop("seconds"), values=values))
                print(part, name, values, flush=True)
    draw()


def so_far() -> list[Row]:
    return rows_of(STUDY) if (RESULTS / f"{STUDY}.jsonl").exists() else []


def in_process(job: Callable[..., dict[str, Any]], shape: tuple[int, int], folder: Path | None) -> dict[str, Any]:
    """In a process of its own, X being deleted afterwards."""
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(daemonless, (job, shape, place))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def daemonless(job: Callable[..., dict[str, Any]], shape: tuple[int, int], place: Path) -> dict[str, Any]:
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # it may start workers
    warnings.simplefilter("ignore")
    return job(shape, place)


def write(shape: tuple[int, int], place: Path) -> tuple[Any, np.ndarray]:
    """A Zarr array in panels or bands, not compressed, as random numbers cannot be; its first ten columns say y."""
    import zarr

    m, n = shape
    y = np.random.default_rng(0).permutation(np.arange(m) % 2)
    wide = m <= n
    chunks = (m, max(1, PANEL // m)) if wide else (max(1, PANEL // n), n)
    X = zarr.create_array(place / "X.zarr", shape=shape, chunks=chunks, dtype=np.float32, compressors=None)
    for start in range(0, n if wide else m, chunks[1 if wide else 0]):
        rng = np.random.default_rng(start + 1)
        size = (m, min(chunks[1], n - start)) if wide else (min(chunks[0], m - start), n)
        piece = rng.standard_normal(size, dtype=np.float32)
        if wide:
            piece[:, : max(0, 10 - start)] += y[:, None]
            X[:, start : start + size[1]] = piece
        else:
            piece[:, :10] += y[start : start + size[0], None]
            X[start : start + size[0]] = piece
    return X, y


def from_disk(shape: tuple[int, int], place: Path) -> dict[str, Any]:
    X, y = write(shape, place)
    loaded()
    before, read = resident_bytes(), counted_bytes()
    clock, cpu = time.perf_counter(), time.process_time()
    fitted = DSOSelector(10).fit(X, y)
    seconds, cpu = time.perf_counter() - clock, time.process_time() - cpu
    return {
        "seconds": seconds,
        "cpu": cpu,
        "extra": peak_bytes() - before,
        "reads": read[0] / (4 * shape[0] * shape[1]),
        **described(fitted),
    }


def loaded() -> None:
    """What a first fit loads is not counted."""
    DSOSelector(5).fit(np.random.default_rng(0).normal(size=(50, 20)), np.arange(50) % 2)


def counted_bytes() -> list[float]:
    """The bytes that all arrays on disk read from now on."""
    read, read_range = [0.0], StoredArray._range

    def counting(self: StoredArray, rows: np.ndarray, columns: np.ndarray) -> Any:
        before = self.bytes_read
        found = read_range(self, rows, columns)
        read[0] += self.bytes_read - before
        return found

    StoredArray._range = counting  # type: ignore[method-assign]
    return read


def described(fitted: DSOSelector) -> dict[str, Any]:
    return {
        "status": fitted.status_,
        "steps": int(fitted.n_iter_),
        "found": int((fitted.ranking_[:10] <= 10).sum()),
        "objective": float(fitted.objective_),
    }


def on_cluster(shape: tuple[int, int], place: Path) -> dict[str, Any]:
    """Once as it is, and once with a worker that is killed after the first task that is done."""
    import dask.array

    X, y = write(shape, place)
    loaded()
    results: dict[str, Any] = {}
    for name, killing in (("undisturbed", False), ("a worker killed", True)):
        with cluster(killing) as killed:
            clock = time.perf_counter()
            fitted = DSOSelector(10).fit(dask.array.from_zarr(X), y)
            results[name] = {"seconds": time.perf_counter() - clock, "killed": len(killed), **described(fitted)}
            results[name]["ranking"] = fitted.ranking_
    first, second = results.values()
    same = bool((first.pop("ranking") == second.pop("ranking")).all())
    values = {f"{key}, killed": value for key, value in second.items()}
    return {**first, **values, "same ranking": same}


@contextmanager
def cluster(killing: bool) -> Iterator[list[int]]:
    """Two workers of one thread each; the processes that were killed."""
    from distributed import Client, LocalCluster, SchedulerPlugin

    killed: list[int] = []

    class FirstDone(SchedulerPlugin):  # type: ignore[misc]
        def __init__(self) -> None:
            self.done = threading.Event()

        def transition(self, key: Any, start: str, finish: str, *args: Any, **options: Any) -> None:
            if finish == "memory":
                self.done.set()

    def kill(cluster: LocalCluster, plugin: FirstDone) -> None:
        plugin.done.wait()
        killed.append(next(iter(cluster.workers.values())).pid)
        os.kill(killed[0], signal.SIGKILL)

    with LocalCluster(2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as workers, Client(workers):
        if killing:
            plugin = FirstDone()
            workers.scheduler.add_plugin(plugin)
            threading.Thread(target=kill, args=(workers, plugin), daemon=True).start()
        yield killed


def small(shape: tuple[int, int], place: Path) -> dict[str, Any]:
    """What it takes not to have X in memory where it would fit: the median of five fits."""
    import dask.array

    X, y = write(shape, place)
    loaded()
    kinds = {"NumPy": X[:], "Zarr": X, "Dask, threads": dask.array.from_zarr(X)}
    found = {}
    for name, given in kinds.items():
        clocks = []
        for _ in range(5):
            clock = time.perf_counter()
            DSOSelector(10).fit(given, y)
            clocks.append(time.perf_counter() - clock)
        found[name] = float(np.median(clocks))
    return {"seconds": found["NumPy"], **found}


def draw() -> None:
    rows, lines, last = rows_of(STUDY), [], None
    for row in (row for part in ("disk", "tall") for row in rows if row.method == part):
        v = row.values
        times = [f"{row.seconds:.1f} s", f"{v['cpu']:.1f} s", slopes(row, last)]
        bound = Budget().fit_bytes(*{**DISK, **TALL}[row.data], 1, chunked=True) + 50 * MIB
        sizes = [f"{size / MIB:.0f}" for size in (v["extra"], bound)]
        lines.append([row.data, v["status"], v["steps"], *times, *sizes, f"{v['reads']:.1f}", f"{v['found']} of 10"])
        last = row
    header = ["m x n", "status", "steps", "time", "CPU", "slope (of CPU)", "peak MiB", "formula MiB", "times X is read"]
    write_table(
        STUDY,
        "X on a disk",
        [*header, "true in the top 10"],
        lines,
        "Float32 in a Zarr file, two classes, defaults of `DSOSelector`, each in a process of its own. Slope: log10 of "
        "the time over that of a tenth as many. Peak: resident memory beyond what was there before the fit. Formula: "
        "`Budget.fit_bytes` and 50 MiB. One thread of BLAS, on cores that other work shared: CPU tells more than time.",
    )
    draw_cluster([row for row in rows if row.method == "cluster"])
    draw_small([row for row in rows if row.method == "small"])


def slopes(row: Row, last: Row | None) -> str:
    if last is None or last.method != row.method:
        return ""
    ratios = row.seconds / last.seconds, row.values["cpu"] / last.values["cpu"]
    return "{:.2f} ({:.2f})".format(*np.log10(ratios))


def draw_cluster(rows: list[Row]) -> None:
    lines = [
        [row.data, f"{row.seconds:.0f} s", f"{row.values['seconds, killed']:.0f} s", row.values["killed, killed"],
         f"{abs(row.values['objective, killed'] / row.values['objective'] - 1):.0e}",
         "the same" if row.values["same ranking"] else "another"]
        for row in rows
    ]  # fmt: skip
    if lines:
        write_table(
            f"{STUDY}_cluster",
            "X on a cluster of two workers",
            ["m x n", "time", "time with a worker killed", "killed", "objective differs by", "ranking"],
            lines,
            "Float32 in a Zarr file, `dask.array.from_zarr`, a `LocalCluster` of two processes of one thread. One of "
            "them is killed when the first task of the fit is done. Other work shared the cores, so times are rough.",
            rows,
        )


def draw_small(rows: list[Row]) -> None:
    kinds = ("NumPy", "Zarr", "Dask, threads")
    lines = [[row.data, *(f"{1000 * row.values[kind]:.0f} ms" for kind in kinds)] for row in rows]
    if lines:
        notes = "Time of a fit with the defaults, the median of five: what it costs to read an X that fits in memory."
        write_table(f"{STUDY}_small", "Small X on a disk or in blocks", ["m x n", *kinds], lines, notes, rows)


if __name__ == "__main__":
    main()
