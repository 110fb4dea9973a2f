"""What a panel says about each cell type: a row of figures per type, from cells that its classifier has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import confusion_matrix, fbeta_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsofs.design.types import Bools, Floats, Ints
from dsofs.optional import require
from dsofs.sc.working_set import random_turns

BETA = 0.5  # a cell wrongly called this type is worse than one that is missed
FOLDS = 5


def predicted_types(train: Floats, codes: Ints, test: Floats) -> Ints:
    """Types of the test cells, by linear discriminant analysis of the training cells."""
    known = np.unique(codes)
    if len(known) == 1:
        return np.full(len(test), known[0])
    # Discriminant analysis needs a type with two cells, for its covariances.
    model = LinearDiscriminantAnalysis() if len(codes) > len(known) else KNeighborsClassifier(1)
    return np.asarray(make_pipeline(StandardScaler(), model).fit(train, codes).predict(test), dtype=np.intp)


def predicted_in_folds(X: Floats, codes: Ints) -> Ints:
    """Types of all cells, each by a classifier that has not seen it; a type of one cell is never recognised."""
    fold = random_turns(codes) % FOLDS
    predicted = np.empty(len(codes), dtype=np.intp)
    for number in range(FOLDS):
        test = fold == number
        if test.any():
            predicted[test] = predicted_types(X[~test], codes[~test], X[test])
    return predicted


def on_target_fractions(means: Floats) -> Floats:
    """mean_t / sum_s mean_s of each gene for each type t: 1 where no other type expresses it.

    ``means`` holds a row per type. Negative means count as 0, so X should not be centred.
    """
    positive = np.maximum(means, 0.0)
    total = positive.sum(axis=0)
    return np.asarray(positive / np.where(total > 0, total, 1.0))


def nearest_types(truth: Ints, predicted: Ints, n_types: int) -> Ints:
    """The other type that most cells of each type are taken for; -1 if none is."""
    wrong = confusion_matrix(truth, predicted, labels=np.arange(n_types))
    np.fill_diagonal(wrong, 0)
    return np.where(wrong.any(axis=1), wrong.argmax(axis=1), -1)


def type_sheet(
    types: Sequence[str], truth: Ints, predicted: Ints, fractions: Floats, markers: Sequence[Ints], names: Sequence[str]
) -> Any:
    """A data frame with a row per type.

    ``fractions``: on-target fractions of the genes of the panel; ``names``: of these genes; ``markers``: of each type,
    those of the panel that are among its largest weights, by their position in the panel.
    """
    labels = np.arange(len(types))
    nearest = nearest_types(truth, predicted, len(types))
    columns = {
        "n_cells": np.bincount(truth, minlength=len(types)),
        "f_beta": fbeta_score(truth, predicted, beta=BETA, labels=labels, average=None, zero_division=0.0),
        "on_target": [float(fractions[t, own].mean()) if len(own) else np.nan for t, own in enumerate(markers)],
        "nearest": [types[other] if other >= 0 else "" for other in nearest],
        "n_markers": [len(own) for own in markers],
        "markers": [",".join(names[gene] for gene in own) for own in markers],
    }
    return require("pandas", "sc").DataFrame(columns, index=list(types))


def accuracy_sheet(batch_names: Sequence[str], batches: Ints, right: Bools) -> Any:
    """A data frame with a row per batch: its number of cells, and the share of them whose type was predicted."""
    counts = np.bincount(batches, minlength=len(batch_names))
    accuracy = np.bincount(batches, right, minlength=len(batch_names)) / np.maximum(counts, 1)
    present = np.flatnonzero(counts)
    columns = {"n_cells": counts[present], "accuracy": accuracy[present]}
    return require("pandas", "sc").DataFrame(columns, index=[batch_names[batch] for batch in present.tolist()])
