"""The parameters of a method and the C of the SVM by cross-validation inside the training samples.

A ranking is computed once for each fold and parameters of the method, and shared by all values of C and numbers of
features. A selector with ``fit_each(X, y, settings)`` computes those of all parameters together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dsofs.design.types import Floats, Ints
from dsofs.experiments.protocols import Protocol
from dsofs.methods import Method
from dsofs.statistics.judge import judge
from dsofs.statistics.samples import Samples, Split

DECIMALS = 12  # of mean accuracies: what differs by less is equal


@dataclass(frozen=True)
class Tuned:
    """What was chosen, and its mean accuracy over the folds (None if nothing was tuned)."""

    parameters: dict[str, Any]
    svm_C: float
    accuracy: float | None = None


def ranked(selector: Any, depth: int) -> Ints:
    """The first ``depth`` features of a fitted selector, best first."""
    return np.argsort(selector.ranking_)[:depth]


def fitted(selector: Any, split: Split) -> Any:
    return selector.fit(split.training.X, split.training.y)


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
    best = {k: _best(mean, settings, protocol) for k, mean in zip(distinct, means, strict=True)}
    return [best[k] for k in at]


def _best(mean: Floats, settings: list[dict[str, Any]], protocol: Protocol) -> Tuned:
    """``mean`` is an accuracy for each of the settings and each C."""
    setting, C = np.unravel_index(np.argmax(mean), mean.shape)
    return Tuned(settings[setting], protocol.svm_Cs[C], float(mean.max()))


def _fit_each(
    method: Method, k: int, trial: int, fixed: dict[str, Any], settings: list[dict[str, Any]], split: Split
) -> list[Any]:
    """Selectors with all settings; at once, where the method knows how they can share their work."""
    selector = method(k, seed=trial, **fixed)
    if settings[0] and hasattr(selector, "fit_each"):
        return list(selector.fit_each(split.training.X, split.training.y, settings))
    return [fitted(method(k, seed=trial, **fixed, **given), split) for given in settings]


def _accuracies(split: Split, features: Ints, protocol: Protocol) -> list[float]:
    """One for each C."""
    return [judge(split, features, C, protocol.svm_max_iter).scores["accuracy"] for C in protocol.svm_Cs]
