"""DSOSelector() with its default settings: p = 0.85, a little slack."""

import numpy as np

from dsofs import DSOSelector

TASK = "DSO"
NAME = "dso as it comes"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: DSOSelector().fit(X, y)


def describe(selector):
    features = int(np.any(selector.coef_, axis=0).sum())
    return {"features": features, "objective": float(selector.objective_)}
