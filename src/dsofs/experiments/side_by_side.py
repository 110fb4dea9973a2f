"""Methods side by side on one data set, from their rows in a results file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from dsofs.design.types import Floats
from dsofs.experiments.cells import ALL_FEATURES
from dsofs.experiments.results import Row, append_row, chosen_features, read_rows
from dsofs.files import sole_writer
from dsofs.records import read_record
from dsofs.statistics.significance import (
    Stability,
    compare_with_first,
    error_by_chance,
    holm,
    resampled_error,
    resampled_p,
    stability,
)

ASKED = "asked"  # stands for the method in the row that says what was compared
ENOUGH_TRIALS = 6  # with fewer, signed ranks never reach p < 0.05
DECIMALS = 12  # accuracies are means of whole numbers: closer than this they are equal
CLEAR = 0.05  # p-value of a difference that is more than chance


@dataclass(frozen=True)
class Asked:
    """What was compared on which data, and how."""

    data: str  # as the rows have it
    file: str
    sha256: str
    command: str | None
    protocol: str
    methods: list[str]
    ks: list[int]
    trials: int
    n_samples: int
    n_features: int
    classes: dict[str, int]  # name -> number of samples
    notes: list[str]  # what was odd about the data


@dataclass(frozen=True)
class Luck:
    """How likely chance alone makes such a difference: p-values, corrected for the number of methods (Holm)."""

    splits: float  # if the splits of these samples were drawn again (Wilcoxon)
    samples: float  # if the samples were drawn again (Student's t for splits that share samples)


@dataclass(frozen=True)
class Best:
    """The best method with k features, and the next."""

    k: int
    method: str
    accuracy: float
    deviation: float
    next: str | None
    lead: float  # over the next
    wins: int  # trials in which it was better than the next
    luck: Luck | None  # against the next; None where there is too little to test
    worse: list[str]  # methods behind by more than the luck of the splits


@dataclass(frozen=True)
class SideBySide:
    """Measurements of several methods; arrays are methods x numbers of features x trials, or methods x trials."""

    asked: Asked
    accuracy: Floats
    balanced: Floats  # accuracy in which every class has equal weight
    all_features: Floats  # accuracy without selection, of each trial
    stability: list[list[Stability | None]]  # methods x numbers of features; None where it is not defined
    seconds: Floats  # of a selection
    tuning_seconds: Floats
    ratio: float  # test samples over training samples
    warnings: dict[tuple[str, str], int]  # method and kind -> number of trials
    versions: dict[str, str]

    @property
    def mean(self) -> Floats:
        return np.asarray(self.accuracy.mean(axis=2))

    @property
    def deviation(self) -> Floats:
        return _deviation(self.accuracy)

    @property
    def chance(self) -> float:
        """Accuracy of always naming the largest class."""
        return max(self.asked.classes.values()) / self.asked.n_samples

    def above_chance(self) -> float:
        """By how many standard errors the best balanced accuracy exceeds chance, 1 / classes."""
        sizes = np.array([size for size in self.asked.classes.values() if size > 1])  # others are never tested
        by_splits = resampled_error(_deviation(self.balanced), self.asked.trials, self.ratio)
        errors = np.maximum(by_splits, error_by_chance(sizes))
        return float(np.max((self.balanced.mean(axis=2) - 1 / len(sizes)) / errors))

    def best(self) -> list[Best]:
        """The best method for each number of features."""
        return [self._best_at(place) for place in range(len(self.asked.ks))]

    def _best_at(self, place: int) -> Best:
        names, mean = self.asked.methods, np.round(self.mean[:, place], DECIMALS)
        order = np.argsort(-mean, kind="stable")
        scores = self.accuracy[order, place]
        luck = against_first(scores, self.ratio)
        others = [names[index] for index in order[1:]]
        return Best(
            k=self.asked.ks[place],
            method=names[order[0]],
            accuracy=float(mean[order[0]]),
            deviation=float(self.deviation[order[0], place]),
            next=others[0] if others else None,
            lead=float(mean[order[0]] - mean[order[1]]) if others else 0.0,
            wins=int(np.sum(scores[0] > scores[1])) if others else 0,
            luck=luck[0] if luck else None,
            worse=[name for name, each in zip(others, luck, strict=False) if each.splits < CLEAR],
        )


def against_first(scores: Floats, ratio: float) -> list[Luck]:
    """The first method (row) against each of the others over the trials; none where the trials are too few."""
    if len(scores) < 2 or scores.shape[1] < ENOUGH_TRIALS:
        return []
    splits = compare_with_first(scores.T).corrected
    samples = holm(np.array([resampled_p(scores[0] - other, ratio) for other in scores[1:]]))
    return [Luck(*pair) for pair in zip(splits.tolist(), samples.tolist(), strict=True)]


def remember(path: str | os.PathLike[str], asked: Asked) -> None:
    """Say in the results file what was compared last, unless it says so already."""
    if last_asked(read_rows(path)) != asked:
        with sole_writer(path):
            append_row(path, Row(asked.data, ASKED, 0, values=asdict(asked)))


def last_asked(rows: Iterable[Row]) -> Asked | None:
    """What was compared last, as the rows of a results file say; None if none does."""
    return next((read_record(Asked, row.values) for row in reversed(list(rows)) if row.method == ASKED), None)


def side_by_side(path: str | os.PathLike[str]) -> SideBySide:
    """What the results file holds of the comparison that was asked for last."""
    every = read_rows(path)
    asked = last_asked(every)
    if asked is None:
        raise ValueError(f"{os.fspath(path)!r} does not say what was compared: run dsofs compare again.")
    rows = [
        row for row in every
        if row.data == asked.data and row.parameters.get("protocol") == asked.protocol and row.seed < asked.trials
    ]  # fmt: skip
    cells = {(row.method, row.k, row.seed): row for row in rows}
    trials, n_training = range(asked.trials), rows[0].values["n_training"]
    selections = [[cells[method, asked.ks[-1], trial] for trial in trials] for method in asked.methods]

    def measured(value: Callable[[Row], float | None]) -> Floats:
        """Methods x numbers of features x trials."""
        every = [[[value(cells[method, k, trial]) for trial in trials] for k in asked.ks] for method in asked.methods]
        return np.array(every, dtype=np.float64)

    return SideBySide(
        asked=asked,
        accuracy=measured(lambda row: row.score),
        balanced=measured(lambda row: row.values["balanced_accuracy"]),
        all_features=np.array([cells[ALL_FEATURES, None, trial].score for trial in trials], dtype=np.float64),
        stability=[_stabilities(rows, method, asked) for method in asked.methods],
        seconds=np.array([[row.seconds for row in line] for line in selections], dtype=np.float64),
        tuning_seconds=np.array([[row.values["tuning_seconds"] for row in line] for line in selections]),
        ratio=(asked.n_samples - n_training) / n_training,
        warnings=_warnings(row for line in selections for row in line),
        versions=_versions(rows),
    )


def _stabilities(rows: Sequence[Row], method: str, asked: Asked) -> list[Stability | None]:
    """Of the sets that the trials chose."""
    own = [row for row in rows if row.method == method]
    if len({row.seed for row in own}) < 2:
        return [None] * len(asked.ks)
    chosen = ([np.array(features) for features in chosen_features(own, k).values()] for k in asked.ks)
    found = [stability(sets, asked.n_features) for sets in chosen]
    return [None if np.isnan(each.index) else each for each in found]


def _warnings(rows: Iterable[Row]) -> dict[tuple[str, str], int]:
    return dict(Counter((row.method, kind) for row in rows for kind in row.values["warnings"]))


def _versions(rows: Iterable[Row]) -> dict[str, str]:
    """What the rows were measured with; where it differs, all of it."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for name, version in row.versions.items():
            found.setdefault(name, {})[version] = None
    return {name: " and ".join(versions) for name, versions in found.items()}


def _deviation(values: Floats) -> Floats:
    """Over the last axis; 0 if there is one trial."""
    return np.asarray(values.std(axis=-1, ddof=min(1, values.shape[-1] - 1)))
