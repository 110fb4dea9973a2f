"""The tables of ``benchmarks.standing``, from its rows alone: means within a kind of data, then over the kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.harness import RESULTS
from dsofs.design.types import Floats
from dsofs.experiments import ALL_FEATURES, Row
from dsofs.files import write_whole
from dsofs.reproduction import tables as paper_tables
from dsofs.reproduction.standing import best_in_bold
from dsofs.reproduction.tables import Table
from dsofs.statistics import compare_with_first, mean_ranks, stability

FOLDER = RESULTS / "standing"
OURS = "dso"
BEFORE = "dso_forward"  # the default before this study
JUDGES = {
    "svm": "linear SVM, C tuned for each k",
    "forest": "random forest",
    "neighbours": "5 nearest neighbours",
    "svm_C1": "linear SVM, C = 1",
}
MEASURES = {"accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy"}
TITLES = {
    "random_forest": "random forest",
    "rfe_tenth": "RFE, a tenth at a time",
    "elastic_net": "elastic net",
    "boruta": "Boruta",
    BEFORE: "DSO-FS, forward",
}
DECIMALS = 10  # equal up to rounding is a tie
MIDDLE = slice(1, 4)  # of the ks
RESAMPLES = 2_000

Kinds = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Scores:
    """Percentages under one judge: (data, method) -> an array of splits x ks."""

    values: Mapping[tuple[str, str], Floats]

    @classmethod
    def of(cls, rows: Iterable[Row], judge: str, measure: str) -> Scores:
        found = defaultdict(list)
        for row in rows:
            if row.parameters.get("judge") == judge and "failed" not in row.values:
                found[row.data, row.method].append((row.seed, row.values[measure]))
        return cls({key: 100 * np.array([values for _, values in sorted(splits)]) for key, splits in found.items()})

    def methods(self, data: Iterable[str]) -> list[str]:
        """Those with a score on all of the data, in as many splits as ours."""
        data = list(data)
        names = dict.fromkeys(method for _, method in self.values if method != ALL_FEATURES)
        return [name for name in names if data and all(self.complete(each, name) for each in data)]

    def complete(self, data: str, method: str) -> bool:
        return len(self.values.get((data, method), ())) >= max(len(self.values.get((data, OURS), ())), 1)

    def means(self, data: Iterable[str], methods: Iterable[str]) -> Floats:
        """Data sets x methods x ks, over the splits."""
        methods = list(methods)
        return np.round([[self.values[each, name].mean(axis=0) for name in methods] for each in data], DECIMALS)


def title(method: str) -> str:
    return TITLES.get(method) or paper_tables.title(method)


def by_kind(values: Floats, data: Sequence[str], kinds: Kinds) -> Floats:
    """Means over the sets of each kind; ``values`` has a row for each of the data sets."""
    groups = [[data.index(name) for name in names if name in data] for names in kinds.values()]
    return np.array([values[group].mean(axis=0) for group in groups if group])


def over_kinds(values: Floats, data: Sequence[str], kinds: Kinds) -> Floats:
    """Means over the sets of a kind, then over the kinds."""
    return np.asarray(by_kind(values, data, kinds).mean(axis=0))


def interval(gains: Floats, data: list[str], kinds: Kinds) -> tuple[float, float, float]:
    """The mean over kinds of a number for each set, and the ends of 95 % of its means over sets drawn again."""
    of_kind = np.array([[name in names for names in kinds.values()] for name in data], dtype=float)
    drawn = np.random.default_rng(0).integers(len(data), size=(RESAMPLES, len(data)))
    times = np.array([np.bincount(each, minlength=len(data)) for each in drawn])
    counts = times @ of_kind
    means = np.sum((times * gains) @ of_kind / np.maximum(counts, 1), axis=1) / np.sum(counts > 0, axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(over_kinds(gains, data, kinds)), float(low), float(high)


def is_variant(method: str) -> bool:
    """Whether it is a variant of DSO, which ``standing_choice`` is about."""
    return ", " in method


def measured(rows: Iterable[Row], kinds: Kinds) -> list[str]:
    """The data sets of ours, in the order of the kinds."""
    found = {row.data for row in rows if row.method == OURS and "judge" in row.parameters}
    return [name for names in kinds.values() for name in names if name in found]


def draw(rows: list[Row], kinds: Kinds, ks: Sequence[int]) -> None:
    """``standing.md``: means, differences, ranks, stability and seconds; ``by_data.md``: every data set."""
    rows = [row for row in rows if not is_variant(row.method)]
    data = measured(rows, kinds)
    tables = []
    for measure, judge in product(MEASURES, JUDGES):
        scores = Scores.of(rows, judge, measure)
        if OURS in scores.methods(data):
            under = f"{MEASURES[measure]}, {JUDGES[judge]}"
            tables += [means_table(scores, data, kinds, ks, under), _against_ours(scores, data, ks, under)]
    tables += [stability_table(rows, data, kinds, ks), seconds_table(rows, data), *_failures(rows)]
    write("standing", "Where DSO stands", tables)
    write("by_data", "Every data set", _by_data(Scores.of(rows, "svm", "accuracy"), data, ks))


def write(name: str, heading: str, tables: Iterable[Table]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_whole(FOLDER / f"{name}.md", "\n".join([f"# {heading}", "", *(table.markdown() for table in tables)]))


def means_table(scores: Scores, data: list[str], kinds: Kinds, ks: Sequence[int], under: str) -> Table:
    methods = scores.methods(data)
    values = scores.means(data, methods)
    means = over_kinds(values, data, kinds)
    ranks = [mean_ranks(values[:, :, place]).mean for place in range(len(ks))] if len(methods) > 2 else []
    order = np.argsort(-means[:, MIDDLE].mean(axis=1), kind="stable")
    lines = [
        (title(methods[i]), *(best_in_bold(means[:, place], i) for place in range(len(ks))),
         f"{means[i, MIDDLE].mean():.2f}", *(f"{rank[i]:.1f}" for rank in ranks))
        for i in order
    ]  # fmt: skip
    if all((name, ALL_FEATURES) in scores.values for name in data):
        everything = float(over_kinds(scores.means(data, [ALL_FEATURES])[:, 0, 0], data, kinds))
        lines.append((title(ALL_FEATURES), *[f"{everything:.2f}"] * (len(ks) + 1), *[""] * len(ranks)))
    middle = f"mean of k = {', '.join(map(str, ks[MIDDLE]))}"
    header = ("", *(f"k = {k}" for k in ks), middle, *(f"mean rank, {k}" for k in ks[: len(ranks)]))
    splits = min(len(scores.values[name, OURS]) for name in data)
    notes = (
        f"{len(data)} data sets of {_n_kinds(data, kinds)} kinds, {splits} splits. Means (%) over kinds of data; ranks "
        "over the sets."
    )
    return Table(under, header, lines, notes)


def _n_kinds(data: Sequence[str], kinds: Kinds) -> int:
    return sum(any(name in data for name in names) for names in kinds.values())


def _against_ours(scores: Scores, data: list[str], ks: Sequence[int], under: str) -> Table:
    """Ours minus each method over the sets, with the p-value after Holm's correction."""
    rivals = [name for name in scores.methods(data) if name != OURS]
    values = scores.means(data, [OURS, *rivals])
    found = [compare_with_first(values[:, :, place]) for place in range(len(ks))]
    lines = [
        (title(name), *(f"{each.differences[i]:+.2f} (p = {each.corrected[i]:.2g})" for each in found))
        for i, name in enumerate(rivals)
    ]
    notes = (
        f"Mean over {len(data)} data sets; p of Wilcoxon's signed ranks over the sets, corrected by Holm for "
        f"{len(rivals)} methods."
    )
    return Table(f"{under}: DSO-FS minus each other method", ("", *(f"k = {k}" for k in ks)), lines, notes)


def stability_table(rows: list[Row], data: list[str], kinds: Kinds, ks: Sequence[int]) -> Table:
    chosen, n_features = defaultdict(list), {}
    for row in rows:
        if row.values.get("features"):
            chosen[row.data, row.method].append(row.values["features"])
            n_features[row.data] = row.values["n_features"]
    lines = []
    for name in dict.fromkeys(method for _, method in chosen):
        if all(len(chosen[each, name]) > 1 for each in data):
            values = [[_index(chosen[each, name], k, n_features[each]) for k in ks] for each in data]
            lines.append((title(name), *(f"{value:.3f}" for value in over_kinds(np.array(values), data, kinds))))
    notes = (
        "Nogueira's index of the features chosen in the splits: 1 if always the same, 0 if by chance. Means over kinds."
    )
    return Table("Stability", ("", *(f"k = {k}" for k in ks)), lines, notes)


def _index(rankings: Sequence[Sequence[int]], k: int, n_features: int) -> float:
    return stability([np.asarray(features[:k]) for features in rankings], n_features).index


def seconds_table(rows: list[Row], data: list[str]) -> Table:
    seconds = defaultdict(list)
    for row in rows:
        if "judge" not in row.parameters and row.seconds is not None and row.method != ALL_FEATURES:
            seconds[row.method, row.data].append(row.seconds)
    lines = []
    for name in dict.fromkeys(method for method, _ in seconds):
        if all((name, each) in seconds for each in data):
            each = np.array([np.median(seconds[name, each]) for each in data])
            total = f"{each.sum():.1f}"
            lines.append(
                (title(name), f"{np.median(each):.2f}", f"{each.max():.1f} ({data[int(each.argmax())]})", total)
            )
    notes = "Seconds of a selection on one busy core, median over the splits."
    return Table("Seconds", ("", "median of the sets", "largest", "all sets together"), lines, notes)


def _failures(rows: list[Row]) -> list[Table]:
    failed = [row for row in rows if "failed" in row.values]
    lines = [
        (title(row.method), row.data, str(row.seed), row.parameters.get("judge", "selection"), row.values["failed"])
        for row in failed
    ]
    header = ("", "data set", "split", "what", "why")
    return [Table("Not measured", header, lines, "Their methods are not in the tables above.")] if lines else []


def _by_data(scores: Scores, data: list[str], ks: Sequence[int]) -> list[Table]:
    """A table for each k."""
    methods = scores.methods(data)
    header = ("", *map(title, methods), title(ALL_FEATURES))
    tables = []
    for place, k in enumerate(ks if methods else ()):
        lines = []
        for name, values in zip(data, scores.means(data, methods)[:, :, place], strict=True):
            everything = scores.values.get((name, ALL_FEATURES))
            cells = (best_in_bold(values, j) for j in range(len(methods)))
            lines.append((name, *cells, "" if everything is None else f"{everything.mean():.2f}"))
        tables.append(
            Table(f"Accuracy with {k} features", header, lines, f"Mean (%) over the splits; {JUDGES['svm']}.")
        )
    return tables
