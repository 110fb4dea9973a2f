"""Today's fits against those of another commit: ``python -m benchmarks.against COMMIT``.

Both run in processes that stay alive, and take turns, so that a busy moment of the machine hits both alike. What counts
is the ratio of the medians: above 1 today is quicker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import click
import numpy as np

from benchmarks.arena import ENOUGH, WORKER, Answer, answer_of, fit, stop
from benchmarks.harness import record, rows_of, start_anew, write_table
from benchmarks.run import sets
from dsofs.experiments.results import Row

STUDY = "against"
ROOT = Path(__file__).parents[1]
FITS = {"p = 1, hard margins": "speed/dso", "defaults": "speed/dso_default"}  # and the contender that it is
MORE = ("ar", "tox_171", "umist", "leukemia_mll", "brain_tumor_1", "orl", "synthetic 200x20000x10")


@click.command()
@click.argument("commit")
@click.option("--rounds", default=5, show_default=True)
@click.option("--limit", default=120.0, show_default=True, help="Seconds after which a fit is ended.")
@click.option("--more", is_flag=True, help="All real wide sets and a large synthetic one, not only a few small sets.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(commit: str, rounds: int, limit: float, more: bool, table: bool) -> None:
    if not table:
        start_anew(STUDY)
        chosen = {name: make for name, make in sets(quick=False).items() if name in MORE} if more else sets(quick=True)
        with checked_out(commit) as old:
            for name, make in chosen.items():
                X, y = make()
                for kind, contender in FITS.items():
                    race(name, kind, contender, X, y, {"before": old, "today": ROOT}, rounds, limit)
    draw(commit)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """The sources as they were."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, commit], check=True, cwd=ROOT)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], check=True, cwd=ROOT)


def race(
    name: str,
    kind: str,
    contender: str,
    X: np.ndarray,
    y: np.ndarray,
    roots: dict[str, Path],
    rounds: int,
    limit: float,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, y=np.unique(y, return_inverse=True)[1])
        workers = {who: start(contender, data, root) for who, root in roots.items()}
        try:
            for worker in workers.values():
                answer_of(worker, limit)
                fit(worker, limit, enough=0)  # the first, which loads libraries
            for number in range(rounds):
                for who, worker in workers.items():
                    save(name, f"{who}, {kind}", number, fit(worker, limit, enough=ENOUGH))
        finally:
            for worker in workers.values():
                stop(worker)


def start(contender: str, data: Path, root: Path, python: str = sys.executable) -> subprocess.Popen[str]:
    """``contender``: a folder of ``contenders`` and a file in it."""
    script = Path(__file__).parent / "contenders" / f"{contender}.py"
    return subprocess.Popen(
        [python, str(WORKER), str(script), str(data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root / "src")},
    )


def save(name: str, who: str, number: int, answer: Answer) -> None:
    seconds = answer.pop("seconds", None)
    record(STUDY, Row(name, who, number, seconds=seconds, values=answer))
    print(f"{name:24s} {number:3d} {who:30s} {'-' if seconds is None else f'{seconds:9.4f} s'}", flush=True)


def draw(commit: str) -> None:
    rows = rows_of(STUDY)
    lines = []
    for data in dict.fromkeys(row.data for row in rows):
        for kind in FITS:
            times = [
                median([row.seconds or np.inf for row in rows if (row.data, row.method) == (data, f"{who}, {kind}")])
                for who in ("before", "today")
            ]
            lines.append([data, kind, *(f"{seconds:.4f}" for seconds in times), f"{times[0] / times[1]:.2f}"])
    write_table(
        STUDY,
        "Fits of two commits",
        ["data", "settings", "before, s", "today, s", "before / today"],
        lines,
        f"Medians of interleaved rounds; before is {commit}.",
    )


if __name__ == "__main__":
    main()
