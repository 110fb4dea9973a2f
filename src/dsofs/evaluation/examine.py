"""From a selection to all that can be said about it: how good, how stable, better than chance, and where it may err."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from dsofs.arrays.types import AnyArray, Ints
from dsofs.evaluation import measures
from dsofs.evaluation.findings import ClassCount, Convergence, Feature, Findings, Origin
from dsofs.evaluation.resampling import (
    Labelled,
    Progress,
    Resample,
    Split,
    classifier_name,
    dense,
    random_splits,
    resample,
    shuffled_accuracies,
)
from dsofs.evaluation.results import environment
from dsofs.evaluation.views import class_means, class_quantiles, heat_map, mean_image, rounded, sample_view, standardise
from dsofs.stopwatch import Stopwatch
from dsofs.validation import check_categorical, check_X_y

GRID = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)  # numbers of features tried
PERMUTATIONS = (49, 19)  # the second where the first would take longer than PERMUTATION_SECONDS
PERMUTATION_SECONDS = 60.0
# Splits that each shuffled labelling is judged on: the smaller the data, the noisier one split is and the cheaper more.
PERMUTATION_SPLITS = {5: 100_000, 2: 5_000_000, 1: np.inf}  # splits -> training samples x features x classes, at most


@dataclass(frozen=True)
class Source:
    """Where the data came from, for the record."""

    name: str = "data"
    sha256: str | None = None  # of the file; None: of the numbers themselves
    command: str | None = None
    warnings: tuple[str, ...] = ()  # of reading and selecting
    seconds: dict[str, float] = field(default_factory=dict)


def examine(
    X: AnyArray,
    y: AnyArray,
    selector: Any,
    *,
    feature_names: Sequence[str] | None = None,
    sample_names: Sequence[str] | None = None,
    sample_groups: AnyArray | None = None,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "C",
    ks: Sequence[int] | None = None,
    n_resamples: int = 20,
    n_permutations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    source: Source | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Examine which features a selector chooses from (X, y): how well they predict, how stable they are, and more.

    Everything is measured on samples that neither the selection nor the scaling has seen: ``n_resamples`` times, 60 %
    of the samples are drawn, class by class, to select features and fit a linear SVM, and the others are predicted.

    Parameters
    ----------
    X : array, frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes.
    selector : selector of this package
        Fitted on (X, y), or not yet: then a copy of it is.
    feature_names, sample_names : sequence of str, default=None
        None takes the names of the columns of a frame, else ``feature 0``, ...; ``0``, ... for samples.
    sample_groups : array-like of shape (n_samples,), default=None
        Samples that belong together (of one patient) are never split between selecting and predicting.
    image_shape : (rows, columns), default=None
        If each sample is an image, its shape; ``image_order`` is "C" if X holds it row by row, "F" column by column.
    ks : sequence of int, default=None
        Numbers of features to measure accuracy with; None is a grid around the selector's own.
    n_resamples : int, default=20
    n_permutations : int or None, default=None
        How often the labels are shuffled and everything is done again, to see whether the accuracy beats chance. None:
        49, or 19 if a selection takes long; 0: no test.
    seed : int, default=0
        Of the resamples and the shuffling.
    n_jobs : int or None, default=None
        Resamples in parallel.
    source : Source, default=None
        Name and hash of the data and the command, for the record.
    progress : callable, default=None
        Called with (stage, steps done, steps of the stage).

    Returns
    -------
    Findings
        Plain values; :func:`dsofs.report.render` makes a page of them.
    """
    source, watch = source or Source(), Stopwatch()
    copy = clone(selector)
    X, codes, classes = check_X_y(copy, X, y)
    n_samples, n_features = X.shape
    names = _names(feature_names, getattr(copy, "feature_names_in_", None), n_features, "feature")
    samples = _names(sample_names, None, n_samples, "sample")
    data = Labelled(X, codes, classes, _groups(sample_groups, n_samples))
    _check_counts(n_resamples, n_permutations)
    _check_image(image_shape, image_order, n_features)

    plain = _for_arrays(selector, copy, n_features)
    fitted, told = _fit(selector, plain, data)
    chosen = np.argsort(fitted.ranking_)[: int(fitted.get_support().sum())]
    k = len(chosen)
    grid = _grid(k, n_features, ks)
    watch.lap("selecting")
    splits = random_splits(data, n_resamples, seed)
    worker = _serial(plain)
    runs = resample(data, worker, splits, grid, n_jobs=n_jobs, progress=progress)
    watch.lap("resampling")
    test = None
    if n_permutations != 0:
        few = runs[: _permutation_splits(data, splits[0])]
        n_permutations = _affordable(few, n_jobs) if n_permutations is None else n_permutations
        shuffled = shuffled_accuracies(
            data, worker, len(few), k, n_permutations, seed=seed, n_jobs=n_jobs, progress=progress
        )
        test = measures.permutation_test(few, data, grid.index(k), shuffled)
    watch.lap("shuffling labels")

    columns = dense(X[:, chosen])
    frequency = measures.frequencies(runs, k, n_features)[chosen]
    at_k = grid.index(k)
    return Findings(
        n_samples=n_samples,
        n_features=n_features,
        classes=[ClassCount(str(c), int(n)) for c, n in zip(classes, np.bincount(codes), strict=True)],
        chosen=_features(fitted, chosen, columns, data, names, frequency),
        accuracy=measures.accuracy_curve(runs, data, grid, k),
        stability=measures.stability_curve(runs, grid, k, n_features),
        permutation=test,
        confusion=measures.confusion(runs, data, at_k).tolist(),
        view=sample_view(data, runs[0], k),
        heat_map=heat_map(columns, data),
        suspects=measures.suspects(runs, data, at_k, samples, getattr(fitted, "conflicts_", [])),
        convergence=_convergence(fitted),
        image=None if image_shape is None else mean_image(X, image_shape, image_order, chosen),
        warnings=[*source.warnings, *told],
        origin=_origin(source, selector, data, splits, seed, watch),
    )


def _for_arrays(selector: Any, checked: Any, n_features: int) -> Any:
    """A selector that knows its categorical features by position, as ``checked`` knows their names."""
    if getattr(selector, "categorical_features", None) is None:
        return selector
    mask = check_categorical(checked, selector.categorical_features, n_features)
    return clone(selector).set_params(categorical_features=mask)


def _serial(selector: Any) -> Any:
    """A copy that leaves the cores to the resamples."""
    parameters = {"n_jobs": None} if "n_jobs" in selector.get_params(deep=False) else {}
    return clone(selector).set_params(**parameters)


def _names(given: Sequence[str] | None, own: AnyArray | None, n: int, kind: str) -> list[str]:
    """Names given, else those that X came with, else numbers."""
    if given is None:
        prefix = f"{kind} " if kind == "feature" else ""
        return [f"{prefix}{i}" for i in range(n)] if own is None else [str(name) for name in own]
    if len(given) != n:
        raise ValueError(f"The '{kind}_names' of examine must hold {n} names. Got {len(given)} instead.")
    return [str(name) for name in given]


def _groups(sample_groups: AnyArray | None, n_samples: int) -> Ints | None:
    if sample_groups is None:
        return None
    labels = np.asarray(sample_groups)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"The 'sample_groups' of examine must hold one label per sample ({n_samples}). Got shape {labels.shape} "
            "instead."
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _check_counts(n_resamples: int, n_permutations: int | None) -> None:
    if n_resamples < 2:
        raise ValueError(f"The 'n_resamples' of examine must be at least 2. Got {n_resamples!r} instead.")
    if n_permutations is not None and n_permutations < 0:
        raise ValueError(f"The 'n_permutations' of examine must be at least 0 or None. Got {n_permutations!r} instead.")


def _check_image(shape: tuple[int, int] | None, order: str, n_features: int) -> None:
    if shape is not None and (len(shape) != 2 or shape[0] * shape[1] != n_features):
        raise ValueError(
            f"The 'image_shape' of examine must be (rows, columns) with {n_features} pixels. Got {shape!r} instead."
        )
    if order not in ("C", "F"):
        raise ValueError(f"The 'image_order' of examine must be 'C' or 'F'. Got {order!r} instead.")


def _grid(k: int, n_features: int, ks: Sequence[int] | None) -> list[int]:
    """Numbers of features to measure, k among them; by default up to three times k, and at least to 30."""
    wanted = [number for number in GRID if number <= max(3 * k, 30)] if ks is None else [int(number) for number in ks]
    if min(wanted, default=1) < 1:
        raise ValueError(f"The 'ks' of examine must be at least 1. Got {min(wanted)} instead.")
    return sorted({min(number, n_features) for number in [*wanted, k]})


def _fit(selector: Any, plain: Any, data: Labelled) -> tuple[Any, list[str]]:
    """The selector if it is fitted, else a copy of ``plain`` fitted on the data, and the warnings of that."""
    try:
        check_is_fitted(selector)
    except NotFittedError:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = clone(plain).fit(data.X, data.classes[data.codes])
        return fitted, [str(warning.message) for warning in caught]
    if len(selector.ranking_) != data.X.shape[1]:
        raise ValueError(
            f"The 'selector' of examine was fitted on {len(selector.ranking_)} features, and X has {data.X.shape[1]}."
        )
    return selector, []


def _permutation_splits(data: Labelled, split: Split) -> int:
    work = len(split[0]) * data.X.shape[1] * len(data.classes)
    return next(splits for splits, limit in PERMUTATION_SPLITS.items() if work <= limit)


def _affordable(runs: Sequence[Resample], n_jobs: int | None) -> int:
    """As many permutations as the time allows, each as much work as these resamples."""
    most, least = PERMUTATIONS
    seconds = sum(run.seconds for run in runs) / effective_n_jobs(n_jobs)
    return most if most * seconds <= PERMUTATION_SECONDS else least


def _features(
    fitted: Any, chosen: Ints, columns: np.ndarray, data: Labelled, names: list[str], frequency: np.ndarray
) -> list[Feature]:
    quantiles = class_quantiles(columns, data)
    profile = class_means(standardise(columns, columns), data)
    return [
        Feature(
            name=names[index],
            index=int(index),
            rank=rank,
            score=float(fitted.scores_[index]),
            frequency=float(frequency[rank - 1]),
            quantiles=[rounded(row) for row in quantiles[rank - 1]],
            profile=rounded(profile[rank - 1]),
        )
        for rank, index in enumerate(chosen, 1)
    ]


def _convergence(fitted: Any) -> Convergence | None:
    """Of methods that keep a history."""
    history = getattr(fitted, "history_", None)
    if history is None:
        return None
    certified = np.isfinite(fitted.duality_gap_)
    value = fitted.duality_gap_ if certified else fitted.stationarity_
    return Convergence(
        status=fitted.status_,
        certificate="duality gap" if certified else "stationarity",
        value=_finite(value),
        n_rows=int(np.count_nonzero(np.any(fitted.coef_ != 0, axis=0))),
        objective=rounded(history["objective"]),
        gap=[_finite(gap) for gap in history["gap"]],
        active=[int(rows) for rows in history["active"]],
    )


def _finite(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None


def _origin(
    source: Source, selector: Any, data: Labelled, splits: Sequence[Split], seed: int, watch: Stopwatch
) -> Origin:
    parameters = {name: _plain(value) for name, value in selector.get_params(deep=False).items()}
    sha256 = source.sha256 or data_hash(data)
    watch.lap("describing")
    stages = [*source.seconds, *(stage for stage in watch.laps if stage not in source.seconds)]
    return Origin(
        data=source.name,
        sha256=sha256,
        command=source.command,
        method=type(selector).__name__,
        parameters=parameters,
        seed=seed,
        n_resamples=len(splits),
        classifier=classifier_name(len(splits[0][0])),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=environment(),
        seconds={stage: source.seconds.get(stage, 0.0) + watch.laps.get(stage, 0.0) for stage in stages},
    )


def _plain(value: Any) -> Any:
    """A parameter as JSON holds it; what it cannot hold, in words."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return f"{type(value).__name__} of {len(value)}" if hasattr(value, "__len__") and len(value) > 20 else str(value)


def data_hash(data: Labelled) -> str:
    """SHA-256 of the numbers and class codes as they were examined."""
    digest = hashlib.sha256()
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    for part in (X.indptr, X.indices, X.data) if sparse.issparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).data)
    digest.update(np.ascontiguousarray(data.codes).data)
    return digest.hexdigest()
