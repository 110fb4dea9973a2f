"""Runs one contender in its own environment: a fit for every line it reads, its seconds on the line it writes.

Needs nothing but NumPy and what the contender requires. ``python contender_worker.py <contender.py> <data.npz>``
"""

import importlib.util
import os
import sys
import time
import warnings

import numpy as np


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
        clock = time.perf_counter()
        job()
        print(time.perf_counter() - clock, file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
