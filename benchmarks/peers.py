"""The methods of the paper against other packages, each in an environment of its own, interleaved.

Every contender is a process that stays alive over all rounds and times its own fits. Its first fit, which may compile,
is a round of its own and counts only where there is no other: a contender is not asked again after a fit of more than a
minute, and is ended at the time limit. Fits of a fraction of a second are repeated within the round.
"""

from __future__ import annotations

import hashlib
import os
import select
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from statistics import median
from types import ModuleType

import click
import numpy as np

from benchmarks import contenders
from benchmarks.data import synthetic
from benchmarks.harness import SLOW, record, rows_of, start_anew, write_table
from dsofs.evaluation.results import Row

STUDY = "peers"
OURS = "dsofs"
SHAPES = ((200, 5000, 5), (1000, 20000, 10))
WORKER = Path(__file__).with_name("contender_worker.py")
ENVIRONMENTS = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dsofs-benchmarks"


@click.command()
@click.option("--rounds", default=5, show_default=True, help="After the first, which warms up.")
@click.option("--limit", default=600.0, show_default=True, help="Seconds after which a fit is ended.")
@click.option("--task", default="", help="Only tasks that start with this; the rows of others are kept.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(rounds: int, limit: float, task: str, table: bool) -> None:
    if not table:
        others = [row for row in rows_of(STUDY) if not row.values["task"].startswith(task)]
        start_anew(STUDY)
        for row in others:
            record(STUDY, row)
        for shape in SHAPES:
            for name, rivals in tasks().items():
                if name.startswith(task):
                    measure(name, rivals, shape, rounds, limit)
    draw()


def tasks() -> dict[str, list[ModuleType]]:
    """Task -> its contenders, ours first."""
    modules = [import_module(f"{contenders.__name__}.{module.name}") for module in iter_modules(contenders.__path__)]
    modules.sort(key=lambda module: (module.TASK, module.NAME != OURS, module.NAME))
    return {task: [module for module in modules if task == module.TASK] for task in sorted({m.TASK for m in modules})}


def measure(task: str, rivals: list[ModuleType], shape: tuple[int, int, int], rounds: int, limit: float) -> None:
    X, y = synthetic(0, *shape)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, y=y)
        for number, name, seconds in interleaved(rivals, data, rounds, limit):
            print(f"{shape} {task:45s} {name:20s} {seconds if seconds else f'more than {limit}'} s", flush=True)
            values = {"task": task} if seconds else {"task": task, "limit": limit}
            label = " x ".join(map(str, shape))
            record(STUDY, Row(label, name, number, seconds=seconds, values=values))


def interleaved(
    rivals: list[ModuleType], data: Path, rounds: int, limit: float
) -> Iterator[tuple[int, str, float | None]]:
    """Round, name and seconds of every fit, None for one that was ended at the limit."""
    workers = {module.NAME: start(module, data) for module in rivals}
    try:
        for number in range(rounds + 1):
            for name, worker in list(workers.items()):
                seconds = fit(worker, limit)
                yield number, name, seconds
                if seconds is None or seconds > SLOW:
                    stop(workers.pop(name))
    finally:
        for worker in workers.values():
            stop(worker)


def start(module: ModuleType, data: Path) -> subprocess.Popen[str]:
    python = environment(module.REQUIREMENTS)
    command = [str(python), str(WORKER), str(module.__file__), str(data)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def environment(requirements: tuple[str, ...]) -> Path:
    """A Python with these packages, made if it is not there; ours if there are none."""
    if not requirements:
        return Path(sys.executable)
    folder = ENVIRONMENTS / hashlib.sha256(" ".join(requirements).encode()).hexdigest()[:12]
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        complete.touch()
    return python


def fit(worker: subprocess.Popen[str], limit: float) -> float | None:
    """Seconds of one fit, or None if it takes longer than the limit."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("fit\n")
    worker.stdin.flush()
    answered, _, _ = select.select([worker.stdout], [], [], limit)
    if not answered:
        return None
    answer = worker.stdout.readline()
    if not answer:
        raise RuntimeError(f"a contender failed: {worker.args}")
    return float(answer)


def stop(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    worker.communicate()


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for task in dict.fromkeys(row.values["task"] for row in rows):
        for shape in dict.fromkeys(row.data for row in rows):
            of_task = [row for row in rows if (row.values["task"], row.data) == (task, shape)]
            times = {name: typical(of_task, name) for name in dict.fromkeys(row.method for row in of_task)}
            lines += [[task, shape, name, *cells(of_task, name, times)] for name in times]
    write_table(
        STUDY,
        "The methods of the paper against other packages",
        ["task", "samples x features x classes", "who", "seconds", "over dsofs"],
        lines,
        "Synthetic data, all cores; medians of interleaved rounds after one that warms up (and compiles). Short fits "
        "were repeated for half a second in every round, a fit of more than a minute was not repeated. Packages from "
        "PyPI, each in an environment of its own. The bare solver is given standardised data and its parameter; our "
        "time includes checking, standardising and scoring.",
    )


def typical(rows: list[Row], name: str) -> float | None:
    """The median after the first round, or the first if there is no other; None for a fit that was ended."""
    times = [row.seconds for row in rows if row.method == name]
    return None if None in times else median(times[1:] or times)


def cells(rows: list[Row], name: str, times: dict[str, float | None]) -> tuple[str, str]:
    seconds, ours = times[name], times[OURS]
    assert ours is not None
    if seconds is None:
        limit = next(row.values["limit"] for row in rows if row.method == name and row.seconds is None)
        return f"not done after {limit:g}", f"> {limit / ours:.3g} x"
    return f"{seconds:.3g}", f"{seconds / ours:.3g} x"


if __name__ == "__main__":
    main()
