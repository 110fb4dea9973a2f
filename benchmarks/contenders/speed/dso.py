"""DSO at p = 1 with hard margins, to a certified gap of 0.1 %."""

import numpy as np

from dsofs import DSOSelector

TASK = "DSO"
NAME = "dso p=1"
REQUIREMENTS = ()


def prepare(X, y):
    return lambda: DSOSelector(p=1.0, C=None).fit(X, y)


def describe(selector):
    features = int(np.any(selector.coef_, axis=0).sum())
    return {"features": features, "objective": float(selector.objective_), "gap": float(selector.duality_gap_)}
