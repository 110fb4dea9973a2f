"""Figures, drawn with matplotlib (extra ``plot``) as SVG files that come out the same every time."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from dsofs.datasets.catalogue import CATALOGUE
from dsofs.experiments import ALL_FEATURES, Row
from dsofs.optional import require
from dsofs.reproduction import paper
from dsofs.reproduction.experiments import DIGITS, PICTURED, by_p
from dsofs.reproduction.standing import comparable
from dsofs.reproduction.tables import TITLES, Results, data_of, first_features, methods_of, over_trials, title
from dsofs.statistics import mean_ranks

COLUMNS = 3
PANEL = (3.4, 2.6)  # inches
# Names and dates in a file would change it from one drawing to the next.
STABLE = {"svg.hashsalt": "dsofs", "svg.fonttype": "none", "font.size": 8.0, "font.family": "sans-serif"}
MARKS = "osv^D<>Pxh*"
# Pictures, and how many of their pixels are shown.
PIXELS = {"orl": 100, "umist": 100, "ar": 100, "semeion": 50, DIGITS: 10}


def svg(figure: Any) -> str:
    """The file; the same numbers give the same bytes."""
    buffer = io.BytesIO()
    with require("matplotlib", extra="plot").rc_context(STABLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    return "\n".join(line.rstrip() for line in buffer.getvalue().decode().splitlines()) + "\n"


def panels(n: int, columns: int = COLUMNS, size: tuple[float, float] = PANEL) -> tuple[Any, list[Any]]:
    """A figure of n panels, without the global state of pyplot."""
    rows = -(-n // columns)
    with require("matplotlib", extra="plot").rc_context(STABLE):
        figure = require("matplotlib.figure", extra="plot").Figure(
            figsize=(size[0] * columns, size[1] * rows), layout="constrained"
        )
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[n:]:
        spare.remove()
    return figure, list(axes[:n])


def figure1(results: Results) -> Any:
    """Accuracy against the number of features, for each p."""
    figure, axes = panels(len(paper.FIGURE_1))
    for ax, name in zip(axes, paper.FIGURE_1, strict=True):
        _curves(ax, name, results, results.paper, {by_p(p): f"p = {p:g}" for p in paper.PS})
    return _finish(figure, axes, "Accuracy (%) of DSO-FS for different p", results)


def figure2(results: Results) -> Any:
    """Accuracy against the number of features: the methods and data of the paper, and the sets that stand in."""
    names = [*paper.DATA, *(name for name in data_of(results.paper) if name in paper.STAND_INS)]
    figure, axes = panels(len(names))
    for ax, name in zip(axes, names, strict=True):
        _curves(ax, name, results, results.paper, paper.METHODS)
    return _finish(figure, axes, "Accuracy (%), the paper's protocol", results)


def standing_figure(results: Results) -> Any:
    """The same for more methods under the clean protocol, with all features for reference."""
    rows = results.clean
    names = data_of(rows)
    figure, axes = panels(max(1, len(names)))
    reference = over_trials(rows)
    for ax, name in zip(axes, names, strict=False):
        _curves(ax, name, results, rows, {method: title(method) for method in methods_of(rows)})
        if (name, ALL_FEATURES, None) in reference:
            ax.axhline(fmean(reference[name, ALL_FEATURES, None]), color="black", linestyle=":", label="all features")
    return _finish(figure, axes, "Accuracy (%), the clean protocol", results)


def _curves(ax: Any, data: str, results: Results, rows: Sequence[Row], methods: Mapping[str, str]) -> None:
    ax.set_title(CATALOGUE[data].title)
    values = over_trials(row for row in rows if row.data == data and row.k is not None)
    for number, (method, label) in enumerate(methods.items()):
        points = sorted((k, fmean(scores)) for (_, name, k), scores in values.items() if name == method and k)
        if points:
            ax.plot(*zip(*points, strict=True), label=label, **_style(method, number))
    if values:
        ax.set_xlabel("number of features")
    else:
        ax.text(0.5, 0.5, results.why_not_run(data), ha="center", va="center", transform=ax.transAxes)
        ax.set(xticks=[], yticks=[])


def _style(method: str, number: int) -> dict[str, Any]:
    """A method looks the same in every figure; DSO is drawn stronger."""
    place = list(TITLES).index(method) if method in TITLES else number
    width = 2.0 if method == "dso" else 1.0
    return {"color": f"C{place}", "marker": MARKS[place], "markersize": 3, "linewidth": width}


def _finish(figure: Any, axes: Sequence[Any], heading: str, results: Results) -> Any:
    figure.suptitle(heading + (", quick" if results.quick else ""))
    labels: dict[str, Any] = {}
    for ax in axes:
        labels |= {label: line for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if labels:
        figure.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=6)
    return figure


def critical_difference(results: Results) -> Any:
    """Mean ranks on a line for each k; bars join methods that do not differ significantly (Demsar 2006)."""
    rows = results.clean
    methods = methods_of(rows)
    enough = comparable(rows)
    figure, axes = panels(max(1, len(enough)), columns=2, size=(5.0, 2.4))
    for ax, (k, scores) in zip(axes, enough.items(), strict=False):
        ranks = mean_ranks(scores)
        draw_ranks(ax, [title(method) for method in methods], ranks.mean, ranks.critical_difference)
        ax.set_title(f"k = {k}, {len(scores)} data sets")
    return _finish(figure, [], "Mean ranks, the clean protocol", results)


def draw_ranks(ax: Any, names: Sequence[str], ranks: Any, difference: float) -> None:
    """One diagram: the better half is written to the left, the others to the right."""
    order = np.argsort(ranks)
    n = len(order)
    half = (n + 1) // 2
    ax.set(xlim=(1 - 0.45 * n, n + 0.45 * n), ylim=(-half - 1.2, 2.2))
    ax.axis("off")
    ax.plot([1, n], [0, 0], color="black", linewidth=1)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        ax.text(tick, 0.2, str(tick), ha="center", va="bottom")
    for place, which in enumerate(order):
        left = place < half
        level = -1.0 - (place if left else n - 1 - place)
        edge = 1 - 0.1 * n if left else n + 0.1 * n
        ax.plot([ranks[which], ranks[which], edge], [0, level, level], color="black", linewidth=0.6)
        text = f"{names[which]} {ranks[which]:.2f}"
        ax.text(edge, level, f"{text} " if left else f" {text}", ha="right" if left else "left", va="center")
    for number, (first, last) in enumerate(cliques(np.sort(ranks), difference)):
        height = -0.25 - 0.18 * (number % 4)
        ax.plot([first - 0.05, last + 0.05], [height, height], color="black", linewidth=2.5, solid_capstyle="butt")
    ax.plot([1, 1 + difference], [1.0, 1.0], color="black", linewidth=1.5)
    ax.text(1 + difference / 2, 1.08, f"critical difference {difference:.2f}", ha="center", va="bottom")


def cliques(ranks: Any, difference: float) -> list[tuple[float, float]]:
    """First and last of the longest runs of sorted ranks that are no further apart than the difference."""
    ends = [int(np.searchsorted(ranks, rank + difference, side="right")) - 1 for rank in ranks]
    return [
        (float(ranks[start]), float(ranks[end]))
        for start, end in enumerate(ends)
        if end > start and (start == 0 or end > ends[start - 1])
    ]


def pixels(results: Results) -> Any:
    """Which pixels are chosen, over the mean image: the stronger, the more trials chose them."""
    facts = results.facts
    names = [name for name in PIXELS if name in facts]
    figure, axes = panels(max(1, len(names) * len(PICTURED)), columns=len(PICTURED), size=(2.0, 2.2))
    for row, name in enumerate(names):
        chosen = first_features(results.clean, PIXELS[name])
        for column, method in enumerate(PICTURED):
            ax = axes[row * len(PICTURED) + column]
            _pixel_panel(ax, facts[name], chosen.get((name, method), []))
            ax.set_title(
                f"{title(method)}: {PIXELS[name]} of {CATALOGUE[name].title if name in CATALOGUE else name}", fontsize=7
            )
    return _finish(figure, [], "Pixels chosen, over the mean image", results)


def _pixel_panel(ax: Any, facts: Mapping[str, Any], sets: Sequence[Sequence[int]]) -> None:
    shape, order = facts["shape"], facts["order"]
    share = np.zeros(facts["n_features"])
    for features in sets:
        share[features] += 1 / len(sets)
    ax.imshow(np.reshape(facts["mean"], shape, order=order), cmap="gray", interpolation="nearest")
    overlay = np.zeros((*shape, 4))
    overlay[..., 0] = 1.0  # red, as opaque as often chosen
    overlay[..., 3] = share.reshape(shape, order=order)
    ax.imshow(overlay, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
