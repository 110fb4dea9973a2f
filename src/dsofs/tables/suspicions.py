"""Features that a user should look at: constant ones, and those that are the label under another name."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from dsofs.design.types import AnyArray, Bools, Floats
from dsofs.tables.readers import Note
from dsofs.tables.table import TableFeature
from dsofs.tables.wording import listed, stand


def suspicious(X: AnyArray, y: np.ndarray, features: list[TableFeature], target: str) -> list[Note]:
    """Columns that say nothing, and columns that say it all."""
    lowest, highest = extremes(X)
    constant = lowest == highest
    notes = []
    if constant.any():
        found = [features[index].name for index in np.flatnonzero(constant)]
        notes.append(Note("constant columns", f"{listed(found)} {stand(found)} constant and ranked last"))
    equal = [features[index].name for index in np.flatnonzero(equals_label(X, y) & ~constant)]
    if equal:
        text = f"{listed(equal)} {stand(equal)} the label {target!r} under another name: drop it if it leaks the answer"
        notes.append(Note("leaking columns", text))
    return notes


def extremes(X: AnyArray) -> tuple[Floats, Floats]:
    """The least and the largest value of each column."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if sparse.issparse(X) else (low, high)


def equals_label(X: AnyArray, y: np.ndarray) -> Bools:
    """Whether a column has one value for each class, and another for each other."""
    classes = np.unique(y)
    equal = np.ones(X.shape[1], dtype=bool)
    values = np.empty((len(classes), X.shape[1]))
    for place, label in enumerate(classes):
        low, high = extremes(X[np.flatnonzero(y == label)])
        equal &= low == high
        values[place] = low
        if not equal.any():
            return equal
    candidates = np.flatnonzero(equal)
    equal[candidates] = [len(np.unique(values[:, index])) == len(classes) for index in candidates]
    return equal
