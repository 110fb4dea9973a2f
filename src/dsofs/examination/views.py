"""Pictures of samples as numbers: two axes, a heat map, distributions within classes, pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from dsofs.design.linalg import dense
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.examination.findings import QUANTILES, HeatMap, Image, View
from dsofs.examination.resampling import Resample
from dsofs.statistics.samples import Samples

SAMPLES_DRAWN = 1_000  # in the view of samples
COLUMNS_DRAWN = 600  # samples in the heat map
ROWS_DRAWN = 40  # features in the heat map
LIMIT = 2.5  # standard deviations at which the heat map's colours end
RIDGE = 0.1  # of the mean within-class variance, added so that axes are not fitted to noise if there are few samples


def standardise(A: Floats, like: Floats) -> Floats:
    """A with the means and deviations of the columns of ``like``; constant columns become 0."""
    deviation = like.std(axis=0)
    return (A - like.mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)


def thin(codes: Ints, limit: int) -> Ints:
    """About ``limit`` samples, ordered by class, evenly spread within each and at least one of each."""
    order = np.argsort(codes, kind="stable")
    if len(codes) <= limit:
        return order
    parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    share = limit / len(codes)
    return np.concatenate([part[np.linspace(0, len(part) - 1, max(1, int(share * len(part)))).astype(int)]
                           for part in parts if len(part)])  # fmt: skip


def class_quantiles(A: Floats, data: Samples) -> Floats:
    """columns of A x classes x QUANTILES."""
    return np.stack([np.quantile(A[data.y == code], QUANTILES, axis=0).T for code in range(len(data.classes))], axis=1)


def class_means(A: Floats, data: Samples) -> Floats:
    """columns of A x classes."""
    return np.stack([A[data.y == code].mean(axis=0) for code in range(len(data.classes))], axis=1)


def discriminant_axes(Z: Floats, codes: Ints) -> Floats:
    """Two columns: directions that spread the class means widest, relative to the spread within classes.

    Two classes have one such direction; the second is then the largest variation of the samples orthogonal to it.
    """
    centred = Z - Z.mean(axis=0)
    counts = np.bincount(codes)
    present = np.flatnonzero(counts)
    means = np.zeros((len(counts), Z.shape[1]))
    means[present] = [centred[codes == code].mean(axis=0) for code in present]
    inside = centred - means[codes]
    within = inside.T @ inside / len(Z)
    within += (RIDGE * np.trace(within) / len(within) + np.finfo(np.float64).tiny) * np.eye(len(within))
    root = linalg.cholesky(within, lower=True)
    between = linalg.solve_triangular(root, (means * np.sqrt(counts)[:, None]).T, lower=True)
    directions = linalg.solve_triangular(root.T, linalg.svd(between, full_matrices=False)[0])
    if len(present) > 2 and directions.shape[1] > 1:
        return np.asarray(directions[:, :2])
    first = directions[:, :1] / linalg.norm(directions[:, 0])
    rest = centred - centred @ first @ first.T
    second = linalg.svd(rest, full_matrices=False)[2][:1].T
    return np.hstack([directions[:, :1], second])


def sample_view(data: Samples, resample: Resample, k: int) -> View:
    """Features chosen and axes fitted on the training part of a resample; all samples placed on them."""
    codes, chosen = data.y, dense(data.X[:, resample.order[: resample.n_chosen or k]])
    Z = standardise(chosen, chosen[resample.train])
    axes = discriminant_axes(Z[resample.train], codes[resample.train])
    x, y = (Z @ axes).T
    names = ["discriminant 1", "discriminant 2" if len(data.classes) > 2 else "largest variation beside it"]
    if Z.shape[1] == 1:
        x, y, names = Z[:, 0], codes.astype(np.float64), ["the chosen feature", "class"]
    held_out = np.zeros(len(codes), dtype=bool)
    held_out[resample.test] = True
    drawn = thin(codes, SAMPLES_DRAWN)
    return View(
        rounded(x[drawn]), rounded(y[drawn]), codes[drawn].tolist(), held_out[drawn].tolist(), names,
        len(codes) - len(drawn),
    )  # fmt: skip


def heat_map(chosen: Floats, data: Samples) -> HeatMap:
    """Rows in the order of the class in which each feature is highest, so that blocks show."""
    Z = standardise(chosen, chosen)[:, :ROWS_DRAWN]
    codes, highest = data.y, class_means(Z, data).argmax(axis=1)
    features = np.argsort(highest, kind="stable")
    drawn = thin(codes, COLUMNS_DRAWN)
    levels = np.rint(np.clip(Z[np.ix_(drawn, features)] / LIMIT, -1, 1) * 127).astype(int)
    return HeatMap(
        features.tolist(), np.bincount(codes[drawn], minlength=len(data.classes)).tolist(), levels.T.tolist(), LIMIT,
        len(codes) - len(drawn),
    )  # fmt: skip


def mean_image(X: AnyArray, shape: Sequence[int], order: str, chosen: Ints) -> Image:
    """The mean of all samples as an image, and where the chosen pixels lie in it."""
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    span = np.ptp(mean)
    grey = np.rint((mean - mean.min()) / (span if span > 0 else 1.0) * 255).astype(int)
    columns = np.arange(len(mean)).reshape(shape, order=order).ravel()  # type: ignore[call-overload]  # row by row
    return Image(list(shape), grey[columns].tolist(), np.argsort(columns)[chosen].tolist())


def rounded(values: Floats) -> list[float]:
    """Four significant digits, enough for any picture."""
    return [float(f"{value:.4g}") for value in values]
