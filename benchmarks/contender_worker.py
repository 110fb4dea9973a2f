"""Runs one contender in its own environment: a fit for every line it reads, its seconds on the line it writes.

Needs nothing but NumPy and what the contender requires. ``python contender_worker.py <contender.py> <data.npz>``
"""

import importlib.util
import os
import sys
import time
import warnings
from statistics import median

import numpy as np

ENOUGH = 0.5  # seconds of fits in a round


def main(contender, data):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints does not get among the answers
    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location("contender", contender)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with np.load(data) as file:
        job = module.prepare(file["X"], file["y"])
    for _ in sys.stdin:
        print(seconds(job), file=answers, flush=True)


def seconds(job):
    """Of one fit; the median of several where it is short, so that it does not pay for what ran before it."""
    times = []
    while not times or sum(times) < ENOUGH:
        clock = time.perf_counter()
        job()
        times.append(time.perf_counter() - clock)
    return median(times)


if __name__ == "__main__":
    main(*sys.argv[1:])
