"""DSOSelector() with its default settings, and the features that it would choose."""

import numpy as np

from dsofs import DSOSelector

TASK = "DSO"
NAME = "dso and its first features"
REQUIREMENTS = ()
MOST = 50


def prepare(X, y):
    return lambda: DSOSelector().fit(X, y)


def describe(selector):
    first = np.argsort(selector.ranking_)[:MOST]
    return {"objective": float(selector.objective_), "steps": int(selector.n_iter_), "first": first.tolist()}
