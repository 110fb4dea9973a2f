"""How good predictions are."""

from __future__ import annotations

from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from dsofs.arrays.types import Ints


def scores(truth: Ints, predicted: Ints) -> dict[str, float]:
    """Accuracy, and two measures in which every class of the test samples counts alike."""
    return {
        "accuracy": float(accuracy_score(truth, predicted)),
        "balanced_accuracy": float(balanced_accuracy_score(truth, predicted)),
        "macro_f1": float(f1_score(truth, predicted, average="macro", zero_division=0)),
    }
