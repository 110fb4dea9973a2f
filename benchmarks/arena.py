"""Races of contenders, each a process in an environment of its own, interleaved.

A contender stays alive over all rounds. Its first fit, in a fresh process, is a round of its own; then fits of a
fraction of a second are repeated within the round. It is not asked again after a fit of more than a minute, nor after
one that failed, and is ended at the time limit.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import SLOW
from dsofs.experiments.results import Row

ENOUGH = 0.5  # seconds of fits in a round that is not the first
WORKER = Path(__file__).with_name("contender_worker.py")
ENVIRONMENTS = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dsofs-benchmarks"

Answer = dict[str, Any]  # has "seconds", or else "limit" or "error"
DEAD: Answer = {"error": "the process ended"}  # killed for its memory, for instance


def interleaved(
    rivals: Iterable[ModuleType], X: np.ndarray, y: np.ndarray, rounds: int, limit: float
) -> Iterator[tuple[int, ModuleType, Answer]]:
    """Round, contender and what it answered; round 0 holds the first fits."""
    rivals, waiting = list(rivals), dict[ModuleType, subprocess.Popen[str]]()
    for module in rivals:
        environment(module.REQUIREMENTS)  # installed before the race
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, y=np.unique(y, return_inverse=True)[1])
        try:
            for module in rivals:
                worker, started = start(module, data, limit)
                waiting[module] = worker
                answer = fit(worker, limit, enough=0) if "start" in started else started
                yield 0, module, {**started, **answer}
                _dismiss_if_done(waiting, module, answer)
            for number in range(1, rounds + 1):
                for module, worker in list(waiting.items()):
                    answer = fit(worker, limit, enough=ENOUGH)
                    yield number, module, {**answer}
                    _dismiss_if_done(waiting, module, answer)
        finally:
            for worker in waiting.values():
                stop(worker)


def _dismiss_if_done(waiting: dict[ModuleType, subprocess.Popen[str]], module: ModuleType, answer: Answer) -> None:
    if answer.get("seconds", np.inf) > SLOW:
        stop(waiting.pop(module))


def start(module: ModuleType, data: Path, limit: float) -> tuple[subprocess.Popen[str], Answer]:
    """The worker, and the seconds that it took to import what it needs and to prepare."""
    command = [str(environment(module.REQUIREMENTS)), str(WORKER), str(module.__file__), str(data)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return worker, answer_of(worker, limit)


def environment(requirements: tuple[str, ...]) -> Path:
    """A Python with these packages, made if it is not there; ours if there are none."""
    if not requirements:
        return Path(sys.executable)
    folder = ENVIRONMENTS / hashlib.sha256(" ".join(requirements).encode()).hexdigest()[:12]
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        print(f"installing {', '.join(requirements)}", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        complete.touch()
    return python


def fit(worker: subprocess.Popen[str], limit: float, *, enough: float) -> Answer:
    assert worker.stdin is not None
    try:
        worker.stdin.write(f"{enough}\n")
        worker.stdin.flush()
    except BrokenPipeError:
        return DEAD
    return answer_of(worker, limit)


def answer_of(worker: subprocess.Popen[str], limit: float) -> Answer:
    assert worker.stdout is not None
    answered, _, _ = select.select([worker.stdout], [], [], limit)
    if not answered:
        return {"limit": limit}
    line = worker.stdout.readline()
    return json.loads(line) if line else DEAD


def stop(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    worker.communicate()


def in_words(answer: Answer) -> str:
    if "seconds" in answer:
        return f"{answer['seconds']:9.4f} s"
    return f"more than {answer['limit']:g} s" if "limit" in answer else answer["error"]


def typical(rows: list[Row]) -> float | None:
    """The median seconds after the first fit, or the first if there is no other; None if a fit did not end."""
    times = [row.seconds for row in rows]
    return None if None in times or not times else median(times[1:] or times)
