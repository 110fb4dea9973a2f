"""Interleaved timing, results files, tables."""

from __future__ import annotations

import gzip
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.contender_worker import peak_bytes, resident_bytes
from dsofs import DSOSelector
from dsofs.experiments.results import Row, append_row, read_rows
from dsofs.files import write_whole

SLOW = 60.0
RESULTS = Path(__file__).parent / "results"


def interleave(jobs: dict[str, Callable[[], object]], rounds: int) -> Iterable[tuple[int, str, float, object]]:
    """Run every job once per round, so that a busy moment of the machine hits all alike.

    A job that takes more than a minute is not repeated.
    """
    slow: set[str] = set()
    for number in range(rounds):
        for name, job in jobs.items():
            if name in slow:
                continue
            clock = time.perf_counter()
            result = job()
            seconds = time.perf_counter() - clock
            if seconds > SLOW:
                slow.add(name)
            yield number, name, seconds, result


def in_new_process(function: Callable[..., Any], *arguments: object) -> Any:
    """What the function returns, in a process of its own: nothing that ran before shows in its memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def extra_memory(X: np.ndarray, y: np.ndarray, p: float = 1.0, C: str | None = None) -> float:
    """Peak resident memory during a fit beyond what was there before it; for a process of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DSOSelector(p=1.0, C=None).fit(
            np.random.default_rng(0).normal(size=(50, 20)), np.arange(50) % 2
        )  # libraries loaded
        before = resident_bytes()
        DSOSelector(p=p, C=C).fit(X, y)
    return peak_bytes() - before


def record(study: str, row: Row) -> None:
    RESULTS.mkdir(exist_ok=True)
    append_row(RESULTS / f"{study}.jsonl", row)


def rows_of(study: str) -> list[Row]:
    plain = RESULTS / f"{study}.jsonl"
    return read_rows(plain if plain.exists() else f"{plain}.gz")


def pack(study: str) -> None:
    """Large results files are kept gzipped."""
    plain = RESULTS / f"{study}.jsonl"
    Path(f"{plain}.gz").write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()


def unpack(study: str) -> None:
    """For a run to go on."""
    plain = RESULTS / f"{study}.jsonl"
    packed = Path(f"{plain}.gz")
    if packed.exists() and not plain.exists():
        plain.write_bytes(gzip.decompress(packed.read_bytes()))


def start_anew(study: str) -> None:
    (RESULTS / f"{study}.jsonl").unlink(missing_ok=True)


def study(name: str, draw: Callable[[], None]) -> Callable[[Callable[..., None]], click.Command]:
    """Make the command of a study from the function that measures it anew; its table is drawn at the end.

    With ``--table`` it is only drawn.
    """

    def decorate(measure: Callable[..., None]) -> click.Command:
        @click.command()
        @click.option("--table", is_flag=True, help="Only draw the table from the results file.")
        @wraps(measure)
        def main(table: bool, **options: object) -> None:
            if not table:
                start_anew(name)
                measure(**options)
            draw()

        return main

    return decorate


def keep(study: str, rows: Iterable[Row]) -> None:
    """Only these rows are left in the results file."""
    start_anew(study)
    for row in rows:
        record(study, row)


def write_table(
    study: str,
    title: str,
    header: Sequence[str],
    lines: Iterable[Sequence[object]],
    notes: str,
    rows: Sequence[Row] | None = None,
) -> None:
    """A Markdown table, with what it was measured on; ``rows`` are those of the study unless given."""
    measured = [row.versions for row in rows or rows_of(study)]
    where = ", ".join(
        f"{name} {' and '.join(dict.fromkeys(versions[name] for versions in measured if name in versions))}"
        for name in sorted(measured[-1])
    )
    body = ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    text = [f"# {title}", "", notes, "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header), *body]
    write_whole(RESULTS / f"{study}.md", "\n".join([*text, "", f"Measured on: {where}.", ""]))
    print("\n".join(text))
