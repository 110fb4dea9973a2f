"""Fill missing values, and remember what filled them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.impute import KNNImputer, SimpleImputer

from dsofs.design.types import AnyArray, Floats, Ints

Fill = float | str
IMPUTES = ("none", "median", "most-frequent", "knn")


def make_imputer(impute: str) -> Any:
    """A column without any value is kept, as zeros."""
    if impute == "knn":
        return KNNImputer(keep_empty_features=True)
    return SimpleImputer(strategy=impute.replace("-", "_"), keep_empty_features=True)


def count_missing(numbers: AnyArray, columns: Ints) -> Ints:
    """How many values of each of these columns are missing."""
    if sparse.issparse(numbers):
        gaps = numbers.indices[np.isnan(numbers.data)]
        return np.bincount(gaps, minlength=numbers.shape[1])[columns]
    with np.errstate(all="ignore"):
        if not np.isnan(np.sum(numbers)):
            return np.zeros(len(columns), dtype=np.intp)
    return np.asarray(np.isnan(numbers).sum(axis=0)[columns])


def impute_numbers(values: AnyArray, impute: str) -> tuple[AnyArray, list[Fill | None]]:
    """The values without gaps, and for each column what fills a gap in another file.

    The neighbours of a sample are in the data given, so after "knn" another file's gaps are filled with the mean.
    """
    if impute == "keep":
        return values, [None] * values.shape[1]
    if impute == "knn":
        if sparse.issparse(values):
            raise ValueError(
                "Missing values of sparse data cannot be filled by 'knn': use 'median' or 'most-frequent'."
            )
        fills: Floats = np.nanmean(values, axis=0)
        return make_imputer(impute).fit_transform(values), fills.tolist()
    imputer = make_imputer(impute).fit(values)
    return imputer.transform(values), imputer.statistics_.tolist()


def impute_text(values: np.ndarray, impute: str) -> tuple[np.ndarray, str | None]:
    """Text without gaps, and what fills them: the most frequent category, however numbers are filled."""
    if impute in ("none", "keep") or not (values == "").any():
        return values, None
    present, counts = np.unique(values[values != ""], return_counts=True)
    if not len(present):
        return values, None
    fill = str(present[counts.argmax()])
    return np.where(values == "", fill, values), fill
