"""One cell of an experiment: a method on a data set in one trial, for all numbers of features."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsofs.design.types import AnyArray
from dsofs.experiments.protocols import Protocol
from dsofs.experiments.results import Row
from dsofs.experiments.tuning import Tuned, fitted, ranked, tune
from dsofs.methods import Method
from dsofs.statistics.judge import judge
from dsofs.statistics.samples import Samples, Split

ALL_FEATURES = "all_features"


class KeepAll:
    """Selects nothing: the reference that selections are measured against."""

    def fit(self, X: AnyArray, y: AnyArray) -> KeepAll:
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self


def keep_all(k: int | None, seed: int = 0) -> KeepAll:
    return KeepAll()


REFERENCE = {ALL_FEATURES: Method(keep_all)}


@dataclass(frozen=True)
class Cell:
    """What is run together, since it shares one selection; ``ks`` are the numbers of features, None for all."""

    data: str
    method: str
    trial: int
    ks: tuple[int | None, ...]

    def row(self, protocol: Protocol, k: int | None, **measured: Any) -> Row:
        return Row(self.data, self.method, self.trial, {"protocol": protocol.name}, k, **measured)


def run_cell(cell: Cell, protocol: Protocol, method: Method, samples: Samples) -> list[Row]:
    """Tune, select once on the training samples, and judge the first k features for every k."""
    clock = time.perf_counter()
    split = protocol.split(samples, cell.trial)
    fixed = dict(protocol.fixed.get(cell.method, {}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        judged_by_all = split.training.X.shape[1] if None in cell.ks else None
        choice = tune(method, fixed, protocol, split.training, cell.trial, judged_by_all)
        tuning_seconds = time.perf_counter() - clock
        rows = _judge_all(cell, protocol, method, split, choice, fixed)
    shared = {
        "tuning_seconds": tuning_seconds,
        "cell_seconds": time.perf_counter() - clock,
        "warnings": sorted({warning.category.__name__ for warning in caught}),
    }
    for row in rows:
        row.values.update(shared)
    return rows


def _judge_all(
    cell: Cell, protocol: Protocol, method: Method, split: Split, choice: Tuned, fixed: dict[str, Any]
) -> list[Row]:
    n_features = split.training.X.shape[1]
    depth = _depth(cell.ks, n_features)
    clock = time.perf_counter()
    selector = fitted(method(depth, seed=cell.trial, **fixed, **choice.parameters), split)
    seconds = time.perf_counter() - clock
    features = ranked(selector, depth)
    rows = []
    for k in cell.ks:
        verdict = judge(split, features[:k], choice.svm_C, protocol.svm_max_iter)
        values = {
            **{name: score for name, score in verdict.scores.items() if name != "accuracy"},
            "chosen": {**choice.parameters, "svm_C": choice.svm_C},
            "tuning_accuracy": choice.accuracy,
            "svm_seconds": verdict.seconds,
            "svm_max_iter": protocol.svm_max_iter,
            "svm_capped": verdict.capped,
            "status": getattr(selector, "status_", None),
            "n_weights": _n_weights(selector),
            "n_features": n_features,
            "n_training": len(split.training),
        }
        if k is not None and min(k, n_features) == depth:
            values["features"] = features.tolist()
        rows.append(cell.row(protocol, k, score=verdict.scores["accuracy"], seconds=seconds, values=values))
    return rows


def _depth(ks: Sequence[int | None], n_features: int) -> int:
    """The number of features to ask a selector for."""
    return min(max(n_features if k is None else k for k in ks), n_features)


def _n_weights(selector: Any) -> int | None:
    """How many features a linear model kept."""
    coef = getattr(selector, "coef_", None)
    return None if coef is None else int(np.count_nonzero(np.any(coef != 0, axis=0)))
