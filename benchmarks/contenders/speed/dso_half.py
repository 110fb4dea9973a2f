"""DSO at p = 0.5 with hard margins."""

import numpy as np

from dsofs import DSOSelector

TASK = "DSO"
NAME = "dso p=0.5"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: DSOSelector(p=0.5, C=None).fit(X, y)


def describe(selector):
    return {"features": int(np.any(selector.coef_, axis=0).sum())}
