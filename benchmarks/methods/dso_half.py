"""DSO at p = 0.5 with hard margins."""

from dsofs import DSOSelector

NAME = "dso p=0.5"
ORDER = 1


def prepare(X, y):
    return lambda: DSOSelector(p=0.5, C=None).fit(X, y)
