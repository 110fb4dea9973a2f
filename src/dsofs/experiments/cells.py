"""One cell of an experiment: a method on a data set in one trial, tuned and scored for all numbers of features.

The parameters of the method and the C of the SVM are chosen by cross-validation inside the training samples. A ranking
is computed once for each fold and parameters of the method, and shared by all values of C and numbers of features. A
selector with ``fit_each(X, y, settings)`` computes those of all parameters together.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dsofs.design.types import AnyArray, Ints
from dsofs.experiments.protocols import Protocol
from dsofs.experiments.results import Row
from dsofs.methods import Method
from dsofs.statistics.classifier import svm_scores
from dsofs.statistics.samples import Samples, Split

DECIMALS = 12  # of mean accuracies: what differs by less is equal
ALL_FEATURES = "all_features"


@dataclass(frozen=True)
class Tuned:
    """What was chosen, and its mean accuracy over the folds (None if nothing was tuned)."""

    parameters: dict[str, Any]
    svm_C: float
    accuracy: float | None = None


def ranked(selector: Any, depth: int) -> Ints:
    """The first ``depth`` features of a fitted selector, best first."""
    return np.argsort(selector.ranking_)[:depth]


def settings_of(method: Method) -> list[dict[str, Any]]:
    """All combinations of the method's grid."""
    return [dict(zip(method.grid, values, strict=True)) for values in product(*method.grid.values())]


def tune(
    method: Method, fixed: dict[str, Any], protocol: Protocol, training: Samples, trial: int, ks: Sequence[int]
) -> list[Tuned]:
    """For each of ``ks`` the best of the method's grid times the protocol's values of C; of equals, the first."""
    if not protocol.tuned:
        return [Tuned({}, protocol.svm_C)] * len(ks)
    settings, at = settings_of(method), protocol.tuning_ks(ks, training.X.shape[1])
    distinct = sorted(set(at))
    accuracies = []
    for split in protocol.folds(training, trial):
        selectors = _fit_each(method, distinct[-1], trial, fixed, settings, split)
        rankings = [ranked(selector, distinct[-1]) for selector in selectors]
        accuracies.append([[_accuracies(split, features[:k], protocol) for features in rankings] for k in distinct])
    if not accuracies:  # no fold leaves two classes to learn
        return [Tuned(settings[0], protocol.svm_C)] * len(ks)
    means = np.array(accuracies).mean(axis=0).round(DECIMALS)
    best = {}
    for k, mean in zip(distinct, means, strict=True):  # mean: an accuracy for each of the settings and each C
        setting, C = np.unravel_index(np.argmax(mean), mean.shape)
        best[k] = Tuned(settings[setting], protocol.svm_Cs[C], float(mean.max()))
    return [best[k] for k in at]


def _fit_each(
    method: Method, k: int, trial: int, fixed: dict[str, Any], settings: list[dict[str, Any]], split: Split
) -> list[Any]:
    """Selectors with all settings; at once, where the method knows how they can share their work."""
    selector = method(k, seed=trial, **fixed)
    if settings[0] and hasattr(selector, "fit_each"):
        return list(selector.fit_each(split.training.X, split.training.y, settings))
    return [split.training.fit(method(k, seed=trial, **fixed, **given)) for given in settings]


def _accuracies(split: Split, features: Ints, protocol: Protocol) -> list[float]:
    """The accuracy with each C."""
    return [svm_scores(split, features, C, protocol.svm_max_iter).scores["accuracy"] for C in protocol.svm_Cs]


class KeepAll:
    """Selects nothing: the reference that selections are measured against."""

    def __init__(self, k: int | None, seed: int = 0) -> None:
        """Called as ``Method.make`` is."""

    def fit(self, X: AnyArray, y: AnyArray) -> KeepAll:
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self


REFERENCE = {ALL_FEATURES: Method(KeepAll)}


@dataclass(frozen=True)
class Cell:
    """What is run together, since it shares selections; ``ks`` are the numbers of features, rising, None for all."""

    data: str
    method: str
    trial: int
    ks: tuple[int | None, ...]

    def row(self, protocol: Protocol, k: int | None, **measured: Any) -> Row:
        return Row(self.data, self.method, self.trial, {"protocol": protocol.name}, k, **measured)


@dataclass(frozen=True)
class _Selection:
    """A fitted selector, its features, best first, and the seconds it took."""

    selector: Any
    features: Ints
    seconds: float


def run_cell(cell: Cell, protocol: Protocol, method: Method, samples: Samples) -> list[Row]:
    """Tune, select on the training samples, once for all k with the same parameters, and score the first k features."""
    clock = time.perf_counter()
    split = protocol.split(samples, cell.trial)
    fixed = dict(protocol.fixed.get(cell.method, {}))
    n_features = split.training.X.shape[1]
    ks = [n_features if k is None else k for k in cell.ks]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        choices = tune(method, fixed, protocol, split.training, cell.trial, ks)
        tuning_seconds = time.perf_counter() - clock
        make = partial(method, max(ks), seed=cell.trial, **fixed)
        selections = _select(make, [choice.parameters for choice in choices], split, max(ks))
        rows = _score_all(cell, protocol, split, choices, selections)
    shared = {
        "tuning_seconds": tuning_seconds,
        "cell_seconds": time.perf_counter() - clock,
        "warnings": sorted({warning.category.__name__ for warning in caught}),
    }
    for row in rows:
        row.values.update(shared)
    return rows


def _select(
    make: Callable[..., Any], parameters: Sequence[dict[str, Any]], split: Split, depth: int
) -> list[_Selection]:
    """A selection for each of the parameters; equal parameters share one."""
    made: dict[tuple[Any, ...], _Selection] = {}
    for given in parameters:
        if tuple(given.items()) not in made:
            clock = time.perf_counter()
            selector = split.training.fit(make(**given))
            seconds = time.perf_counter() - clock
            made[tuple(given.items())] = _Selection(selector, ranked(selector, depth), seconds)
    return [made[tuple(given.items())] for given in parameters]


def _score_all(
    cell: Cell, protocol: Protocol, split: Split, choices: Sequence[Tuned], selections: Sequence[_Selection]
) -> list[Row]:
    """A row for each k. The last row of a selection holds the list of features; the rows before it use its first k."""
    rows = []
    for k, choice, selection, after in zip(cell.ks, choices, selections, [*selections[1:], None], strict=True):
        svm = svm_scores(split, selection.features[:k], choice.svm_C, protocol.svm_max_iter)
        values = {
            **{name: score for name, score in svm.scores.items() if name != "accuracy"},
            "chosen": {**choice.parameters, "svm_C": choice.svm_C},
            "tuning_accuracy": choice.accuracy,
            "svm_seconds": svm.seconds,
            "svm_max_iter": protocol.svm_max_iter,
            "svm_capped": svm.capped,
            "status": getattr(selection.selector, "status_", None),
            "n_weights": _n_weights(selection.selector),
            "n_features": split.training.X.shape[1],
            "n_training": len(split.training),
        }
        if k is not None and after is not selection:
            values["features"] = selection.features[:k].tolist()
        row = cell.row(protocol, k, score=svm.scores["accuracy"], seconds=selection.seconds, values=values)
        rows.append(row)
    return rows


def _n_weights(selector: Any) -> int | None:
    """How many features a linear model kept."""
    coef = getattr(selector, "coef_", None)
    return None if coef is None else int(np.count_nonzero(np.any(coef != 0, axis=0)))
