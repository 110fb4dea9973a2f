"""Samples in two dimensions."""

from __future__ import annotations

from statistics import median

from dsofs.examination.findings import View
from dsofs.report.html import Markup, shorten
from dsofs.report.svg import Scale, axes, mark, picture, words

WIDTH, HEIGHT = 560, 420
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 30, 48
NAMED = 60  # classes whose names are written at their middle, where there are too many for a legend
NAME = 14  # characters


def scatter_picture(view: View, names: list[str], in_legend: bool) -> Markup:
    x, y = _scale(view.x, LEFT, WIDTH - RIGHT), _scale(view.y, HEIGHT - BOTTOM, TOP)
    # Held-out samples last: they lie on top.
    order = sorted(range(len(view.x)), key=lambda i: view.held_out[i])
    marks = [
        mark(view.classes[i], x(view.x[i]), y(view.y[i]), 4.5 if view.held_out[i] else 3,
             "" if view.held_out[i] else "faint")
        for i in order
    ]  # fmt: skip
    description = f"{len(view.x)} samples of {len(names)} classes on two axes computed from the chosen features."
    titles = (view.axes[0], view.axes[1])
    labels = [] if in_legend or len(names) > NAMED else _class_names(view, names, x, y)
    return picture(WIDTH, HEIGHT, description, axes(x, y, titles), marks, labels)


def _scale(values: list[float], start: float, end: float) -> Scale:
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 1.0
    return Scale(low - room, high + room, start, end)


def _class_names(view: View, names: list[str], x: Scale, y: Scale) -> list[Markup]:
    """The names of the classes, each at the middle of its class."""
    labels = []
    for code, name in enumerate(names):
        own = [i for i, c in enumerate(view.classes) if c == code]
        place = x(median(view.x[i] for i in own)), y(median(view.y[i] for i in own)) + 4
        labels.append(words(shorten(name, NAME), *place, anchor="middle", class_="small strong halo"))
    return labels
