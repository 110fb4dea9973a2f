"""DSOClassifier: the sparse linear model itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from dsofs.design.backends.chunked import ChunkedArray
from dsofs.design.linalg import on_host
from dsofs.design.types import AnyArray, Floats
from dsofs.methods.dso.fit import DSO_RULES, check_call, prepare, publish, solve_dso, warn_about
from dsofs.methods.shared.base import check_same_library, follow, moved_to
from dsofs.validation import DEPRECATED, all_or_nothing, is_dispatched, reachable, wrong_sample_weight


class DSOClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The sparse large-margin linear classifier by which :class:`DSOSelector` ranks features.

    Its ``coef_`` is zero for all but a few features, so ``SelectFromModel(DSOClassifier())`` works as well.
    Parameters and attributes are those of :class:`DSOSelector`, without the selection and the ranking. Two defaults
    differ, p = 1 and C = None: this is the paper's convex problem, so the model is certified as the global optimum.

    See Also
    --------
    DSOSelector : Ranks and selects features by this model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dsofs import DSOClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> setosa = DSOClassifier().fit(X, y == 0)  # one class against the others, which can be separated
    >>> setosa.status_, float(setosa.score(X, y == 0))
    ('converged', 1.0)
    """

    def __init__(
        self,
        *,
        p: float = 1.0,
        C: float | str | None = None,
        loss: str = "squared_hinge",
        constraint: str = "margin",
        solver: str = "joint",
        standardize: bool = True,
        fit_intercept: bool = True,
        feature_groups: AnyArray | None = None,
        penalty_factor: AnyArray | None = None,
        intercept_penalty: float = 1.0,
        include: AnyArray | None = None,
        exclude: AnyArray | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int = 300,
        memory_limit: int | None = None,
        n_jobs: int | str | None = DEPRECATED,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.C = C
        self.loss = loss
        self.constraint = constraint
        self.solver = solver
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.feature_groups = feature_groups
        self.penalty_factor = penalty_factor
        self.intercept_penalty = intercept_penalty
        self.include = include
        self.exclude = exclude
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: AnyArray, y: AnyArray, sample_weight: AnyArray | None = None) -> DSOClassifier:
        """Fit the model to X (samples x features) and the classes y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A sample of weight v counts as v equal samples, and one of weight 0 is ignored. None: all weights are 1.
        """
        check_call(self, X, y, DSO_RULES, others=wrong_sample_weight(self, sample_weight, y))
        data = prepare(self, X, y, sample_weight)
        problem, solution = solve_dso(self, data, self.p, self.C)
        warn_about(self, problem, solution, self.tol)
        publish(self, data, problem, solution)
        follow(self, data.X, y)
        return self

    def decision_function(self, X: AnyArray) -> Floats:
        """Signed distance in margins: one value per sample for two classes, one per class otherwise."""
        check_is_fitted(self)
        check_same_library(self, X, self.coef_, "decision_function")
        X = reachable(self, X)
        in_pieces = isinstance(X, ChunkedArray)
        given, checks = (
            (X.header(), {"skip_check_array": True}) if in_pieces else (X, {"accept_sparse": ("csr", "csc")})
        )
        checked = validate_data(self, given, reset=False, **checks)
        if is_dispatched(checked):
            scores = array_namespace(checked).astype(checked, self.coef_.dtype) @ self.coef_.T + self.intercept_
        else:
            coef = on_host(self.coef_).T
            products = X.dot(coef) if in_pieces else np.asarray(safe_sparse_dot(checked, coef, dense_output=True))
            scores = products + on_host(self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: AnyArray) -> np.ndarray:
        """The class on whose side each sample lies furthest."""
        check_is_fitted(self)
        check_same_library(self, X, self.coef_, "predict")
        scores = self.decision_function(X)
        host = on_host(scores)
        winners = (host > 0).astype(np.intp) if host.ndim == 1 else host.argmax(axis=1)
        labels = on_host(self.classes_)[winners]
        return moved_to(scores, labels) if is_dispatched(scores) and labels.dtype.kind in "biuf" else labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        return tags
