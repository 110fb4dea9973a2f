"""Which variant of DSO would be the default, chosen without the kind of data that it is then tested on.

``python -m benchmarks.standing_choice`` reads the rows of ``benchmarks.standing``. For each kind the variant is chosen
that is best over all other kinds, at k = 10, 20 and 50 under one judge: by mean accuracy, or by mean rank over the
sets. What it gains over today's defaults on the kind left out is what is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

import click
import numpy as np
from scipy.stats import rankdata

from benchmarks.harness import rows_of
from benchmarks.standing import KINDS, KS, STUDY
from benchmarks.standing_tables import (
    BEFORE,
    DECIMALS,
    JUDGES,
    MEASURES,
    MIDDLE,
    Scores,
    interval,
    is_variant,
    measured,
    over_kinds,
    seconds_table,
    stability_table,
    title,
    write,
)
from dsofs.design.types import Floats
from dsofs.experiments import Row
from dsofs.reproduction.tables import Table
from dsofs.statistics.significance import holm, signed_rank_p

RIVALS = ("svm_rfe", "multitask_lasso", "mrmr", "fastcan", "f_test")


def by_mean(values: Floats, data: Sequence[str]) -> Floats:
    """Mean accuracy over kinds and the middle ks, for each variant."""
    return over_kinds(values[:, :, MIDDLE].mean(axis=2), data, KINDS)


def by_rank(values: Floats, data: Sequence[str]) -> Floats:
    """Minus the mean rank over kinds and the middle ks."""
    ranks = rankdata(-values[:, :, MIDDLE], axis=1).mean(axis=2)
    return -over_kinds(ranks, data, KINDS)


CRITERIA: dict[str, Callable[[Floats, Sequence[str]], Floats]] = {"mean accuracy": by_mean, "mean rank": by_rank}


def chosen_without_each_kind(values: Floats, data: list[str], criterion: Callable[..., Floats]) -> list[int]:
    """For every data set the number of the variant that is best on the other kinds."""
    best = {}
    for kind, names in KINDS.items():
        others = [place for place, name in enumerate(data) if name not in names]
        best[kind] = int(np.argmax(criterion(values[others], [data[place] for place in others])))
    return [next(best[kind] for kind, names in KINDS.items() if name in names) for name in data]


def choice_tables(rows: list[Row], choosing: str) -> list[Table]:
    """The choices under a judge, and their gains on the kinds left out under every judge and measure."""
    data, scores = measured(rows, KINDS), Scores.of(rows, choosing, "accuracy")
    variants = [name for name in scores.methods(data) if is_variant(name)]
    values = scores.means(data, variants)
    tables = [_variants(values, data, variants, choosing)]
    for name, criterion in CRITERIA.items():
        chosen = chosen_without_each_kind(values, data, criterion)
        everywhere = variants[int(np.argmax(criterion(values, data)))]
        counts = Counter(variants[number] for number in chosen).most_common()
        listed = ", ".join(f"{variant!r} for {count} sets" for variant, count in counts)
        notes = (
            f"Chosen by {name} under: {JUDGES[choosing]}. Over all kinds it is {everywhere!r}; without the kind of "
            f"each set: {listed}. Means over kinds of the gains on the kinds left out, 95 % of the means over sets "
            "drawn again, and p of Wilcoxon's signed ranks over the sets, corrected by Holm for the methods."
        )
        tables.append(_gains(rows, data, [variants[number] for number in chosen], name, notes))
    of_variants = [row for row in rows if is_variant(row.method)]
    return [*tables, stability_table(of_variants, data, KINDS, KS), seconds_table(of_variants, data)]


def _variants(values: Floats, data: list[str], variants: list[str], judge: str) -> Table:
    means, middle, ranks = over_kinds(values, data, KINDS), by_mean(values, data), -by_rank(values, data)
    lines = [
        (variants[i], *(f"{mean:.2f}" for mean in means[i]), f"{middle[i]:.2f}", f"{ranks[i]:.2f}")
        for i in np.argsort(-middle, kind="stable")
    ]
    header = ("", *(f"k = {k}" for k in KS), "mean of k = 10, 20, 50", "mean rank there")
    return Table(f"Variants, accuracy, {JUDGES[judge]}", header, lines, f"Means (%) over kinds, {len(data)} data sets.")


def _gains(rows: list[Row], data: list[str], chosen: list[str], name: str, notes: str) -> Table:
    lines = []
    for measure, judge in product(MEASURES, JUDGES):
        scores = Scores.of(rows, judge, measure)
        gains = {rival: _minus(scores, data, chosen, rival) for rival in (BEFORE, *RIVALS)}
        found = {rival: columns for rival, columns in gains.items() if columns is not None}
        p_values = np.array([[signed_rank_p(column) for column in columns] for columns in found.values()])
        corrected = np.array([holm(column) for column in p_values.T]).T
        for (rival, columns), ps in zip(found.items(), corrected, strict=True):
            cells = ("{:+.2f} [{:+.2f}, {:+.2f}]".format(*interval(column, data, KINDS)) for column in columns)
            cells = (f"{cell} p = {p:.2g}" for cell, p in zip(cells, ps, strict=True))
            lines.append((f"{MEASURES[measure].lower()}, {JUDGES[judge]}", title(rival), *cells))
    header = ("judge", "chosen minus", *(f"k = {k}" for k in KS), "mean of k = 10, 20, 50")
    return Table(f"Gain on the kinds left out, chosen by {name}", header, lines, notes)


def _minus(scores: Scores, data: list[str], chosen: list[str], rival: str) -> Floats | None:
    """What is chosen minus the rival on each set, at each k and in the mean of the middle; None if not measured."""
    pairs = list(zip(data, chosen, strict=True))
    if not all(scores.complete(*pair) and scores.complete(pair[0], rival) for pair in pairs):
        return None
    ours = np.array([scores.values[pair].mean(axis=0) for pair in pairs])
    gains = np.round(ours - scores.means(data, [rival])[:, 0], DECIMALS)
    return np.vstack([gains.T, gains[:, MIDDLE].mean(axis=1)])


@click.command()
@click.option(
    "--judge", default="svm_C1", show_default=True, type=click.Choice(list(JUDGES)), help="Who the choice is made by."
)
def main(judge: str) -> None:
    write("choice", "Chosen on other kinds of data", choice_tables(rows_of(STUDY), judge))


if __name__ == "__main__":
    main()
