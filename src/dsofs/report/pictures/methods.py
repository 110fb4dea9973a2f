"""Lines of several methods against the number of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dsofs.report.html import Markup, tag
from dsofs.report.svg import N_COLOURS, Scale, Steps, axes, line, mark, picture, words

WIDTH, HEIGHT = 504, 320
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 34, 48
APART = 7.0  # pixels between methods at the same number of features, so that their spreads can be told apart
SHARE = 0.7  # of the room of a number that methods may fill


@dataclass(frozen=True)
class CurvePoint:
    """A value with its spread."""

    k: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Reference:
    """A value to compare with, and its name."""

    value: float
    name: str


def methods_picture(
    ks: Sequence[int],
    methods: Sequence[Sequence[CurvePoint]],
    title: str,
    form: str,
    description: str,
    references: Sequence[Reference] = (),
) -> Markup:
    """A line for each method, in the colours of the legend; the scale fits what is drawn, and ends at 1."""
    x = Steps(tuple(ks), LEFT, WIDTH - RIGHT)
    lowest = min([point.low for method in methods for point in method] + [each.value for each in references])
    y = Scale(_tenth_below(lowest), 1, HEIGHT - BOTTOM, TOP)
    apart = min(APART, SHARE * (x.end - x.start) / len(ks) / len(methods))
    drawn = [
        _method(x, y, code, method, apart * (code - (len(methods) - 1) / 2)) for code, method in enumerate(methods)
    ]
    return picture(
        WIDTH, HEIGHT, description, axes(x, y, ("number of features", title), ("g", form)),
        [_reference(x, y, each) for each in references], drawn,
    )  # fmt: skip


def _tenth_below(value: float) -> float:
    return min(0.9, int(10 * value + 10) / 10 - 1)  # int cuts towards 0: first above it


def _method(x: Steps, y: Scale, code: int, points: Sequence[CurvePoint], shift: float) -> list[Markup]:
    colour = f"s{code % N_COLOURS}"
    again = " again" * (code >= N_COLOURS)
    places = [(x(point.k) + shift, y(point.value)) for point in points]
    spreads = [
        tag("line", x1=place, x2=place, y1=y(max(point.low, y.low)), y2=y(min(point.high, y.high)),
            class_=f"spread {colour}")
        for point, (place, _) in zip(points, places, strict=True)
    ]  # fmt: skip
    return [*spreads, line(places, f"series {colour}{again}"), *(mark(code, *place, 4.0) for place in places)]


def _reference(x: Steps, y: Scale, reference: Reference) -> list[Markup]:
    height = y(reference.value)
    return [
        tag("line", x1=x.start, x2=x.end, y1=height, y2=height, class_="reference"),
        words(reference.name, x.end, height - 5, anchor="end", class_="small halo"),
    ]
