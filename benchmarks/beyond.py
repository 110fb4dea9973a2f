"""X that is not in memory: time, memory and bytes read as it grows, on a disk and on a cluster of two workers."""

from __future__ import annotations

import multiprocessing
import os
import pickle
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
from benchmarks.harness import RESULTS, in_new_process, keep, record, rows_of, write_table
from dsofs import DSOSelector
from dsofs.design.backends.dask_blocks import DaskArray
from dsofs.design.backends.on_disk import FileArray
from dsofs.design.budget import Budget
from dsofs.experiments.results import Row

STUDY = "beyond"
MIB = 2**20
PANEL = 2**22  # numbers that are written at a time
DISK = {"500 x 10,000": (500, 10**4), "500 x 100,000": (500, 10**5), "500 x 1,000,000": (500, 10**6)}
TALL = {"100,000 x 50": (10**5, 50), "1,000,000 x 50": (10**6, 50), "10,000,000 x 50": (10**7, 50)}
CLUSTER = {"500 x 200,000": (500, 2 * 10**5), "500 x 2,000,000": (500, 2 * 10**6)}
PARQUET = {"500 x 20,000": (500, 2 * 10**4), "200,000 x 500": (2 * 10**5, 500), "500 x 200,000": (500, 2 * 10**5)}
LAZY = TALL  # blocks of rows that are computed when they are needed, as nothing of that size need be on a disk
SMALL = {"100 x 2,000": (100, 2000), "400 x 20,000": (400, 20_000), "4,000 x 100": (4000, 100)}
SHAPES = DISK | TALL | PARQUET
PARTS = ("disk", "tall", "parquet", "cluster", "lazy", "small")


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
        "parquet": (PARQUET, from_parquet),
        "cluster": (CLUSTER, on_cluster),
        "lazy": (LAZY, in_lazy_blocks),
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
        return in_new_process(daemonless, job, shape, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def daemonless(job: Callable[..., dict[str, Any]], shape: tuple[int, int], place: Path) -> dict[str, Any]:
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # it may start workers
    warnings.simplefilter("ignore")
    return job(shape, place)


def labels(m: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(np.arange(m) % 2)


def write(shape: tuple[int, int], place: Path) -> tuple[Any, np.ndarray]:
    """A Zarr array in panels or bands, not compressed, as random numbers cannot be; its first ten columns say y."""
    import zarr

    m, n = shape
    y, wide = labels(m), m <= n
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


def write_parquet(shape: tuple[int, int], place: Path) -> None:
    """The same as a Parquet file, in row groups of 16 MiB where it is tall."""
    import pyarrow
    from pyarrow import parquet

    X, _ = write(shape, place)
    schema = pyarrow.schema([(str(column), pyarrow.float32()) for column in range(shape[1])])
    step = shape[0] if shape[0] <= shape[1] else PANEL // shape[1]
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    with parquet.ParquetWriter(place / "X.parquet", schema, **options) as file:
        for start in range(0, shape[0], step):
            file.write_table(pyarrow.table([*np.ascontiguousarray(X[start : start + step].T)], schema=schema))


def from_parquet(shape: tuple[int, int], place: Path) -> dict[str, Any]:
    """The file is written in another process, whose memory is not counted; what Arrow keeps of it is."""
    from pyarrow import dataset

    in_new_process(write_parquet, shape, place)
    return measured_fit(lambda: dataset.dataset(place / "X.parquet"), labels(shape[0]), shape)


def from_disk(shape: tuple[int, int], place: Path) -> dict[str, Any]:
    X, y = write(shape, place)
    return measured_fit(lambda: X, y, shape)


def measured_fit(opened: Callable[[], Any], y: np.ndarray, shape: tuple[int, int]) -> dict[str, Any]:
    loaded()
    before, read = resident_bytes(), counted_bytes()
    clock, cpu = time.perf_counter(), time.process_time()
    fitted = DSOSelector(10).fit(opened(), y)
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
    read, run = [0.0], FileArray.run

    def counting(self: FileArray, work: Any, pieces: Any) -> Any:
        before = self.bytes_read
        found = run(self, work, pieces)
        read[0] += self.bytes_read - before
        return found

    FileArray.run = counting  # type: ignore[method-assign]
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
    counted, results = counted_blocks(), {}
    for name, killing in (("undisturbed", False), ("a worker killed", True)):
        with cluster(killing) as killed:
            computed, clock = counted["computed"], time.perf_counter()
            cpu = 0.0 if killing else cpu_of_all()  # that of a worker which is killed is lost
            fitted = DSOSelector(10).fit(dask.array.from_zarr(X), y)
            results[name] = {
                "seconds": time.perf_counter() - clock,
                "cpu": 0.0 if killing else cpu_of_all() - cpu,
                "reads": (counted["computed"] - computed) / (4 * shape[0] * shape[1]),
                "killed": len(killed),
                **described(fitted),
                "ranking": fitted.ranking_,
            }
    first, second = results.values()
    same = bool((first.pop("ranking") == second.pop("ranking")).all())
    values = {f"{key}, killed": value for key, value in second.items() if key != "cpu"}
    return {**first, **values, "same ranking": same}


def cpu_of_all() -> float:
    """Of the workers there are, and of this process, which the scheduler is part of."""
    from distributed import default_client

    return time.process_time() + sum(default_client().run(time.process_time).values())


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


def in_lazy_blocks(shape: tuple[int, int], place: Path) -> dict[str, Any]:
    """Rows in blocks of 16 MiB, each drawn anew by a worker whenever it is needed."""
    import dask.array
    from distributed import default_client

    (m, n), step = shape, PANEL // shape[1]
    y = labels(m)
    known = dask.array.from_array(y[:, None], chunks=(step, 1))
    X = known.map_blocks(drawn, n, chunks=(known.chunks[0], (n,)), dtype=np.float32)
    loaded()
    with cluster(killing=False):
        everywhere = default_client().run
        everywhere(loaded)
        before, own, counted = everywhere(resident_bytes), resident_bytes(), counted_blocks()
        cpu, clock = cpu_of_all(), time.perf_counter()
        fitted = DSOSelector(10).fit(X, y)
        seconds, cpu = time.perf_counter() - clock, cpu_of_all() - cpu
        peaks = everywhere(peak_bytes)
        return {
            "seconds": seconds,
            "cpu": cpu,
            "extra": peak_bytes() - own,
            "extra of a worker": max(peaks[worker] - before[worker] for worker in peaks),
            "reads": counted["computed"] / (4 * m * n),
            "received": counted["received"],
            **described(fitted),
        }


def drawn(y: np.ndarray, n: int, block_id: tuple[int, int]) -> np.ndarray:
    X = np.random.default_rng(block_id[0]).standard_normal((len(y), n), dtype=np.float32)
    X[:, :10] += y
    return X


def counted_blocks() -> dict[str, float]:
    """The bytes of all blocks of Dask that are computed, and of all that comes back, from now on."""
    counted, run = {"computed": 0.0, "received": 0.0}, DaskArray.run

    def counting(self: DaskArray, work: Any, pieces: Any) -> Any:
        found = run(self, work, pieces)
        needed = {
            (i, j) for piece in pieces for i in self._inside(0, piece.rows) for j in self._inside(1, piece.columns)
        }
        counted["computed"] += sum(self.lazy.blocks[block].nbytes for block in needed)
        buffers: list[pickle.PickleBuffer] = []  # so that arrays are not copied
        rest = pickle.dumps(found, protocol=5, buffer_callback=buffers.append)
        counted["received"] += len(rest) + sum(buffer.raw().nbytes for buffer in buffers)
        return found

    DaskArray.run = counting  # type: ignore[method-assign]
    return counted


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
    for row in (row for part in ("disk", "tall", "parquet") for row in rows if row.method == part):
        v = row.values
        times = [f"{row.seconds:.1f} s", f"{v['cpu']:.1f} s", slopes(row, last)]
        bound = Budget().fit_bytes(*SHAPES[row.data], 1, chunked=True) + 50 * MIB
        sizes = [f"{size / MIB:.0f}" for size in (v["extra"], bound)]
        gigabytes = 4e-9 * np.prod(SHAPES[row.data]) * v["reads"]
        read = f"{v['reads']:.1f} ({gigabytes:.1f} GB)"
        kind = "Parquet" if row.method == "parquet" else "Zarr"
        lines.append([row.data, kind, v["status"], v["steps"], *times, *sizes, read, f"{v['found']} of 10"])
        last = row
    header = ["m x n", "file", "status", "steps", "time", "CPU", "slope (of CPU)", "peak MiB", "formula MiB"]
    write_table(
        STUDY,
        "X on a disk",
        [*header, "times X is read", "true in the top 10"],
        lines,
        "Float32 in a Zarr file, or in Parquet as a `pyarrow.dataset`; two classes, defaults of `DSOSelector`, each in "
        "a process of its own. Slope: log10 of the time over that of a tenth as many. Peak: resident memory beyond "
        "what was there before the fit. Formula: `Budget.fit_bytes` and 50 MiB. One thread of BLAS, on cores that "
        "other work shared: CPU tells more than time.",
    )
    draw_cluster([row for row in rows if row.method == "cluster"])
    draw_lazy([row for row in rows if row.method == "lazy"])
    draw_small([row for row in rows if row.method == "small"])


def slopes(row: Row, last: Row | None) -> str:
    if last is None or last.method != row.method or row.method == "parquet":
        return ""
    ratios = row.seconds / last.seconds, row.values["cpu"] / last.values["cpu"]
    return "{:.2f} ({:.2f})".format(*np.log10(ratios))


def draw_cluster(rows: list[Row]) -> None:
    lines = [
        [row.data, f"{row.values['reads']:.0f}", f"{row.seconds:.0f} s", f"{row.values['cpu']:.0f} s",
         f"{row.values['seconds, killed']:.0f} s", row.values["killed, killed"],
         f"{abs(row.values['objective, killed'] / row.values['objective'] - 1):.0e}",
         "the same" if row.values["same ranking"] else "another"]
        for row in rows
    ]  # fmt: skip
    header = ["m x n", "times X is read", "time", "CPU"]
    if lines:
        write_table(
            f"{STUDY}_cluster",
            "X on a cluster of two workers",
            [*header, "time, a worker killed", "killed", "objective differs by", "ranking"],
            lines,
            "Float32 in a Zarr file, `dask.array.from_zarr`, a `LocalCluster` of two processes of one thread. One of "
            "them is killed when the first task of the fit is done. CPU: of both workers and of the client, which the "
            "scheduler is part of. Other work shared the cores, so CPU tells more than time.",
            rows,
        )


def draw_lazy(rows: list[Row]) -> None:
    lines, last = [], None
    for row in rows:
        v = row.values
        sizes = [f"{v[name] / MIB:.0f}" for name in ("extra", "extra of a worker", "received")]
        times = [f"{row.seconds:.0f} s", f"{v['cpu']:.0f} s", slopes(row, last)]
        lines.append([row.data, v["status"], v["steps"], *times, *sizes, f"{v['reads']:.1f}", f"{v['found']} of 10"])
        last = row
    header = ["m x n", "status", "steps", "time", "CPU", "slope (of CPU)", "peak MiB, client", "peak MiB, worker"]
    if lines:
        write_table(
            f"{STUDY}_lazy",
            "Blocks of rows on a cluster of two workers",
            [*header, "MiB that came back", "times X is computed", "true in the top 10"],
            lines,
            "Float32 in blocks of 16 MiB that a worker draws when they are needed: X is nowhere as a whole. CPU: of "
            "both workers and of the client, which the scheduler is part of. Peak: resident memory beyond what was "
            "there before the fit. Came back: results of all passes together. Other work shared the cores, so CPU "
            "tells more than time.",
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
