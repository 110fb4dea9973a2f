"""Numbers of the exhibits from rows of the results file, tables as Markdown, and the tables of the paper."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np

from dsofs.datasets.catalogue import CATALOGUE
from dsofs.design.types import Floats
from dsofs.experiments import CLEAN, CLEAN_AT_100, PAPER, Protocol, Row
from dsofs.experiments.results import chosen_features
from dsofs.reproduction import paper
from dsofs.reproduction.experiments import FACTS, QUICK, by_p

Key = tuple[str, str, int | None]  # data, method, k
Measure = Callable[[Row], float | None]

DECIMALS = 10  # of means over trials
TITLES = paper.METHODS | {
    "multitask_lasso": "MultiTaskLasso",
    "l1_svm": "L1-SVM",
    "fastcan": "FastCan",
    "svm_rfe": "SVM-RFE",
    "f_test": "F-test",
    "all_features": "all features",
}
NOT_AVAILABLE = "not available"
QUICK_NOTE = "Quick: no tuning, C = 1, two trials; an impression, not a result. "


def title(method: str) -> str:
    return TITLES.get(method, method)


@dataclass(frozen=True)
class Results:
    """The rows of a results file; with ``quick`` those of quick runs, which are never mixed with the others."""

    rows: Sequence[Row]
    quick: bool = False

    @property
    def paper(self) -> list[Row]:
        return self._under(PAPER)

    @property
    def clean(self) -> list[Row]:
        """Rows of the clean protocol; if there are none, those of the clean protocol tuned at 100 features."""
        return self._under(CLEAN) or self._tuned_at_100

    @property
    def clean_name(self) -> str:
        earlier = self._tuned_at_100 and not self._under(CLEAN)
        return f"clean protocol, tuned at {CLEAN_AT_100.tuned_at} features" if earlier else "clean protocol"

    @property
    def _tuned_at_100(self) -> list[Row]:
        return [] if self.quick else self._under(CLEAN_AT_100)

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        return {row.data: row.values for row in self.rows if row.method == FACTS}

    def why_not_run(self, data: str) -> str:
        """The text in place of numbers."""
        return "not run" if data in self.facts else "not run: data not available"

    def _under(self, protocol: Protocol) -> list[Row]:
        name = (QUICK[protocol.name] if self.quick else protocol).name
        return [row for row in self.rows if row.parameters.get("protocol") == name]


def accuracy(row: Row) -> float | None:
    return None if row.score is None else 100 * row.score


def over_trials(rows: Iterable[Row], measure: Measure = accuracy) -> dict[Key, list[float]]:
    """(data, method, k) -> a number for each trial."""
    values: dict[Key, list[float]] = defaultdict(list)
    for row in rows:
        value = measure(row)
        if value is not None:
            values[row.data, row.method, row.k].append(value)
    return dict(values)


def data_of(rows: Iterable[Row]) -> list[str]:
    """The data sets in the order of Table 1, those that stand in for others after them; the digits are not of it."""
    found = {row.data for row in rows}
    return [name for name in CATALOGUE if name in found]


def methods_of(rows: Iterable[Row]) -> list[str]:
    """Those that select, on the data of ``data_of``: DSO first, then in the order in which they were run."""
    found = list(dict.fromkeys(row.method for row in rows if row.k is not None and row.data in CATALOGUE))
    return sorted(found, key=lambda name: name != "dso")


def matrix(
    rows: Sequence[Row], methods: Sequence[str], k: int, measure: Measure = accuracy
) -> tuple[list[str], Floats]:
    """Means over trials: data sets x methods, for the data sets on which all of the methods were run."""
    values = over_trials(rows, measure)
    data = [name for name in data_of(rows) if all((name, method, k) in values for method in methods)]
    means = [[fmean(values[name, method, k]) for method in methods] for name in data]
    return data, np.round(means, DECIMALS)  # equal up to rounding is a tie


def first_features(rows: Iterable[Row], k: int) -> dict[tuple[str, str], list[list[int]]]:
    """(data, method) -> the first k features of each trial."""
    chosen: dict[tuple[str, str], list[list[int]]] = defaultdict(list)
    for (data, method, _), features in sorted(chosen_features(rows, k).items()):
        chosen[data, method].append(features)
    return dict(chosen)


@dataclass(frozen=True)
class Table:
    title: str
    header: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]
    notes: str = ""

    def markdown(self) -> str:
        body = [self.header, ("---", *["---:"] * (len(self.header) - 1)), *self.lines]
        rows = ["| " + " | ".join(line) + " |" for line in body]
        return "\n".join([f"## {self.title}", "", *rows, "", self.notes, ""])


def table_of(
    results: Results, title: str, header: tuple[str, ...], lines: Sequence[tuple[str, ...]], notes: str
) -> Table:
    """A table that says so if it was drawn from quick runs."""
    if results.quick:
        title, notes = f"{title}, quick", QUICK_NOTE + notes
    return Table(title, header, lines, notes)


def table1(results: Results) -> list[Table]:
    """The data sets: as the paper lists them, and as they were read."""
    facts = results.facts
    lines = []
    for name in (*paper.DATA, *(name for name in paper.STAND_INS if name in facts)):
        dataset, found = CATALOGUE[name], facts.get(name)
        printed = [str(number) for number in (dataset.n_classes, dataset.n_features, dataset.n_samples)]
        ours = (
            [str(found[key]) for key in ("n_classes", "n_features", "n_samples")] if found else [NOT_AVAILABLE, "", ""]
        )
        lines.append((dataset.title, *(printed if name in paper.TABLE_2 else ["", "", ""]), *ours))
    header = ("", "classes (paper)", "features (paper)", "samples (paper)", "classes", "features", "samples")
    notes = (
        "Data sets, as the paper lists them and as they were read. Those without the paper's numbers stand in for sets "
        "that were not available."
    )
    return [Table("Table 1", header, lines, notes)]


def table2(results: Results) -> list[Table]:
    """Accuracy with 100 features: ours, and below it the paper's with the difference."""
    ours = {key: values for key, values in over_trials(results.paper).items() if key[2] == 100}
    found = {data for data, _, _ in ours}
    lines: list[tuple[str, ...]] = []
    for name in (*paper.DATA, *(name for name in paper.STAND_INS if name in found)):
        measured = [ours.get((name, method, 100)) for method in paper.METHODS]
        cells = [f"{fmean(each):.2f}±{stdev(each) if len(each) > 1 else 0.0:.2f}" if each else "" for each in measured]
        lines.append((CATALOGUE[name].title, *(cells if name in found else [results.why_not_run(name), *cells[1:]])))
        if name in paper.TABLE_2:
            printed = paper.TABLE_2[name]
            lines.append(("  paper", *(f"{mean:.2f}±{std:.2f}" for mean, std in printed)))
            pairs = zip(measured, printed, strict=True)
            lines.append(("  difference", *(f"{fmean(each) - mean:+.2f}" if each else "" for each, (mean, _) in pairs)))
    trials = sorted({len(each) for each in ours.values()})
    notes = (
        f"Accuracy (%) with 100 features, mean ± standard deviation over {_span(trials)} trials; below it the paper's, "
        "and the difference."
    )
    return [table_of(results, "Table 2", ("", *paper.METHODS.values()), lines, notes)]


def surviving_features(results: Results) -> list[Table]:
    """Figure 1, the second part: how many features keep a weight, for each p."""
    counts = over_trials(results.paper, lambda row: row.values.get("n_weights"))
    lines = []
    for name in paper.FIGURE_1:
        found = [counts.get((name, by_p(p), 100)) for p in paper.PS]
        cells = [f"{fmean(each):.0f}" if each else "" for each in found]
        lines.append((CATALOGUE[name].title, *(cells if any(found) else [results.why_not_run(name), *cells[1:]])))
    header = ("", *(f"p = {p:g}" for p in paper.PS))
    notes = "Features whose weights are not all zero, mean over trials. All others are ranked by when they became zero."
    return [table_of(results, "Features that survive", header, lines, notes)]


def _span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "".join(map(str, numbers)) or "no"
