"""What ``benchmarks.standing`` comes to: the lead of DSO with its intervals, where it is not first, unbalanced classes.

Drawn from the rows alone, as ``summary.md`` and, in the manner of Demsar, ``critical_difference.svg``: mean ranks over
the kinds of data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.standing_tables import (
    BEFORE,
    FOLDER,
    JUDGES,
    MIDDLE,
    OURS,
    Kinds,
    Scores,
    by_kind,
    interval,
    is_variant,
    means_table,
    measured,
    over_kinds,
    title,
    write,
)
from dsofs.design.types import Floats
from dsofs.experiments import ALL_FEATURES, Row
from dsofs.files import write_whole
from dsofs.reproduction.figures import draw_ranks, panels, svg
from dsofs.reproduction.standing import best_in_bold
from dsofs.reproduction.tables import Table
from dsofs.statistics import mean_ranks
from dsofs.statistics.significance import holm, signed_rank_p

# The largest class is at least five times the smallest; webkb_wisconsin is the most unbalanced, with 894 to 12.
UNBALANCED = (
    "brain_tumor_1", "desouto_yeoh_2002_v2", "desouto_bredel_2005", "desouto_bhattacharjee_2001", "christensen",
    "pbmc68k_reduced", "sc_pollen", "cora_os", "webkb_wisconsin",
)  # fmt: skip
OF_MIDDLE = "mean of k = 10, 20 and 50"


def draw_summary(rows: list[Row], kinds: Kinds, ks: Sequence[int]) -> None:
    rows = [row for row in rows if not is_variant(row.method)]
    data, scores = measured(rows, kinds), Scores.of(rows, "svm", "accuracy")
    first = Scores.of([row for row in rows if row.seed == 0], "svm", "accuracy")
    tables = [
        in_short(scores, data, kinds, ks),
        lead_table(scores, data, kinds, ks),
        not_first_table(scores, data, kinds),
        unbalanced_table(rows, [name for name in UNBALANCED if name in data]),
        means_table(first, data, kinds, ks, f"First split alone, every method: accuracy, {JUDGES['svm']}"),
    ]
    write("summary", "Summary of the standing", tables)
    if len(scores.methods(data)) > 2:
        write_whole(FOLDER / "critical_difference.svg", svg(critical_difference(scores, data, kinds, ks)))


def in_short(scores: Scores, data: list[str], kinds: Kinds, ks: Sequence[int]) -> Table:
    """Accuracy of each method, all features among them, and by how much DSO is ahead."""
    methods = _methods(scores, data)
    values = scores.means(data, methods)
    means, lines = over_kinds(values, data, kinds), []
    for i in np.argsort(-means[:, MIDDLE].mean(axis=1), kind="stable"):
        ahead = interval((values[:, methods.index(OURS)] - values[:, i])[:, MIDDLE].mean(axis=1), data, kinds)
        lead = "" if methods[i] == OURS else "{:.1f} [{:.1f}, {:.1f}]".format(*ahead)
        lines.append((title(methods[i]), *(best_in_bold(column, i, 1) for column in means.T), lead))
    if all((name, ALL_FEATURES) in scores.values for name in data):
        everything = float(over_kinds(scores.means(data, [ALL_FEATURES])[:, 0, 0], data, kinds))
        lines.append((title(ALL_FEATURES), *[f"{everything:.1f}"] * len(ks), ""))
    notes = f"Accuracy (%), {JUDGES['svm']}: mean over the kinds of {len(data)} data sets; intervals of 95 %."
    return Table("In short", ("", *(f"k = {k}" for k in ks), f"DSO-FS is ahead by, {OF_MIDDLE}"), lines, notes)


def lead_table(scores: Scores, data: list[str], kinds: Kinds, ks: Sequence[int]) -> Table:
    """The mean over kinds of DSO minus each method, its interval, and p-values over the sets and over the kinds."""
    rivals = [name for name in scores.methods(data) if name != OURS]
    values = scores.means(data, [OURS, *rivals])
    gains = values[:, :1] - values[:, 1:]
    gains = np.round(np.dstack([gains, gains[:, :, MIDDLE].mean(axis=2)]), 10)
    tests = (_corrected(gains), _corrected(by_kind(gains, data, kinds)))
    lines = []
    for i, name in enumerate(rivals):
        cells = []
        for place in range(gains.shape[2]):
            mean, low, high = interval(gains[:, i, place], data, kinds)
            p_sets, p_kinds = (test[i, place] for test in tests)
            cells.append(f"{mean:+.1f} [{low:+.1f}, {high:+.1f}], p = {p_sets:.2g} / {p_kinds:.2g}")
        lines.append((title(name), *cells))
    notes = (
        f"{len(data)} data sets; means over kinds, 95 % of the means over sets drawn again. p of Wilcoxon's signed "
        f"ranks over the sets / over the kinds, corrected by Holm for {len(rivals)} methods."
    )
    header = ("DSO-FS minus", *(f"k = {k}" for k in ks), OF_MIDDLE)
    return Table(f"The lead of DSO-FS: accuracy, {JUDGES['svm']}", header, lines, notes)


def _corrected(gains: Floats) -> Floats:
    """Holm's correction over the methods, at each k; ``gains`` are cases x methods x ks."""
    p_values = np.apply_along_axis(signed_rank_p, 0, gains)
    return np.apply_along_axis(holm, 0, p_values)


def not_first_table(scores: Scores, data: list[str], kinds: Kinds) -> Table:
    """Kinds of data on which another method is better, the largest gap first."""
    methods = _methods(scores, data)
    values = by_kind(scores.means(data, methods)[:, :, MIDDLE].mean(axis=2), data, kinds)
    names = [kind for kind, members in kinds.items() if set(members) & set(data)]
    ours, lines = methods.index(OURS), []
    for kind in np.argsort(values[:, ours] - values.max(axis=1)):
        best = int(values[kind].argmax())
        if values[kind, best] > values[kind, ours]:
            gap = values[kind, best] - values[kind, ours]
            lines.append((names[kind], f"{values[kind, ours]:.1f}", title(methods[best]), f"{gap:.1f}"))
    notes = f"Accuracy (%), {JUDGES['svm']}, {OF_MIDDLE}; DSO-FS is first on the other {len(names) - len(lines)} kinds."
    return Table("Where DSO-FS is not first", ("", "DSO-FS", "best method", "behind by"), lines, notes)


def unbalanced_table(rows: list[Row], data: list[str]) -> Table:
    """DSO beside the best other method on each set, and beside each of them in the mean."""
    judges = [judge for judge in ("svm", "forest", "neighbours") if OURS in _balanced(rows, judge).methods(data)]
    lines = [(name, *(_beside_best(_balanced(rows, judge), [name]) for judge in judges)) for name in data]
    lines.append(("mean", *(_beside_best(_balanced(rows, judge), data) for judge in judges)))
    notes = (
        f"Balanced accuracy (%), {OF_MIDDLE}: DSO-FS, and the best of the others, which is another one on each set. In "
        "these sets the largest class is at least five times the smallest."
    )
    return Table("Unbalanced classes", ("", *(JUDGES[judge] for judge in judges)), lines, notes)


def _balanced(rows: list[Row], judge: str) -> Scores:
    return Scores.of(rows, judge, "balanced_accuracy")


def _methods(scores: Scores, data: list[str]) -> list[str]:
    """Ours and those of others, without the default of before."""
    return [name for name in scores.methods(data) if name != BEFORE]


def _beside_best(scores: Scores, data: list[str]) -> str:
    methods = _methods(scores, data)
    means = scores.means(data, methods)[:, :, MIDDLE].mean(axis=(0, 2))
    others = [i for i, name in enumerate(methods) if name != OURS]
    best = max(others, key=lambda i: means[i], default=None)
    ours = f"{means[methods.index(OURS)]:.1f}"
    return ours if best is None else f"{ours} ({title(methods[best])} {means[best]:.1f})"


def critical_difference(scores: Scores, data: list[str], kinds: Kinds, ks: Sequence[int]) -> object:
    """Mean ranks over the kinds on a line for each of the middle ks; bars join what does not differ significantly."""
    methods = scores.methods(data)
    values = by_kind(scores.means(data, methods), data, kinds)
    figure, axes = panels(len(ks[MIDDLE]), columns=1, size=(7.0, 2.4))
    for ax, place in zip(axes, range(len(ks))[MIDDLE], strict=True):
        ranks = mean_ranks(np.round(values[:, :, place], 10))
        draw_ranks(ax, [title(name) for name in methods], ranks.mean, ranks.critical_difference)
        ax.set_title(f"k = {ks[place]}, {len(values)} kinds of data")
    return figure
