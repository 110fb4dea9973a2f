"""Tables of counts (words in texts, reads of genes): how to recognise them, and how to transform them before selecting.

With x_ij how often feature j was counted in sample i:

* ``log``: log(1 + x_ij), so that large counts do not outweigh all others;
* ``binary``: 1 where x_ij > 0, else 0;
* ``tf-idf``: x_ij f_j / sqrt(sum_j (x_ij f_j)^2) with f_j = 1 + log((1 + m) / (1 + m_j)), where m_j of the m samples
  have feature j: every sample gets length 1, so that long texts do not count more than short ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from dsofs.design.types import AnyArray, Floats
from dsofs.tables.features import TableFeature
from dsofs.tables.readers import Note

MOSTLY = 0.5  # of the values are 0 in a table that looks like counts


class CountTransform(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transforms counts; the columns stay the same."""

    def fit(self, X: AnyArray, y: object = None) -> Self:
        if _values(X).min(initial=0.0) < 0:
            raise ValueError("'transform' is for counts, and the table holds negative values: leave it out.")
        self.n_features_in_ = X.shape[1]
        return self


class Log(CountTransform):
    def transform(self, X: AnyArray) -> AnyArray:
        return X.log1p() if sparse.issparse(X) else np.log1p(X)


class Binary(CountTransform):
    def transform(self, X: AnyArray) -> AnyArray:
        return (X > 0).astype(np.float64)


class TfIdf(CountTransform):
    def fit(self, X: AnyArray, y: object = None) -> Self:
        super().fit(X)
        self.factors_ = TfidfTransformer().fit(X).idf_
        return self

    def transform(self, X: AnyArray) -> AnyArray:
        return normalize(X.multiply(self.factors_[None, :]).tocsr() if sparse.issparse(X) else X * self.factors_)


NONE = "none"
TRANSFORMS: dict[str, type[CountTransform]] = {"log": Log, "binary": Binary, "tf-idf": TfIdf}


@dataclass(frozen=True)
class TransformRecord:
    """A transform that was fitted, for other files."""

    name: str
    features: list[TableFeature]  # that the length of a sample is taken over, for tf-idf; none for others
    factors: list[float]  # f_j of these

    @classmethod
    def of(cls, name: str, fitted: CountTransform, features: tuple[TableFeature, ...]) -> TransformRecord:
        if not isinstance(fitted, TfIdf):
            return cls(name, [], [])
        return cls(name, list(features), fitted.factors_.tolist())


def note_counts(X: AnyArray) -> list[Note]:
    """A hint where a table looks like counts: whole numbers from 0 that go beyond 1 and are mostly 0."""
    values = _values(X)
    zeros = 1 - np.count_nonzero(values) / max(1, np.prod(X.shape))
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    if zeros <= MOSTLY or low < 0 or high <= 1 or np.any(values != np.rint(values)):
        return []
    text = f"the table looks like counts ({zeros:.0%} of the values are 0): --transform {', '.join(TRANSFORMS)}"
    return [Note("counts", f"{text} may select better features")]


def _values(X: Any) -> Floats:
    """The values of X; the stored ones of a sparse matrix."""
    return np.asarray(X.data if sparse.issparse(X) else X)
