"""One selection per resample, shared by everything that is measured on its held-out samples. Nothing leaks.

A resample takes 60 % of the samples to select features and fit a classifier; scaling, too, is learnt on that part only.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from dsofs.design.types import Floats, Ints
from dsofs.examination.any_selector import choice_of
from dsofs.examination.relabelling import shuffle_labels
from dsofs.statistics.judge import Judgement, LinearModel, dense
from dsofs.statistics.samples import Samples, Split
from dsofs.statistics.splits import TRAINING, Rows, folds, train_test

Step = Callable[[int], None]  # called with the number of steps done

ALL_FEATURES_ENTRIES = 20_000_000  # entries of a training part; above it, the model on all features takes too long


@dataclass(frozen=True)
class Resample:
    """What one resample chose and predicted."""

    train: Ints
    test: Ints
    order: Ints  # features, best first, as many as the largest number asked for
    n_chosen: int  # chosen by the selector itself, whose number may differ between resamples
    predicted: Ints  # class codes: one row per number of features, one column per held-out sample
    margins: Floats  # of the held-out samples, means over the numbers of features; NaN for classes not learnt
    by_all: Judgement | None  # the same model on all features
    seconds: float

    def best(self, number: int, k: int) -> Ints:
        """The best features, ``number`` of them; where that is k, those that the selector chose itself."""
        return self.order[: self.n_chosen if number == k else number]


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
        judged = [_judge(split, choice.order[: choice.n_chosen if number == k else number]) for number in ks]
        by_all = None if also is None else _judge_all(split, also)
    order = choice.order[: max(*ks, choice.n_chosen)]
    seconds = time.perf_counter() - clock
    return Resample(
        *rows, order, choice.n_chosen, np.array([each.predicted for each in judged]),
        np.mean([each.margins for each in judged], axis=0), by_all, seconds,
    )  # fmt: skip


def _judge(split: Split, features: Ints) -> Judgement:
    training, test = (dense(part.X[:, features]) for part in (split.training, split.test))
    return LinearModel(training, split.training.y).judge(test, split.test.y)


def _judge_all(split: Split, features: Ints) -> Judgement:
    """The same with X as it is, sparse or not; nothing is copied if these are all features."""
    training, test = (
        part.X if len(features) == part.X.shape[1] else part.X[:, features] for part in (split.training, split.test)
    )
    return LinearModel(training, split.training.y).judge(test, split.test.y)


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
    return float(np.mean([np.mean(run.predicted[0] == data.y[run.test]) for run in runs]))


def _follow(jobs: Any, n_jobs: int | None, progress: Step) -> Iterator[Any]:
    """The results in order; ``progress`` is called after each with their number."""
    for done, result in enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(jobs), 1):
        progress(done)
        yield result
