"""The classifier that judges a selection: a linear SVM on the chosen features."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from dsofs.arrays.types import Ints
from dsofs.evaluation.metrics import scores
from dsofs.evaluation.samples import Split


@dataclass(frozen=True)
class Verdict:
    """Scores on the test samples, the seconds of training and prediction, and whether LIBSVM was cut short."""

    scores: dict[str, float]
    seconds: float
    capped: bool


def judge(split: Split, features: Ints, C: float, max_iter: int) -> Verdict:
    """Train on the given features of the training samples and predict the others."""
    clock = time.perf_counter()
    # A precomputed kernel, shared by all C, was measured: it saves less than it takes memory.
    svm = SVC(kernel="linear", C=C, max_iter=max_iter)
    svm.fit(np.ascontiguousarray(split.training.X[:, features]), split.training.y)
    predicted = svm.predict(np.ascontiguousarray(split.test.X[:, features]))
    return Verdict(scores(split.test.y, predicted), time.perf_counter() - clock, bool(svm.fit_status_))
