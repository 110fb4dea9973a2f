"""How good predictions are."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, recall_score

from dsofs.design.types import Ints


def scores(truth: Ints, predicted: Ints) -> dict[str, float]:
    """Accuracy, and two measures in which every class counts alike: the mean recall over the classes, and macro F1."""
    return {
        "accuracy": float(accuracy_score(truth, predicted)),
        "balanced_accuracy": float(recall_score(truth, predicted, labels=np.unique(truth), average="macro")),
        "macro_f1": float(f1_score(truth, predicted, average="macro", zero_division=0)),
    }
