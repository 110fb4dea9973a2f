"""Numbers to a few states, column by column, for mutual information."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from dsofs.design.budget import Budget, cuts
from dsofs.design.types import AnyArray, Floats, Ints

# A value as far from the mean as the standard deviation, up to rounding, counts as beyond it: all values of a balanced
# binary feature lie there, and it would be left with one state.
AT_ONE_DEVIATION = 1 - 1e-9


def dense_chunks(X: AnyArray) -> Iterator[tuple[slice, Floats]]:
    """The columns of a dense or sparse X as float64, a cache-sized piece at a time."""
    columns = csc_array(X) if issparse(X) else X
    for part in cuts(X.shape[1], Budget().columns(X.shape[0])):
        piece = columns[:, part]
        yield part, np.asarray(piece.toarray() if issparse(X) else piece, dtype=np.float64)


def by_deviation(x: Floats, n_bins: int, weights: Floats | None = None) -> Ints:
    """Peng, Long and Ding's three states: below mean - std, above mean + std, and between."""
    largest = np.abs(x).max(axis=0)
    x = x / np.where(largest == 0, 1.0, largest)  # its square neither over- nor underflows
    deviation = x - np.average(x, axis=0, weights=weights)
    limit = AT_ONE_DEVIATION * np.sqrt(np.average(deviation**2, axis=0, weights=weights))
    return 1 + (deviation >= limit).astype(np.intp) - (deviation <= -limit)


def by_quantile(x: Floats, n_bins: int, weights: Floats | None = None) -> Ints:
    """``n_bins`` states of equal frequency, up to ties."""
    q = np.arange(1, n_bins) / n_bins
    edges = np.quantile(x, q, axis=0) if weights is None else weighted_quantiles(x, q, weights)
    return np.column_stack([np.searchsorted(cuts, column) for cuts, column in zip(edges.T, x.T, strict=True)])


def weighted_quantiles(x: Floats, q: Floats, weights: Floats) -> Floats:
    """Those of ``np.quantile``, were the rows of x repeated: between its values at floor and ceil of q (total - 1).

    Weights that add up to less than the number of rows are relative.
    """
    weights = weights * max(1.0, len(weights) / weights.sum())
    order = np.argsort(x, axis=0)
    ends = np.cumsum(weights[order], axis=0)  # the value in row k takes the places from the end of row k - 1 on
    place = q * (weights.sum() - 1)
    low, high = (
        np.stack([_at(x[:, j], order[:, j], ends[:, j], whole) for j in range(x.shape[1])], axis=1)
        for whole in (np.floor(place), np.ceil(place))
    )
    part = (place - np.floor(place))[:, None]
    step = high - low
    return np.where(part < 0.5, low + part * step, high - (1 - part) * step)  # as NumPy rounds


def _at(column: Floats, order: Ints, ends: Floats, places: Floats) -> Floats:
    """The values at these places of the repeated column, in increasing order."""
    return column[order[np.minimum(np.searchsorted(ends, places, side="right"), len(column) - 1)]]


def as_given(x: Floats, n_bins: int, weights: Floats | None = None) -> Ints:
    """Every distinct whole number of a column is a state."""
    above = x - x.min(axis=0)
    if above.max() < len(x):  # codes already, but for where they start; states that do not occur do no harm
        return above.astype(np.intp)
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in x.T])


DISCRETIZERS: dict[str | None, Callable[[Floats, int, Floats | None], Ints]] = {
    "std": by_deviation,
    "quantile": by_quantile,
    None: as_given,
}


def code_type(rule: str | None, n_bins: int, n_samples: int) -> np.dtype[Any]:
    """The smallest integers that hold every state."""
    return np.min_scalar_type({"std": 3, "quantile": n_bins, None: n_samples}[rule])


def discretized(X: AnyArray, rule: str | None, n_bins: int, weights: Floats | None = None) -> Ints:
    """States 0, 1, ... of every value of X, whose samples count by their weights."""
    codes = np.empty(X.shape, dtype=code_type(rule, n_bins, X.shape[0]), order="F")
    for part, piece in dense_chunks(X):
        codes[:, part] = DISCRETIZERS[rule](piece, n_bins, weights)
    return codes
