"""Splits into training and test samples, and folds; samples of one group are never on both sides."""

from __future__ import annotations

import warnings
from itertools import islice
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from dsofs.arrays.types import Ints
from dsofs.evaluation.samples import Samples

TRAINING = 0.6  # part of the samples
# Whole groups cannot be drawn class by class, but they can be dealt into five parts of like classes: two are the test.
PARTS, TEST_PARTS = 5, 2


def train_test(samples: Samples, *, stratified: bool, seed: int) -> tuple[Ints, Ints]:
    """A random 6:4 split, with the classes in proportion if ``stratified``."""
    if stratified and samples.groups is not None:
        dealt = _deal(StratifiedGroupKFold(PARTS, shuffle=True, random_state=seed), samples)
        test = np.sort(np.concatenate([part for _, part in islice(dealt, TEST_PARTS)]))
        return np.setdiff1d(np.arange(len(samples)), test), test
    kinds = {
        (False, False): ShuffleSplit,
        (False, True): GroupShuffleSplit,
        (True, False): StratifiedShuffleSplit,
    }
    splitter = kinds[stratified, samples.groups is not None](1, train_size=TRAINING, random_state=seed)
    return _deal(splitter, samples)[0]


def folds(samples: Samples, wanted: int, *, stratified: bool, seed: int) -> list[tuple[Ints, Ints]]:
    """Folds for tuning: as many as wanted, or as there are groups; stratified ones also as the smallest class allows.

    There are at least two: a class of one sample, or of one group, is missing in some training part then.
    """
    limit = min(wanted, len(np.unique(_units(samples))))
    if stratified:
        limit = min(limit, _smallest_class(samples))
    kinds: dict[tuple[bool, bool], Any] = {
        (False, False): KFold,
        (False, True): GroupKFold,
        (True, False): StratifiedKFold,
        (True, True): StratifiedGroupKFold,
    }
    return _deal(kinds[stratified, samples.groups is not None](max(2, limit), shuffle=True, random_state=seed), samples)


def _units(samples: Samples) -> Ints:
    """What goes to one side as a whole: groups, or single samples."""
    return np.arange(len(samples)) if samples.groups is None else samples.groups


def _smallest_class(samples: Samples) -> int:
    """The fewest samples, or groups, of a class."""
    units = _units(samples)
    return min(len(np.unique(units[samples.y == label])) for label in np.unique(samples.y))


def _deal(splitter: Any, samples: Samples) -> list[tuple[Ints, Ints]]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # see ``folds``
        return list(splitter.split(samples.X, samples.y, samples.groups))
