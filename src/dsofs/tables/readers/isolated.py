"""Reading in a process of its own: where a library loops or dies on a damaged file, only that process is lost.

The libraries for HDF5 and MATLAB files trust what they read, and nothing short of reading it all finds every damage.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from dsofs.files import DamagedFileError
from dsofs.tables.readers.source import InputFile

# Processor time for a file. The slowest files, those of many short texts, take a quarter of it.
SECONDS, SECONDS_PER_MEGABYTE = 1.0, 4.0
PIPE_BYTES = 2**20  # with 64 KiB, the usual size, large tables take four times as long to come back
START = "import sys; sys.path[:] = sys.argv[1:]; from dsofs.tables.readers.isolated import answer; answer()"

Read = TypeVar("Read")


def read_isolated(reader: Callable[[InputFile], Read], source: InputFile) -> Read:
    """What a reader, a function of a module, returns or raises for a file.

    Raises DamagedFileError if the reader never comes to an end or takes its process down.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", START, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pipesize=PIPE_BYTES
    )
    try:
        result = _ask(process, (reader, source))
    finally:  # also on Ctrl-C
        process.kill()
        process.wait()
    if isinstance(result, Exception):
        raise result
    return result


def _ask(process: subprocess.Popen[bytes], question: tuple[Callable[[InputFile], Any], InputFile]) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout as answers:
        try:
            with process.stdin as questions:
                pickle.dump(question, questions)
            return pickle.load(answers)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            return DamagedFileError(_reason(process.wait()))


def _reason(code: int) -> str:
    """Why there was no answer, from how the process ended."""
    end = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    if end == "SIGKILL":
        return "the process that read it was killed: perhaps memory ran out"
    what = "reading it never ends" if end == "SIGPROF" else f"the library that reads it broke down ({end})"
    return f"it is damaged, and {what}: copy or save it again"


def answer() -> None:
    """What the process runs: the question comes in on stdin, the answer goes out on stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends this one
    with os.fdopen(os.dup(1), "wb") as answers:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)  # what a library prints is no part of the answer
        read, source = pickle.load(sys.stdin.buffer)
        if sys.platform != "win32":  # has no such clock: there it is the user who ends what never ends
            signal.setitimer(signal.ITIMER_PROF, SECONDS + SECONDS_PER_MEGABYTE * source.size / 2**20)
        os.dup2(null, 2)
        try:
            result = read(source)
        except Exception as error:
            result = error
        pickle.dump(result, answers, protocol=pickle.HIGHEST_PROTOCOL)
    os._exit(0)  # a library that met a damaged file may die when it is unloaded
