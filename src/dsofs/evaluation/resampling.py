"""One selection per resample, shared by everything that is measured on its held-out samples. Nothing leaks.

A resample takes 60 % of the samples to select features and fit a classifier; scaling, too, is learnt on that part only.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.parallel import Parallel, delayed

from dsofs.arrays.types import AnyArray, Floats, Ints
from dsofs.evaluation.samples import Samples
from dsofs.evaluation.splits import train_test

Split = tuple[Ints, Ints]  # rows to learn from, rows held out
Progress = Callable[[str, int, int], None]  # stage, steps done, steps of the stage

SVM_SAMPLES = 5_000  # the work of a kernel SVM grows with the square of the samples
ALL_FEATURES_ENTRIES = 20_000_000  # of a training part; on more, the model on all features is not worth its time


@dataclass(frozen=True)
class Labelled:
    """Checked data: samples, the code of each one's class, the classes, and groups of samples that belong together."""

    X: AnyArray
    codes: Ints
    classes: np.ndarray
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Resample:
    """What one resample chose and predicted."""

    train: Ints
    test: Ints
    order: Ints  # features, best first, as many as the largest number asked for
    predicted: Ints  # class codes: one row per number of features, one column per held-out sample
    predicted_by_all: Ints | None  # by the same model on all features
    seconds: float  # of processor time, which other programs do not change


def random_splits(data: Labelled, n: int, seed: int) -> list[Split]:
    """Random 6:4 splits, class by class where the held-out part has room for all."""
    samples = Samples(np.empty((len(data.codes), 0)), data.codes, data.groups)
    splits = [train_test(samples, stratified=True, seed=seed + split) for split in range(n)]
    if not all(len(test) and len(np.unique(data.codes[train])) > 1 for train, test in splits):
        raise ValueError(
            "Accuracy cannot be measured: too few samples, or groups of them, to learn from some and predict others."
        )
    return splits


def resample(
    data: Labelled,
    selector: Any,
    splits: Sequence[Split],
    ks: Sequence[int],
    *,
    n_jobs: int | None,
    progress: Progress | None,
) -> list[Resample]:
    affordable = len(splits[0][0]) * data.X.shape[1] <= ALL_FEATURES_ENTRIES
    jobs = (delayed(run_split)(data, selector, split, ks, also_all=affordable) for split in splits)
    return list(_follow(jobs, len(splits), "resamples", n_jobs, progress))


def run_split(data: Labelled, selector: Any, split: Split, ks: Sequence[int], *, also_all: bool = False) -> Resample:
    """Select on the training part, then fit and predict with each number of features."""
    clock = time.process_time()
    train, test = split
    X_train, X_test, codes = data.X[train], data.X[test], data.codes[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all samples gives the same ones, once
        fitted = clone(selector).fit(X_train, data.classes[codes])
        order = np.argsort(fitted.ranking_)[: max(ks)]
        predicted = [predict(dense(X_train[:, top]), codes, dense(X_test[:, top])) for top in (order[:k] for k in ks)]
        by_all = predict(X_train, codes, X_test) if also_all else None
    return Resample(train, test, order, np.array(predicted), by_all, time.process_time() - clock)


def classifier_name(n_train: int) -> str:
    return "linear SVM (C = 1)" if n_train <= SVM_SAMPLES else "linear discriminant analysis with shrinkage"


def predict(X_train: AnyArray, codes: Ints, X_test: AnyArray) -> Ints:
    """Class codes of the held-out samples by a linear model on standardised features."""
    few = len(codes) <= SVM_SAMPLES
    if not few:
        X_train, X_test = dense(X_train), dense(X_test)  # discriminant analysis knows no other
    model = SVC(kernel="linear") if few else LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    scaler = StandardScaler(with_mean=not sparse.issparse(X_train))
    return np.asarray(make_pipeline(scaler, model).fit(X_train, codes).predict(X_test), dtype=np.intp)


def dense(X: AnyArray) -> Floats:
    """A few columns of X as a plain array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def shuffled_accuracies(
    data: Labelled,
    selector: Any,
    n_splits: int,
    k: int,
    n_permutations: int,
    *,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> list[float]:
    """Mean accuracy with shuffled labels, the splits and the whole selection done again with them, many times."""
    rng = np.random.default_rng(seed)
    shuffled = (replace(data, codes=shuffle_labels(data.codes, data.groups, rng)) for _ in range(n_permutations))
    jobs = (delayed(_mean_accuracy)(labelled, selector, n_splits, k, seed) for labelled in shuffled)
    return list(_follow(jobs, n_permutations, "shuffled labels", n_jobs, progress))


def _mean_accuracy(data: Labelled, selector: Any, n_splits: int, k: int, seed: int) -> float:
    """Of k features, over random splits."""
    runs = [run_split(data, selector, split, [k]) for split in random_splits(data, n_splits, seed)]
    return float(np.mean([np.mean(run.predicted[0] == data.codes[run.test]) for run in runs]))


def shuffle_labels(codes: Ints, groups: np.ndarray | None, rng: np.random.Generator) -> Ints:
    """Labels shuffled as far as samples are exchangeable.

    Groups whose samples all share a label swap it as a whole; otherwise labels are shuffled within each group.
    """
    if groups is None:
        return rng.permutation(codes)
    members = np.unique(groups, return_inverse=True)[1]
    first = codes[np.unique(members, return_index=True)[1]]
    if (codes == first[members]).all():
        return rng.permutation(first)[members]
    shuffled = codes.copy()
    for group in range(members.max() + 1):
        rows = np.flatnonzero(members == group)
        shuffled[rows] = rng.permutation(codes[rows])
    return shuffled


def _follow(jobs: Any, total: int, stage: str, n_jobs: int | None, progress: Progress | None) -> Iterator[Any]:
    """The results in order; ``progress`` hears of each."""
    results = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    for done, result in enumerate(results, 1):
        if progress is not None:
            progress(stage, done, total)
        yield result
