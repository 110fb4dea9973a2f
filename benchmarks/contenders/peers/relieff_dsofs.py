"""ReliefF here, with the extra ``fast``."""

from dsofs import ReliefFSelector

TASK = "ReliefF, k = 10"
NAME = "dsofs"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: ReliefFSelector(n_jobs=-1).fit(X, y)
