"""How methods stand under the clean protocol: accuracy, significance, stability, seconds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from dsofs.datasets.catalogue import CATALOGUE
from dsofs.design.types import Floats
from dsofs.experiments import ALL_FEATURES, Row
from dsofs.reproduction.experiments import ALL_KS, FEW_KS
from dsofs.reproduction.tables import (
    Measure,
    Results,
    Table,
    accuracy,
    data_of,
    first_features,
    matrix,
    methods_of,
    over_trials,
    table_of,
    title,
)
from dsofs.statistics import compare_with_first, mean_ranks, stability

LEAST_DATA, LEAST_METHODS = 2, 3  # below which nothing can be tested
LEAST_TRIALS = 2
DOUBT = 0.05


def percent(name: str) -> Measure:
    """A measure of the rows, in percent."""
    return lambda row: 100 * row.values[name]


MEASURES: dict[str, Measure] = {
    "Accuracy": accuracy,
    "Balanced accuracy": percent("balanced_accuracy"),
    "Macro F1": percent("macro_f1"),
}


def standing_tables(results: Results) -> list[Table]:
    """Means over data sets for each measure and k; then each data set."""
    rows = results.clean
    return [
        *(_means(results, rows, name) for name in MEASURES),
        *(_by_data(results, rows, k) for k in FEW_KS),
    ]


def _means(results: Results, rows: Sequence[Row], measure: str) -> Table:
    methods = methods_of(rows)
    tables = {k: matrix(rows, methods, k, MEASURES[measure]) for k in FEW_KS}
    means = {k: values.mean(axis=0) for k, (_, values) in tables.items() if len(values)}
    lines = [
        (title(method), *(best_in_bold(mean, number) for mean in means.values()))
        for number, method in enumerate(methods)
    ]
    reference = over_trials(rows, MEASURES[measure])
    data = next((names for names, _ in tables.values() if names), [])
    if data and all((name, ALL_FEATURES, None) in reference for name in data):
        value = fmean(fmean(reference[name, ALL_FEATURES, None]) for name in data)
        lines.append((title(ALL_FEATURES), *[f"{value:.2f}"] * len(means)))
    notes = f"Mean (%) over {len(data)} data sets of the means over trials; {results.clean_name}."
    header = ("", *(f"k = {k}" for k in means))
    return table_of(results, f"{measure}, mean over data sets", header, lines, notes)


def best_in_bold(values: Floats, number: int, decimals: int = 2) -> str:
    text = f"{values[number]:.{decimals}f}"
    return f"**{text}**" if text == f"{values.max():.{decimals}f}" else text


def _by_data(results: Results, rows: Sequence[Row], k: int) -> Table:
    methods, values = methods_of(rows), over_trials(rows)
    lines = []
    for name in data_of(rows):
        means = np.array([fmean(values.get((name, method, k), [np.nan])) for method in methods])
        cells = (best_in_bold(np.nan_to_num(means), i) if np.isfinite(means[i]) else "" for i in range(len(methods)))
        reference = values.get((name, ALL_FEATURES, None))
        lines.append((CATALOGUE[name].title, *cells, f"{fmean(reference):.2f}" if reference else ""))
    header = ("", *map(title, methods), title(ALL_FEATURES))
    notes = f"Mean (%) over trials; {results.clean_name}."
    return table_of(results, f"Accuracy with {k} features", header, lines, notes)


def comparable(rows: Sequence[Row], ks: Sequence[int] = FEW_KS) -> dict[int, Floats]:
    """k -> mean accuracies, data sets x methods, where there is enough of both to be tested."""
    methods = methods_of(rows)
    tables = {k: matrix(rows, methods, k)[1] for k in ks}
    return {k: scores for k, scores in tables.items() if len(scores) >= LEAST_DATA and len(methods) >= LEAST_METHODS}


def significance_tables(results: Results) -> list[Table]:
    """DSO at each k, and against each of the others."""
    return [*_at_each_k(results), *_against_each(results)]


def _at_each_k(results: Results) -> list[Table]:
    methods, lines = methods_of(results.clean), []
    for k, scores in comparable(results.clean, ALL_KS).items():
        mean, comparison = scores.mean(axis=0), compare_with_first(scores)
        best = int(mean[1:].argmax())  # of the others
        better = (comparison.corrected < DOUBT) & (comparison.differences > 0)
        ahead = ", ".join(title(method) for method, sure in zip(methods[1:], better, strict=True) if sure)
        lines.append((
            str(k), str(len(scores)), f"{mean[0]:.2f}", str(1 + np.sum(mean > mean[0])),
            f"{mean_ranks(scores).mean[0]:.2f}", title(methods[1 + best]), f"{comparison.differences[best]:+.2f}",
            f"{comparison.corrected[best]:.3f}", ahead or "none",
        ))  # fmt: skip
    header = (
        "k", "data sets", "accuracy", "place", "mean rank", "best of the others", "DSO-FS is better by", "p, Holm",
        f"ahead with p < {DOUBT:g} of",
    )  # fmt: skip
    notes = (
        f"DSO-FS among {len(methods)} methods: mean accuracy (%) over the data sets on which all were run with k "
        f"features, its place by that, and its mean rank; {results.clean_name}. p: Wilcoxon's signed ranks, Holm's "
        "correction."
    )
    return [table_of(results, "DSO-FS at each k", header, lines, notes)] if lines else []


def _against_each(results: Results) -> list[Table]:
    rows = results.clean
    methods = methods_of(rows)
    tables = []
    for k, scores in comparable(rows).items():
        ranks, comparison = mean_ranks(scores), compare_with_first(scores)
        lines = [(title(methods[0]), f"{ranks.mean[0]:.2f}", "", "", "", "")]
        for i, method in enumerate(methods[1:]):
            differences = scores[:, 0] - scores[:, i + 1]
            lines.append((
                title(method), f"{ranks.mean[i + 1]:.2f}", f"{comparison.differences[i]:+.2f}",
                f"{np.sum(differences > 0)} / {np.sum(differences == 0)} / {np.sum(differences < 0)}",
                f"{comparison.p_values[i]:.3f}", f"{comparison.corrected[i]:.3f}",
            ))  # fmt: skip
        header = ("", "mean rank", "DSO-FS is better by", "wins / ties / losses", "p", "p, Holm")
        notes = (
            f"{len(scores)} data sets; Wilcoxon's signed ranks of their mean accuracies. Friedman's p for all methods "
            f"being equal: {ranks.p_value:.4f}; mean ranks that differ by less than {ranks.critical_difference:.2f} do "
            "not differ significantly (Nemenyi, 5 %)."
        )
        tables.append(table_of(results, f"DSO-FS against the others, k = {k}", header, lines, notes))
    return tables


def stability_tables(results: Results) -> list[Table]:
    """How similar the features are that different trials choose."""
    rows = results.clean
    methods, facts = methods_of(rows), {row.data: row.values["n_features"] for row in rows}
    tables = []
    for k in FEW_KS:
        chosen = first_features(rows, k)
        lines = [
            (CATALOGUE[name].title, *(_stability(chosen.get((name, method), []), facts[name]) for method in methods))
            for name in data_of(rows)
        ]
        notes = (
            "Nogueira's index over trials with its interval of 95 %: 1 if the same features are chosen in all of them, "
            "0 if by chance. Training samples of two trials overlap by about 60 %."
        )
        tables.append(table_of(results, f"Stability with {k} features", ("", *map(title, methods)), lines, notes))
    return tables


def _stability(sets: Sequence[Sequence[int]], n_features: int) -> str:
    if len(sets) < LEAST_TRIALS:
        return ""
    found = stability([np.asarray(each) for each in sets], n_features)
    return f"{found.index:.2f} [{found.low:.2f}, {found.high:.2f}]"


def seconds_tables(results: Results) -> list[Table]:
    """What a selection takes, and what it takes with tuning."""
    kinds: dict[str, tuple[Measure, str]] = {
        "Seconds of a selection": (lambda row: row.seconds, "With the parameters that were tuned."),
        "Seconds of a trial": (lambda row: row.values["cell_seconds"], "Tuning, selection, and SVMs for every k."),
    }
    rows = results.clean
    methods = methods_of(rows)
    tables = []
    for heading, (measure, notes) in kinds.items():
        values = over_trials(rows, measure)
        lines = []
        for name in data_of(rows):
            largest = max((row.k for row in rows if row.data == name and row.k is not None), default=None)
            cells = (values.get((name, method, largest)) for method in methods)
            lines.append((CATALOGUE[name].title, *(f"{fmean(cell):.2f}" if cell else "" for cell in cells)))
        tables.append(table_of(results, heading, ("", *map(title, methods)), lines, notes))
    return tables
