"""The samples that something is measured on, their splits, and folds; samples of one group are never on both sides."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.preprocessing import StandardScaler

from dsofs.design.types import AnyArray, Bools, Floats, Ints

Rows = tuple[Ints, Ints]  # indices of the samples to learn from, and of those to test on
TRAINING = 0.6  # part of the samples
CANDIDATES = 20  # random draws of whole groups, the one with the classes most in proportion is used


@dataclass(frozen=True)
class Samples:
    """X, y and, where several samples belong together (one patient, one speaker), the group of each.

    Where y holds codes, 0, 1, ..., of classes that are called otherwise, ``names`` are the names of the classes;
    ``weight`` is that of each sample in a fit, where they differ. A ``transformer`` is fitted to the training part of
    every split.
    """

    X: AnyArray
    y: Ints
    groups: Ints | None = None
    names: np.ndarray | None = None
    weight: Floats | None = None
    transformer: Any = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> np.ndarray:
        """The class of each sample as its user calls it."""
        return self.y if self.names is None else self.names[self.y]

    @property
    def classes(self) -> np.ndarray:
        return np.unique(self.y) if self.names is None else self.names

    def take(self, indices: Ints) -> Samples:
        groups = None if self.groups is None else self.groups[indices]
        weight = None if self.weight is None else self.weight[indices]
        return replace(self, X=self.X[indices], y=self.y[indices], groups=groups, weight=weight)

    def fit(self, selector: Any) -> Any:
        """The selector, fitted to these samples; weights are given to it only where there are some."""
        weights = {} if self.weight is None else {"sample_weight": self.weight}
        return selector.fit(self.X, self.labels, **weights)

    def without_features(self) -> Samples:
        """What splits depend on: taking some of these samples copies nothing large."""
        return replace(self, X=np.empty((len(self), 0)))

    def split(self, training: Ints, test: Ints) -> Split:
        split = Split(self.take(training), self.take(test))
        return split if self.transformer is None else split.transformed(clone(self.transformer))

    def transformed(self) -> Samples:
        """The samples as transformed by the transformer, which is fitted to all of them."""
        return self if self.transformer is None else replace(self, X=clone(self.transformer).fit_transform(self.X))

    def scaled(self) -> Samples:
        """Every feature with mean 0 and standard deviation 1 over all samples, those of the test among them."""
        return replace(self, X=StandardScaler().fit_transform(self.X))


@dataclass(frozen=True)
class Split:
    """Samples to learn from and samples to test on."""

    training: Samples
    test: Samples

    def transformed(self, transformer: Any) -> Split:
        """Both parts, transformed by a transformer that is fitted to the training samples alone."""
        fitted = transformer.fit(self.training.X)
        return Split(*(replace(part, X=fitted.transform(part.X)) for part in (self.training, self.test)))

    @property
    def teaches(self) -> bool:
        """Whether there are at least two classes to learn to separate."""
        return len(np.unique(self.training.y)) > 1


def train_test(samples: Samples, *, stratified: bool, seed: int) -> Rows:
    """A random 6:4 split; if ``stratified``, class by class where the test part has room for all classes.

    A class with one sample is then always in the training part, with the whole of its group.
    """
    if not stratified:
        kind = ShuffleSplit if samples.groups is None else GroupShuffleSplit
        return _deal(kind(1, train_size=TRAINING, random_state=seed), samples)[0]
    alone = _of_lone_classes(samples)
    shared = np.flatnonzero(~alone)
    if not len(shared):
        raise ValueError("Accuracy cannot be measured: no class has two samples.")
    train, test = _in_proportion(samples.without_features().take(shared), seed)
    return np.concatenate([shared[train], np.flatnonzero(alone)]), shared[test]


def _of_lone_classes(samples: Samples) -> Bools:
    """Samples that are the only one of their class, and all samples of their groups."""
    _, codes, counts = np.unique(samples.y, return_inverse=True, return_counts=True)
    alone = counts[codes] == 1
    return np.asarray(alone if samples.groups is None else np.isin(samples.groups, samples.groups[alone]))


def _in_proportion(samples: Samples, seed: int) -> Rows:
    if samples.groups is not None:
        draws = _deal(GroupShuffleSplit(CANDIDATES, train_size=TRAINING, random_state=seed), samples)
        return min(draws, key=lambda draw: _disproportion(samples.y, draw[0]))
    roomy = (1 - TRAINING) * len(samples) >= len(np.unique(samples.y))
    kind = StratifiedShuffleSplit if roomy else ShuffleSplit
    return _deal(kind(1, train_size=TRAINING, random_state=seed), samples)[0]


def _disproportion(y: Ints, train: Ints) -> float:
    """How far the classes are from their share of the training samples."""
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(codes)
    return float(np.sum((np.bincount(codes[train], minlength=len(counts)) / counts - TRAINING) ** 2))


def folds(samples: Samples, wanted: int, *, stratified: bool, seed: int) -> list[Rows]:
    """Folds for tuning: as many as wanted, or as there are groups; stratified ones also as the smallest class allows.

    There are at least two, so a class of one sample, or of one group, is missing in some training part.
    """
    # What is never split: groups, or single samples.
    units = np.arange(len(samples)) if samples.groups is None else samples.groups
    limit = min(wanted, len(np.unique(units)))
    stratified = stratified and len(np.unique(samples.y)) < len(samples)  # else there is nothing to keep in proportion
    if stratified:
        limit = min(limit, *(len(np.unique(units[samples.y == label])) for label in np.unique(samples.y)))
    kinds: dict[tuple[bool, bool], Any] = {
        (False, False): KFold,
        (False, True): GroupKFold,
        (True, False): StratifiedKFold,
        (True, True): StratifiedGroupKFold,
    }
    return _deal(kinds[stratified, samples.groups is not None](max(2, limit), shuffle=True, random_state=seed), samples)


def _deal(splitter: Any, samples: Samples) -> list[Rows]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # see ``folds``
        return list(splitter.split(samples.X, samples.y, samples.groups))
