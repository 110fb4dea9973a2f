"""ReliefF here, without the extra ``fast``."""

import math

from dsofs import ReliefFSelector
from dsofs.methods.relieff import kernels

TASK = "ReliefF, k = 10"
NAME = "dsofs without numba"
REQUIREMENTS = ()


def prepare(X, y):
    kernels.COMPILED_WORK = math.inf
    return lambda: ReliefFSelector(n_jobs=-1).fit(X, y)
