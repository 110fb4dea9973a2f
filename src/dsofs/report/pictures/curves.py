"""Accuracy and stability against the number of features."""

from __future__ import annotations

from collections.abc import Sequence

from dsofs.examination.findings import AccuracyCurve, StabilityCurve
from dsofs.report.grade import EXCELLENT, POOR
from dsofs.report.html import Markup, tag
from dsofs.report.svg import Scale, area, axes, line, picture, words

WIDTH, HEIGHT = 504, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 22, 34, 48
ROOM = 78  # for a name at the right of its line


def accuracy_picture(curve: AccuracyCurve, *, advised: bool) -> Markup:
    x, y = _scales(curve.ks, 0.0)
    low = [max(0.0, mean - deviation) for mean, deviation in zip(curve.mean, curve.deviation, strict=True)]
    high = [min(1.0, mean + deviation) for mean, deviation in zip(curve.mean, curve.deviation, strict=True)]
    description = (
        f"Held-out accuracy against the number of features: {curve.at_k:.0%} with {curve.k}; chance is "
        f"{curve.chance:.0%}."
    )
    references = [_reference(x, y, curve.chance, f"chance {curve.chance:.0%}")]
    if curve.all_features is not None:
        references.append(_reference(x, y, curve.all_features, f"all features {curve.all_features:.0%}", right=True))
    marks = [_marker(x, y, curve.k, curve.at_k, f"chosen: {curve.k}", "chosen")]
    if advised and curve.one_se_k != curve.k:
        at = curve.mean[curve.ks.index(curve.one_se_k)]
        marks.append(_marker(x, y, curve.one_se_k, at, f"advised: {curve.one_se_k}", "advised"))
    return picture(
        WIDTH, HEIGHT, description, axes(x, y, ("number of features", "held-out accuracy"), ("g", ".0%")),
        references, _band(x, y, curve.ks, low, high), _line(x, y, curve.ks, curve.mean), marks,
    )  # fmt: skip


def stability_picture(curve: StabilityCurve) -> Markup:
    known = [
        (k, index, low, high)
        for k, index, low, high in zip(curve.ks, curve.index, curve.low, curve.high, strict=True)
        if index is not None and low is not None and high is not None
    ]
    if not known:
        return Markup()
    ks, index, low, high = (list(column) for column in zip(*known, strict=True))
    x, y = _scales(curve.ks, min(0.0, *low))
    description = f"Nogueira's stability against the number of features, from {index[0]:.2f} to {index[-1]:.2f}."
    at_k = curve.at_k
    return picture(
        WIDTH, HEIGHT, description, axes(x, y, ("number of features", "stability (1: always the same)"), ("g", ".1f")),
        _reference(x, y, EXCELLENT, f"excellent from {EXCELLENT}"), _reference(x, y, POOR, f"poor below {POOR}"),
        _band(x, y, ks, low, high), _line(x, y, ks, index),
        None if at_k is None else _marker(x, y, curve.k, at_k, f"chosen: {curve.k}", "chosen"),
    )  # fmt: skip


def _scales(ks: Sequence[int], low: float) -> tuple[Scale, Scale]:
    x = Scale(ks[0], max(ks[-1], ks[0] + 1), LEFT, WIDTH - RIGHT, log=True)
    return x, Scale(low, 1, HEIGHT - BOTTOM, TOP)


def _line(x: Scale, y: Scale, ks: Sequence[float], values: Sequence[float]) -> list[Markup]:
    points = [(x(k), y(value)) for k, value in zip(ks, values, strict=True)]
    return [line(points, "curve"), *(tag("circle", cx=px, cy=py, r=2.5, class_="curve-dot") for px, py in points)]


def _band(x: Scale, y: Scale, ks: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Markup:
    upper, lower = ([(x(k), y(v)) for k, v in zip(ks, values, strict=True)] for values in (high, low))
    return area(upper, lower, "band")


def _reference(x: Scale, y: Scale, value: float, name: str, *, right: bool = False) -> list[Markup]:
    """A dashed line with its name at one end."""
    height = y(value)
    return [
        tag("line", x1=x.start, x2=x.end, y1=height, y2=height, class_="reference"),
        words(name, x.end if right else x.start + 6, height - 5, anchor="end" if right else None, class_="small halo"),
    ]


def _marker(x: Scale, y: Scale, k: float, value: float, name: str, class_: str) -> list[Markup]:
    """A line down to the axis and a dot; names stand at different heights, on the side where there is room."""
    place, height = x(k), y(value)
    right = x.end - place > ROOM
    middle = (height + y.start) / 2
    level = min(middle + (6 if class_ == "chosen" else -12), y.start - 8)
    return [
        tag("line", x1=place, x2=place, y1=height, y2=y.start, class_=class_),
        tag("circle", cx=place, cy=height, r=5, class_=class_),
        words(name, place + (8 if right else -8), level, anchor=None if right else "end", class_="small strong halo"),
    ]
