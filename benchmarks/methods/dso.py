"""DSO at p = 1 with hard margins."""

from dsofs import DSOSelector

NAME = "dso p=1"
ORDER = 0


def prepare(X, y):
    return lambda: DSOSelector(p=1.0, C=None).fit(X, y)
