"""The linear model by which held-out samples are predicted, and how clearly."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dsofs.arrays.types import AnyArray, Floats, Ints

SVM_SAMPLES = 5_000  # the work of a kernel SVM grows with the square of the samples


def model_name(n_train: int) -> str:
    return "linear SVM (C = 1)" if n_train <= SVM_SAMPLES else "linear discriminant analysis with shrinkage"


def dense(X: AnyArray) -> Floats:
    """A few columns of X as a plain array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


class LinearModel:
    """An SVM, or a discriminant analysis of many samples, on standardised features, fitted to class codes."""

    def __init__(self, X: AnyArray, codes: Ints) -> None:
        self._pairwise = len(codes) <= SVM_SAMPLES  # an SVM decides between two classes at a time
        if not X.shape[1]:
            model: Any = DummyClassifier()  # without a feature, the largest class is the best guess
        elif self._pairwise:
            model = SVC(kernel="linear", decision_function_shape="ovo")
        else:
            X, model = dense(X), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        scaler = [StandardScaler(with_mean=not sparse.issparse(X))] if X.shape[1] else []
        self._model = make_pipeline(*scaler, model).fit(X, codes)

    def predict(self, X: AnyArray) -> Ints:
        """Class codes."""
        return np.asarray(self._model.predict(X if self._pairwise else dense(X)), dtype=np.intp)

    def margins(self, X: AnyArray, codes: Ints) -> Floats:
        """The decision value of each sample's own class against the nearest other one; NaN for classes not learnt."""
        classes = self._model.classes_
        if not X.shape[1]:
            return np.full(X.shape[0], np.nan)
        first, second = np.triu_indices(len(classes), 1)
        values = self._model.decision_function(X if self._pairwise else dense(X))
        if values.ndim == 1:
            pairs = -values[:, None]  # of two classes, positive values are for the second
        else:
            pairs = values if self._pairwise else values[:, first] - values[:, second]
        own = codes[:, None]
        signed = np.where(own == classes[first], pairs, np.where(own == classes[second], -pairs, np.inf))
        nearest = signed.min(axis=1)
        return np.where(np.isinf(nearest), np.nan, nearest)
