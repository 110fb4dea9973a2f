"""Runs one contender in its own environment: for every line it reads it fits, and writes what that took as JSON.

Needs nothing but NumPy and what the contender requires. ``python contender_worker.py <contender.py> <data.npz>``

A line holds the seconds that are enough: a fit is repeated until so many have passed, and the median counts, so that a
short one does not pay for what ran before it. With 0 there is one fit.
"""

import importlib.util
import json
import os
import sys
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np

STATUS = Path("/proc/self/status")


def main(contender, data):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints does not get among the answers
    warnings.simplefilter("ignore")
    try:
        compete(contender, data, lambda answer: print(json.dumps(answer), file=answers, flush=True))
    except Exception as error:  # whatever a package throws is an answer too
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
        raise


def compete(contender, data, answer):
    with np.load(data) as file:
        X, y = file["X"] if "X" in file else sparse_array(file), file["y"]
    clock = time.perf_counter()
    module = load(contender)
    job = module.prepare(X, y)
    answer({"start": time.perf_counter() - clock})
    for line in sys.stdin:
        answer(measured(job, float(line), getattr(module, "describe", lambda result: {})))


def sparse_array(file):
    """Of the parts of a sparse X, by rows."""
    from scipy.sparse import csr_array

    return csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))


def load(contender):
    spec = importlib.util.spec_from_file_location("contender", contender)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(job, enough, describe):
    """Wall and CPU seconds of a fit, all threads together; bytes at the peak beyond what was there; what came out."""
    seconds, cpu, result = [], [], None
    before = resident_bytes()
    end = time.perf_counter() + enough
    while not seconds or time.perf_counter() < end:
        del result
        clock, cpu_clock = time.perf_counter(), time.process_time()
        result = job()
        seconds.append(time.perf_counter() - clock)
        cpu.append(time.process_time() - cpu_clock)
    extra = None if before is None else peak_bytes() - before
    return {"seconds": median(seconds), "cpu": median(cpu), "extra": extra, **describe(result)}


def resident_bytes():
    """What is resident now, from where on the peak is measured; None where the system does not tell."""
    if not STATUS.exists():
        return None
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak that there was
    return _status_bytes("VmRSS")


def peak_bytes():
    return _status_bytes("VmHWM")


def _status_bytes(field):
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return 1024.0 * float(next(line for line in lines if line.startswith(field)).split()[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
