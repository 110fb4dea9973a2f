"""Examine a selection: how good it is, how stable, whether better than chance, and where it may be wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from dsofs.design.linalg import dense
from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.environment import Progress, Stopwatch
from dsofs.examination import measures, views
from dsofs.examination.any_selector import Choice, check_selector, choice_of
from dsofs.examination.covariates import check_covariates, covariate_findings, refuse_chosen
from dsofs.examination.doubtful import suspects
from dsofs.examination.findings import ClassCount, Feature, Findings, Plan
from dsofs.examination.record import Source, convergence, finite, origin
from dsofs.examination.resampling import (
    LEAST,
    MOST,
    TIME_LIMIT,
    Costs,
    Step,
    given_folds,
    make_plan,
    random_splits,
    resample,
    shuffled_accuracies,
)
from dsofs.moved import renamed
from dsofs.statistics.samples import Rows, Samples
from dsofs.tables.features import equals_label
from dsofs.validation import DEPRECATED, check_categorical, check_X_y

GRID = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)  # numbers of features tried
# Splits that each shuffled labelling is measured on: one split of small data is noisy, and more of them cost little.
PERMUTATION_SPLITS = {5: 100_000, 2: 5_000_000, 1: np.inf}  # splits -> training samples x features x classes, at most


@renamed(seed="random_state")
def examine(
    X: AnyArray,
    y: AnyArray,
    selector: Any,
    *,
    feature_names: Sequence[str] | None = None,
    sample_names: Sequence[str] | None = None,
    groups: AnyArray | None = None,
    sample_groups: AnyArray | None = None,
    covariates: Mapping[str, Sequence[int]] | None = None,
    sample_weight: AnyArray | None = None,
    transform: Any = None,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "C",
    ks: Sequence[int] | None = None,
    n_resamples: int | None = None,
    n_permutations: int | None = None,
    time_limit: float | None = TIME_LIMIT,
    random_state: int = 0,
    n_jobs: int | None = None,
    source: Source | None = None,
    progress: Progress | None = None,
    on_plan: Callable[[Plan], None] | None = None,
) -> Findings:
    """Examine which features a selector chooses from (X, y): how well they predict, how stable they are, and more.

    Everything is measured on samples that neither the selection nor the scaling has seen: ``n_resamples`` times, 60 %
    of the samples are drawn, class by class, to select features and fit a linear SVM, and the others are predicted.

    Parameters
    ----------
    X : array, frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes.
    selector : selector of this package or of scikit-learn, or a Pipeline of such
        Fitted on (X, y), or not yet: then a copy of it is. It needs ``fit`` and ``get_support``; the order of features
        is that of its ``ranking_``, ``scores_``, or the weights of its ``estimator_``. Where there is none of these,
        accuracy is measured with the features it chooses alone. The other steps of a pipeline must keep every column.
        Folds given as ``cv`` index all samples: resamples make as many of their own.
    feature_names, sample_names : sequence of str, default=None
        None takes the names of the columns of a frame, else ``feature 0``, ...; ``0``, ... for samples.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together (of one patient) are never split between selecting and predicting.
    sample_groups : array-like of shape (n_samples,), default=None
        Another name of ``groups``.
    covariates : dict of str to sequence of int, default=None
        Columns of X, by the name of the covariate, that the selector adjusts for and never selects, as DSOSelector does
        with a ``penalty_factor`` of 0. What they predict alone, and what the chosen features add to them, is measured.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that every fit of the selector is given. Accuracies count every sample once.
    transform : transformer that keeps every column, default=None
        What X goes through before the selector and the classifier; it is fitted to the samples that these are fitted
        to. A selector that is fitted already was fitted to the transform of X.
    image_shape : (rows, columns), default=None
        If each sample is an image, its shape; ``image_order`` is "C" if X holds it row by row, "F" column by column.
    ks : sequence of int, default=None
        Numbers of features to measure accuracy with; None is a grid around the selector's own.
    n_resamples : int or None, default=None
        None: 20, or 10 or 5 if ``time_limit`` does not allow more.
    n_permutations : int or None, default=None
        How often the labels are shuffled and everything is done again, to see whether the accuracy beats chance. None:
        99, 49, 19 or none, as ``time_limit`` allows; more than 19 have a fifth of it. 0: no test.
    time_limit : float or None, default=60
        Seconds in which numbers that are None are to fit. Five resamples, which always run, are timed; then the numbers
        are fixed, and ``findings.origin.plan`` keeps them. With the same numbers given, findings are the same.
    random_state : int, default=0
        Seed of the resamples and the shuffling.
    n_jobs : int or None, default=None
        Resamples in parallel.
    source : Source, default=None
        Name and hash of the data and the command, for the record.
    progress : callable, default=None
        Called with (stage, steps done, steps of the stage).
    on_plan : callable, default=None
        Called with the :class:`Plan` when it is fixed.

    Returns
    -------
    Findings
        Plain values; :func:`dsofs.report.render` makes a page of them.
    """
    source, watch = source or Source(), Stopwatch()
    check_selector(selector)
    folds = given_folds(selector)
    checked = Examination()
    X, codes, classes = check_X_y(checked, X, y)
    n_samples, n_features = X.shape
    names = _names(feature_names, getattr(checked, "feature_names_in_", None), n_features, "feature")
    samples = _names(sample_names, None, n_samples, "sample")
    in_groups = _groups(sample_groups if groups is None else groups, n_samples)
    data = Samples(X, codes, in_groups, classes, _weights(sample_weight, n_samples), transform)
    whole = data.transformed()
    given = check_covariates(covariates, n_features)
    features = np.setdiff1d(np.arange(n_features), np.concatenate([[], *given.values()]))
    _check_counts(n_resamples, n_permutations, time_limit)
    check_image(image_shape, image_order, len(features))

    plain = _for_arrays(selector, checked, n_features)
    fitted, warned = _fit(selector, plain, whole)
    choice = choice_of(fitted, n_features)
    chosen, k = choice.order[: choice.n_chosen], choice.n_chosen
    if not k:
        raise ValueError("The 'selector' of examine chose no feature: there is nothing to examine.")
    refuse_chosen(given, choice)
    grid = _grid(k, choice.n_ordered, ks)
    watch.lap("selecting")
    splits = random_splits(data, n_resamples or MOST, random_state)
    worker = _serial(plain)
    measure = partial(resample, data, worker, ks=grid, k=k, selectable=choice.selectable, n_jobs=n_jobs)
    runs = measure(splits[:LEAST], progress=_steps(progress, "resampling", 0, len(splits)))
    few = runs[: _permutation_splits(data, splits[0])]
    costs = Costs.of(runs, len(few), source.seconds.get("selecting", watch.laps["selecting"]), n_jobs)
    plan = make_plan(costs, n_resamples, n_permutations, time_limit)
    if on_plan is not None:
        on_plan(plan)
    splits = splits[: plan.n_resamples]
    runs += measure(splits[LEAST:], progress=_steps(progress, "resampling", LEAST, len(splits)))
    watch.lap("resampling")
    shuffled = shuffled_accuracies(
        data, worker, len(few), k, plan.n_permutations, seed=random_state, n_jobs=n_jobs,
        progress=_steps(progress, "shuffling labels", 0, plan.n_permutations),
    )  # fmt: skip
    at_k = grid.index(k)
    watch.lap("shuffling labels")

    columns = dense(whole.X[:, chosen])
    frequency = measures.frequencies(runs, k, n_features)[chosen]
    return Findings(
        n_samples=n_samples,
        n_features=choice.n_selectable,
        classes=[ClassCount(str(c), int(n)) for c, n in zip(classes, np.bincount(codes), strict=True)],
        chosen=_features(fitted, choice, columns, data, names, frequency, source.leaking),
        accuracy=measures.accuracy_curve(runs, data, grid, k),
        balanced=measures.balanced_accuracy(runs, data, at_k),
        stability=measures.stability_curve(runs, grid, k, choice.selectable),
        permutation=measures.permutation_test(few, data, at_k, shuffled) if shuffled else None,
        confusion=measures.confusion(runs, data, at_k).tolist(),
        view=views.sample_view(whole, runs[0], k),
        heat_map=views.heat_map(columns, data),
        suspects=suspects(runs, data, at_k, samples, getattr(fitted, "conflicts_", [])),
        convergence=convergence(fitted, choice.selectable),
        image=None
        if image_shape is None
        else views.mean_image(X[:, features], image_shape, image_order, np.searchsorted(features, chosen)),
        covariates=covariate_findings(runs, data, given, k, n_jobs),
        repeated_ids=list(source.repeated_ids),
        warnings=[*source.warnings, *warned, *_limits(selector, folds, choice)],
        origin=origin(source, selector, data, splits, random_state, watch, plan),
    )


class Examination(BaseEstimator):  # type: ignore[misc]
    """Stands for the estimator when data are checked, and names itself in the messages."""


def _limits(selector: Any, folds: dict[str, int], choice: Choice) -> list[str]:
    """What cannot be measured for this selector, in sentences."""
    found = []
    for name, number in folds.items():
        found.append(
            f"The folds given as {name!r} are folds of all samples: each resample makes {number} of its own, within "
            "the samples it learns from."
        )
    if not choice.n_ordered:
        found.append(
            f"{type(selector).__name__} says which features it keeps, but not which of them are better: they stand in "
            "the order of the columns, and accuracy is measured for its own choice only."
        )
    return found


def _for_arrays(selector: Any, checked: Any, n_features: int) -> Any:
    """A selector that knows its categorical features by position, as ``checked`` knows their names."""
    if getattr(selector, "categorical_features", None) is None:
        return selector
    mask = check_categorical(checked, selector.categorical_features, n_features)
    return clone(selector).set_params(categorical_features=mask)


def _serial(selector: Any) -> Any:
    """A copy that leaves the cores to the resamples."""
    asked = selector.get_params(deep=False).get("n_jobs") not in (None, DEPRECATED)
    return clone(selector).set_params(**{"n_jobs": None} if asked else {})


def _names(given: Sequence[str] | None, own: AnyArray | None, n: int, kind: str) -> list[str]:
    """Names given, else those that X came with, else numbers."""
    if given is None:
        prefix = f"{kind} " if kind == "feature" else ""
        return [f"{prefix}{i}" for i in range(n)] if own is None else [str(name) for name in own]
    if len(given) != n:
        raise ValueError(f"The '{kind}_names' of examine must hold {n} names. Got {len(given)} instead.")
    return [str(name) for name in given]


def _groups(groups: AnyArray | None, n_samples: int) -> Ints | None:
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"The 'groups' of examine must hold one label per sample ({n_samples}). Got shape {labels.shape} instead."
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _weights(given: AnyArray | None, n_samples: int) -> Floats | None:
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n_samples,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"The 'sample_weight' of examine must hold one number above 0 per sample ({n_samples}).")
    return weights


def _check_counts(n_resamples: int | None, n_permutations: int | None, time_limit: float | None) -> None:
    if n_resamples is not None and n_resamples < 2:
        raise ValueError(f"The 'n_resamples' of examine must be at least 2 or None. Got {n_resamples!r} instead.")
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"The 'time_limit' of examine must be at least 0 or None. Got {time_limit!r} instead.")
    if n_permutations is not None and n_permutations < 0:
        raise ValueError(f"The 'n_permutations' of examine must be at least 0 or None. Got {n_permutations!r} instead.")


def check_image(shape: tuple[int, int] | None, order: str, n_features: int) -> None:
    if shape is not None and (len(shape) != 2 or shape[0] * shape[1] != n_features):
        raise ValueError(
            f"The 'image_shape' of examine must be (rows, columns) with {n_features} pixels. Got {shape!r} instead."
        )
    if order not in ("C", "F"):
        raise ValueError(f"The 'image_order' of examine must be 'C' or 'F'. Got {order!r} instead.")


def _grid(k: int, n_ordered: int, ks: Sequence[int] | None) -> list[int]:
    """Numbers of features to measure, k among them; by default up to three times k, and at least to 30.

    No more than the first ``n_ordered``, whose order is known.
    """
    wanted = [number for number in GRID if number <= max(3 * k, 30)] if ks is None else [int(number) for number in ks]
    if min(wanted, default=1) < 1:
        raise ValueError(f"The 'ks' of examine must be at least 1. Got {min(wanted)} instead.")
    return sorted({k, *(min(number, n_ordered) for number in wanted if n_ordered)})


def _fit(selector: Any, plain: Any, data: Samples) -> tuple[Any, list[str]]:
    """The selector if it is fitted, else a copy of ``plain`` fitted on the data, and the warnings of that."""
    try:
        check_is_fitted(selector)
    except NotFittedError:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = data.fit(clone(plain))
        return fitted, [str(warning.message) for warning in caught]
    return selector, []


def _permutation_splits(data: Samples, split: Rows) -> int:
    work = len(split[0]) * data.X.shape[1] * len(data.classes)
    return next(splits for splits, limit in PERMUTATION_SPLITS.items() if work <= limit)


def _steps(progress: Progress | None, stage: str, before: int, total: int) -> Step:
    """Report the steps of a stage that are done, ``before`` and since."""
    return lambda done: None if progress is None else progress(stage, before + done, total)


def _features(
    fitted: Any,
    choice: Choice,
    columns: np.ndarray,
    data: Samples,
    names: list[str],
    frequency: np.ndarray,
    leaking: Sequence[str],
) -> list[Feature]:
    coef = getattr(fitted, "coef_", None)
    quantiles = views.class_quantiles(columns, data)
    profile = views.class_means(views.standardise(columns, columns), data)
    equal = equals_label(columns, data.y)
    return [
        Feature(
            name=names[index],
            index=int(index),
            rank=rank,
            score=finite(choice.scores[index], 17),
            has_weight=None if coef is None else bool(np.any(coef[..., index] != 0)),
            frequency=float(frequency[rank - 1]),
            quantiles=[views.rounded(row) for row in quantiles[rank - 1]],
            profile=views.rounded(profile[rank - 1]),
            gives_label_away=bool(equal[rank - 1]) or names[index] in leaking,
        )
        for rank, index in enumerate(choice.order[: choice.n_chosen], 1)
    ]
