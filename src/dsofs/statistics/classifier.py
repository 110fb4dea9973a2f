"""The classifier that scores a selection: a linear SVM on the chosen features, which predicts held-out samples.

Experiments tune its C and give it samples that are scaled already; an examination takes C = 1, scales them here, asks
how clearly samples are predicted, and has a discriminant analysis in its place where there are many samples.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, f1_score, recall_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dsofs.design.linalg import dense
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.statistics.samples import Split

SVM_SAMPLES = 5_000  # the work of a kernel SVM grows with the square of the samples


def linear_svm(C: float = 1.0, max_iter: int = -1) -> SVC:
    """Decides between two classes at a time."""
    return SVC(kernel="linear", C=C, max_iter=max_iter, decision_function_shape="ovo")


@dataclass(frozen=True)
class SvmScores:
    """Scores on the test samples, the seconds of training and prediction, and whether LIBSVM was cut short."""

    scores: dict[str, float]
    seconds: float
    capped: bool


def svm_scores(split: Split, features: Ints, C: float, max_iter: int) -> SvmScores:
    """Train on the given features of the training samples, which are scaled, and predict the others."""
    clock = time.perf_counter()
    # A precomputed kernel, shared by all C, was measured: it saves little time and takes memory.
    svm = linear_svm(C, max_iter)
    svm.fit(np.ascontiguousarray(split.training.X[:, features]), split.training.y)
    predicted = svm.predict(np.ascontiguousarray(split.test.X[:, features]))
    return SvmScores(scores(split.test.y, predicted), time.perf_counter() - clock, bool(svm.fit_status_))


def scores(truth: Ints, predicted: Ints) -> dict[str, float]:
    """Accuracy, balanced accuracy (the mean recall over the classes) and macro F1."""
    return {
        "accuracy": float(accuracy_score(truth, predicted)),
        "balanced_accuracy": float(recall_score(truth, predicted, labels=np.unique(truth), average="macro")),
        "macro_f1": float(f1_score(truth, predicted, average="macro", zero_division=0)),
    }


def model_name(n_train: int) -> str:
    return "linear SVM (C = 1)" if n_train <= SVM_SAMPLES else "linear discriminant analysis with shrinkage"


@dataclass(frozen=True)
class Predictions:
    """What a model predicts for the held-out samples: class codes, and the margins of their own classes."""

    predicted: Ints
    margins: Floats


class LinearModel:
    """An SVM, or a discriminant analysis of many samples, on standardised features, fitted to class codes.

    With more features than samples the SVM is given the products K = Z Z' of the standardised samples Z: one product of
    matrices, where LIBSVM would multiply one pair of samples at a time.
    """

    def __init__(self, X: AnyArray, codes: Ints) -> None:
        self._pairwise = len(codes) <= SVM_SAMPLES
        X = X if self._pairwise else dense(X)
        self._scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X) if X.shape[1] else None
        Z = self._scaled(X)
        by_products = self._pairwise and X.shape[1] > X.shape[0]
        self._training = Z if by_products else None
        self._model = self._kind().fit(dense(Z @ Z.T) if by_products else Z, codes)

    def _kind(self) -> Any:
        if self._scaler is None:
            return DummyClassifier()  # without a feature, the largest class is the best guess
        if not self._pairwise:
            return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        return linear_svm() if self._training is None else linear_svm().set_params(kernel="precomputed")

    def _scaled(self, X: AnyArray) -> AnyArray:
        return X if self._scaler is None else self._scaler.transform(X if self._pairwise else dense(X))

    def _seen(self, X: AnyArray) -> AnyArray:
        """What the model is given of samples: their features, or their products with the training samples."""
        Z = self._scaled(X)
        return Z if self._training is None else dense(Z @ self._training.T)

    def predict(self, X: AnyArray) -> Ints:
        """Class codes."""
        return np.asarray(self._model.predict(self._seen(X)), dtype=np.intp)

    def predict_with_margins(self, X: AnyArray, codes: Ints) -> Predictions:
        """Predictions, and how clear they are for samples of these classes."""
        seen = self._seen(X)
        return Predictions(np.asarray(self._model.predict(seen), dtype=np.intp), self._margins(seen, codes))

    def _margins(self, seen: AnyArray, codes: Ints) -> Floats:
        """The decision value of each sample's own class against the nearest other one; NaN for classes not learnt."""
        classes = self._model.classes_
        if self._scaler is None:
            return np.full(len(codes), np.nan)
        first, second = np.triu_indices(len(classes), 1)
        values = self._model.decision_function(seen)
        if values.ndim == 1:
            pairs = -values[:, None]  # of two classes, positive values are for the second
        else:
            pairs = values if self._pairwise else values[:, first] - values[:, second]
        own = codes[:, None]
        signed = np.where(own == classes[first], pairs, np.where(own == classes[second], -pairs, np.inf))
        nearest = signed.min(axis=1)
        return np.where(np.isinf(nearest), np.nan, nearest)
