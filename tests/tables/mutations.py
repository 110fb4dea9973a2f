"""Damaged files: small valid ones of every format, with mutations, read by a worker that may hang or die.

``python -m tests.tables.mutations --count 200`` damages a file of each format 200 times and prints a table of what
came of reading them. A mutation is given by its number alone, so each can be made again.
"""

import json
import resource
import select
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np

from tests.tables.tables import CORE, EXTRA, small_problem

SECONDS = 5.0  # of processor time, so that a busy machine makes no difference
PATIENCE = 12  # times as long may pass by the clock on the wall
MEGABYTES = 500
OUTCOMES = ("read", "refused", "traceback", "hang", "death")


def truncated(content, rng):
    return content[: rng.integers(len(content))]


def flipped(content, rng):
    """One to eight bytes replaced; half of the time in the first ones, where the headers are."""
    damaged = bytearray(content)
    reach = min(512, len(content)) if rng.random() < 0.5 else len(content)
    for place in rng.integers(reach, size=rng.integers(1, 9)):
        damaged[place] = rng.integers(256)
    return bytes(damaged)


def bit_flipped(content, rng):
    damaged = bytearray(content)
    damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
    return bytes(damaged)


def spliced(content, rng):
    """A piece of the file left out, put in a second time, or put over another."""
    start, stop = np.sort(rng.integers(len(content) + 1, size=2))
    stop = min(stop, start + rng.integers(1, 200))
    place = rng.integers(len(content) + 1)
    piece = content[start:stop]
    return [
        content[:start] + content[stop:],
        content[:place] + piece + content[place:],
        content[:place] + piece + content[place + len(piece) :],
    ][rng.integers(3)]


MUTATIONS = (truncated, flipped, bit_flipped, spliced)


def damage(path, number):
    """Damage a file, or one of the files of a folder."""
    rng = np.random.default_rng(number)
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.stat().st_size) if path.is_dir() else []
    file = files[rng.integers(len(files))] if files else path
    file.write_bytes(MUTATIONS[number % len(MUTATIONS)](file.read_bytes(), rng))


def writers():
    """Format -> what writes a small file of it, where the package for it is installed."""
    return CORE | {form: write for form, (write, package) in EXTRA.items() if find_spec(package)}


def write_valid(form, folder):
    folder.mkdir()
    return writers()[form](folder, *small_problem(n_samples=12, n_features=6))


def outcomes(form, numbers, worker):
    """What came of reading each damaged file: number, outcome, message."""
    with tempfile.TemporaryDirectory() as folder:
        path, target = write_valid(form, Path(folder) / "valid")
        worker.get_ready(path, target)
        for number in numbers:
            copy = Path(folder) / str(number) / path.name
            copy.parent.mkdir()
            (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
            damage(copy, number)
            yield number, *worker.read(copy, target)
            shutil.rmtree(copy.parent)


class Worker:
    """A process that reads files with little memory; another takes its place where it hangs or dies."""

    def __init__(self):
        self.process = self.valid = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def get_ready(self, path, target):
        """Read a valid file, so that packages are loaded before memory is limited."""
        self.valid = path, target
        if self.process is None:
            command = [sys.executable, "-m", "tests.tables.mutations", "--worker"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        found, message = self._ask(path, target, limited=False)
        if found != "read":
            raise RuntimeError(f"A valid file could not be read: {message}")

    def read(self, path, target):
        if self.process is None:
            self.get_ready(*self.valid)
        return self._ask(path, target, limited=True)

    def _ask(self, path, target, limited):
        self.process.stdin.write(json.dumps([str(path), target, limited]) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], PATIENCE * SECONDS)[0]:
            self._end()
            return "hang", "no answer"
        answer = self.process.stdout.readline()
        if not answer:
            self._end()
            return "death", "the process ended"
        return json.loads(answer)

    def _end(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def work():
    """Read each file that a line of stdin names, and answer with a line on stdout."""
    from dsofs.tables.labelled import read_labelled

    for line in sys.stdin:
        path, target, limited = json.loads(line)
        limit_memory(limited)
        print(json.dumps(attempt(read_labelled, path, target)), flush=True)


def limit_memory(limited):
    """Set a limit above what is in use, libraries among it; or lift it, where the next file is valid."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if not limited:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    elif soft == hard:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEGABYTES * 2**20, hard))


def seconds_used():
    """Processor time of this process and of those it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def attempt(read, path, target):
    """Refused is what is refused in one sentence."""
    start = seconds_used()
    found = outcome(read, path, target)
    seconds = seconds_used() - start
    return found if seconds < SECONDS else ("hang", f"{seconds:.1f} s")


def outcome(read, path, target):
    try:
        read(path, target)
    except ValueError as error:
        is_sentence = str(error).strip() and "\n" not in str(error)
        return ("refused" if is_sentence else "traceback"), f"{type(error).__name__}: {error}"
    except BaseException as error:
        return "traceback", f"{type(error).__name__}: {error}"
    return "read", ""


@click.command()
@click.option("--count", default=200, show_default=True, help="Mutations of each format.")
@click.option("--form", "forms", multiple=True, help="Only these formats.")
@click.option("--worker", is_flag=True, hidden=True)
def main(count, forms, worker):
    if worker:
        work()
        return
    print("| format | " + " | ".join(OUTCOMES) + " |")
    print("|---" * (1 + len(OUTCOMES)) + "|")
    with Worker() as reader:
        for form in forms or writers():
            counts = Counter()
            for number, found, message in outcomes(form, range(count), reader):
                counts[found] += 1
                if found not in ("read", "refused"):
                    print(f"{form}, mutation {number}: {found}: {message[:300]}", file=sys.stderr, flush=True)
            print(f"| {form} | " + " | ".join(str(counts[kind]) for kind in OUTCOMES) + " |", flush=True)


if __name__ == "__main__":
    main()
