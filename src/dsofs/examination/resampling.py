"""One selection per resample, shared by everything that is measured on its held-out samples. Nothing leaks.

A resample takes 60 % of the samples to select features and fit a classifier; scaling, too, is learnt on that part only.
How many resamples and shuffled labellings there are is what the time allows, fixed before they start (``make_plan``).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from dsofs.design.linalg import dense
from dsofs.design.types import Floats, Ints
from dsofs.examination.any_selector import choice_of
from dsofs.examination.findings import Plan
from dsofs.statistics.classifier import LinearModel, Predictions
from dsofs.statistics.samples import TRAINING, Rows, Samples, Split, folds, train_test

Step = Callable[[int], None]  # called with the number of steps done

ALL_FEATURES_ENTRIES = 20_000_000  # entries of a training part; above it, the model on all features takes too long
TIME_LIMIT = 60.0  # seconds
# Numbers of resamples and of shuffled labellings, the best first. 19 labellings are enough to show p <= 0.05.
PREFERRED = ((20, 99), (20, 49), (20, 19), (10, 19), (20, 0), (10, 0), (5, 0))
MOST, LEAST = PREFERRED[0][0], PREFERRED[-1][0]  # resamples
ENOUGH = 19
FINER = 0.2  # share of the time for more than 19 labellings, which only make the p-value finer
LOADING = 0.5  # seconds of a first fit


@dataclass(frozen=True)
class Resample:
    """What one resample chose and predicted."""

    train: Ints
    test: Ints
    order: Ints  # features, best first, as many as the largest number asked for
    n_chosen: int  # chosen by the selector itself, whose number may differ between resamples
    predicted: Ints  # class codes: one row per number of features, one column per held-out sample
    margins: Floats  # of the held-out samples, means over the numbers of features; NaN for classes not learnt
    by_all: Predictions | None  # the same model on all features
    seconds: float

    def best(self, number: int, k: int) -> Ints:
        """The best features, ``number`` of them; where that is k, those that the selector chose itself."""
        return self.order[: self.n_chosen if number == k else number]


def accuracies(runs: Sequence[Resample], data: Samples, predicted: Iterable[Ints]) -> Floats:
    """The share of correct predictions for the held-out samples of each resample."""
    return np.array([np.mean(guess == data.y[run.test], axis=-1) for run, guess in zip(runs, predicted, strict=True)])


def random_splits(data: Samples, n: int, seed: int) -> list[Rows]:
    """Random 6:4 splits, class by class where the held-out part has room for all."""
    splits = [train_test(data, stratified=True, seed=seed + split) for split in range(n)]
    if not all(len(test) and len(np.unique(data.y[train])) > 1 for train, test in splits):
        raise ValueError(
            "Accuracy cannot be measured: too few samples, or groups of them, to learn from some and predict others."
        )
    return splits


def resample(
    data: Samples,
    selector: Any,
    splits: Sequence[Rows],
    ks: Sequence[int],
    k: int,
    *,
    selectable: Ints,
    n_jobs: int | None,
    progress: Step,
) -> list[Resample]:
    affordable = TRAINING * len(data) * len(selectable) <= ALL_FEATURES_ENTRIES
    also = selectable if affordable else None
    jobs = (delayed(run_split)(data, selector, split, ks, k, also=also) for split in splits)
    return list(_follow(jobs, n_jobs, progress))


def run_split(
    data: Samples, selector: Any, rows: Rows, ks: Sequence[int], k: int, *, also: Ints | None = None
) -> Resample:
    """Select on the training part, then fit and predict with each number of features; k is the selector's own.

    And with the features in ``also``, all that can be selected.
    """
    clock = time.perf_counter()
    split = data.split(*rows)
    training = split.training
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all samples gives the same ones, once
        fitted = training.fit(with_own_folds(selector, training))
        choice = choice_of(fitted, data.X.shape[1])
        by_number = [_predict(split, choice.order[: choice.n_chosen if number == k else number]) for number in ks]
        by_all = None if also is None else _predict_by_all(split, also)
    order = choice.order[: max(*ks, choice.n_chosen)]
    seconds = time.perf_counter() - clock
    return Resample(
        *rows, order, choice.n_chosen, np.array([each.predicted for each in by_number]),
        np.mean([each.margins for each in by_number], axis=0), by_all, seconds,
    )  # fmt: skip


def _predict(split: Split, features: Ints) -> Predictions:
    training, test = (dense(part.X[:, features]) for part in (split.training, split.test))
    return LinearModel(training, split.training.y).predict_with_margins(test, split.test.y)


def _predict_by_all(split: Split, features: Ints) -> Predictions:
    """The same without making X dense; nothing is copied if these are all features."""
    training, test = (
        part.X if len(features) == part.X.shape[1] else part.X[:, features] for part in (split.training, split.test)
    )
    return LinearModel(training, split.training.y).predict_with_margins(test, split.test.y)


def given_folds(selector: Any) -> dict[str, int]:
    """Parameters of the selector, or of its steps, that hold folds of all samples: their names and numbers of folds."""
    found = {}
    for name, value in selector.get_params().items():
        if name.split("__")[-1] == "cv" and isinstance(value, Iterable) and not hasattr(value, "split"):
            if not isinstance(value, Sized):
                raise ValueError(
                    f"The {name!r} parameter of the 'selector' of examine must be an int, a splitter or a list of "
                    f"folds. Got {value!r}, which can be read only once."
                )
            found[name] = len(value)
    return found


def with_own_folds(selector: Any, training: Samples) -> Any:
    """A copy for these samples: folds of all samples are replaced by the same number of folds of these."""
    parameters = {}
    for name, number in given_folds(selector).items():
        parameters[name] = folds(training, number, stratified=True, seed=0)
    return clone(selector).set_params(**parameters)


def shuffled_accuracies(
    data: Samples,
    selector: Any,
    n_splits: int,
    k: int,
    n_permutations: int,
    *,
    seed: int,
    n_jobs: int | None,
    progress: Step,
) -> list[float]:
    """Mean accuracy with shuffled labels, the splits and the whole selection done again with them, many times."""
    rng = np.random.default_rng(seed)
    shuffled = (replace(data, y=shuffle_labels(data.y, data.groups, rng)) for _ in range(n_permutations))
    jobs = (delayed(_mean_accuracy)(labelled, selector, n_splits, k, seed) for labelled in shuffled)
    return list(_follow(jobs, n_jobs, progress))


def _mean_accuracy(data: Samples, selector: Any, n_splits: int, k: int, seed: int) -> float:
    """Accuracy with k features, over random splits."""
    runs = [run_split(data, selector, split, [k], k) for split in random_splits(data, n_splits, seed)]
    return float(accuracies(runs, data, (run.predicted[0] for run in runs)).mean())


def _follow(jobs: Any, n_jobs: int | None, progress: Step) -> Iterator[Any]:
    """The results in order; ``progress`` is called after each with their number."""
    for done, result in enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(jobs), 1):
        progress(done)
        yield result


def shuffle_labels(codes: Ints, groups: Ints | None, rng: np.random.Generator) -> Ints:
    """A labelling that would be as likely as the true one if the features said nothing about the classes.

    Without groups every labelling with the same class counts is. Samples of one group (a patient) belong together, so
    with groups only these exchange their labels:

    * pure groups, whose samples all have one label: the labels move among the pure groups, of any size;
    * mixed groups: their label vectors move among the mixed groups of equal size, and labels move within each group.
    """
    if groups is None:
        return rng.permutation(codes)
    pure, mixed = _exchangeable(codes, groups)
    shuffled = codes.copy()
    for rows, label in zip(pure, rng.permutation(_labels(codes, pure)), strict=True):
        shuffled[rows] = label
    for rows in mixed:
        shuffled[rows] = rng.permuted(codes[rows][rng.permutation(len(rows))], axis=1)
    return shuffled


def smallest_p(codes: Ints, groups: Ints | None) -> float:
    """The smallest p-value that all labellings of ``shuffle_labels`` together allow.

    Of N labellings, those equal to the true one up to the names of the classes predict as well as it does::

        smallest p = (number of renamings that lead to one of the N) / N

    Classes are taken to be interchangeable if the sets of counts they have in the groups agree.
    """
    n_classes = int(codes.max()) + 1
    of_pure, mixed = np.bincount(codes), list[Ints]()
    if groups is not None:
        pure, mixed = _exchangeable(codes, groups)
        of_pure = np.bincount(_labels(codes, pure), minlength=n_classes)
    log_labellings = _log_arrangements(of_pure)
    counts = [of_pure[None, :]]
    for rows in mixed:
        within = np.stack([np.bincount(codes[group], minlength=n_classes) for group in rows])
        log_labellings += _log_arrangements(np.unique(within, axis=0, return_counts=True)[1])
        log_labellings += sum(_log_arrangements(group) for group in within)
        counts.append(np.sort(within, axis=0))
    alike = np.unique(np.concatenate(counts), axis=1, return_counts=True)[1]
    return float(np.exp(min(0.0, float(np.sum(gammaln(alike + 1.0))) - log_labellings)))


def _exchangeable(codes: Ints, groups: Ints) -> tuple[list[Ints], list[Ints]]:
    """The rows of each pure group, and for each size of mixed groups their rows (groups x size)."""
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    pure = [rows for rows in members if (codes[rows] == codes[rows[0]]).all()]
    mixed = [rows for rows in members if (codes[rows] != codes[rows[0]]).any()]
    return pure, [np.stack([rows for rows in mixed if len(rows) == size]) for size in sorted({len(r) for r in mixed})]


def _labels(codes: Ints, pure: list[Ints]) -> Ints:
    """The one label of each pure group."""
    return np.array([codes[rows[0]] for rows in pure], dtype=np.intp)


def _log_arrangements(counts: Sequence[int] | Ints | Floats) -> float:
    """log of the number of orders of a multiset with these counts: (sum counts)! / prod counts!"""
    counts = np.asarray(counts, dtype=np.float64)
    return float(gammaln(counts.sum() + 1) - np.sum(gammaln(counts + 1)))


@dataclass(frozen=True)
class Costs:
    """Estimated seconds of one resample and of one shuffled labelling, with all cores at work.

    The fewest resamples always run and are timed. With s the median of their seconds, t the seconds of the selection on
    all samples and q the splits that each shuffled labelling is measured on, r resamples and b labellings take about ::

        (r s + b q max(s, 0.6 (t - 0.5))) / cores      seconds.

    A resample selects from 0.6 of the samples. Shuffled labels are harder to fit than true ones, so s alone would be
    too little for them; and half a second of the first fit goes into loading libraries.
    """

    resample: float
    labelling: float

    @classmethod
    def of(cls, runs: Sequence[Resample], n_splits: int, selecting: float, n_jobs: int | None) -> Costs:
        """Estimate from resamples that were timed, and from the seconds of the selection on all samples."""
        cores, one = effective_n_jobs(n_jobs), median(run.seconds for run in runs)
        return cls(one / cores, n_splits * max(one, TRAINING * (selecting - LOADING)) / cores)

    def seconds(self, n_resamples: int, n_permutations: int) -> float:
        return n_resamples * self.resample + n_permutations * self.labelling


def make_plan(costs: Costs, n_resamples: int | None, n_permutations: int | None, time_limit: float | None) -> Plan:
    """The best numbers within the limit, or else the smallest; those that are given stay as they are."""
    if n_resamples is not None and n_permutations is not None:
        time_limit = None  # nothing is left to choose
    for numbers in _candidates(n_resamples, n_permutations):
        seconds = costs.seconds(*numbers)
        finer = n_permutations is None and numbers[1] > ENOUGH
        if time_limit is None or seconds <= time_limit * (FINER if finer else 1):
            break
    return Plan(*numbers, seconds, time_limit)


def _candidates(n_resamples: int | None, n_permutations: int | None) -> Iterator[tuple[int, int]]:
    for resamples, permutations in PREFERRED:
        yield (
            resamples if n_resamples is None else n_resamples,
            permutations if n_permutations is None else n_permutations,
        )
