"""What the pictures share: scales, axes, marks of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dsofs.report.html import Markup, tag

N_COLOURS = 8  # of classes, in the style sheet as .c0 to .c7
SHAPES = ("circle", "square", "triangle", "diamond", "cross")
TICKS = 5  # of an axis, about
CHARACTER = 6.2  # width of a small letter, in pixels


@dataclass(frozen=True)
class Scale:
    """Values low..high on the pixels start..end."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round numbers within the scale."""
        if self.log:
            return _log_ticks(self.low, self.high)
        if not self.high > self.low:
            return [self.low]
        rough = (self.high - self.low) / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        first = math.ceil(self.low / step - 1e-9)
        return [n * step for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Steps:
    """A few given values, evenly spaced on the pixels start..end."""

    values: tuple[float, ...]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (self.values.index(value) + 0.5) / len(self.values) * (self.end - self.start)

    def ticks(self) -> list[float]:
        return list(self.values)


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    few = len(powers) <= 3
    step = max(1, len(powers) // TICKS)
    marks = [digit * 10.0**power for power in powers[::step] for digit in ((1, 2, 5) if few else (1,))]
    return [mark for mark in marks if low * 0.999 <= mark <= high * 1.001]


def picture(width: float, height: float, description: str, *children: object, class_: str = "picture") -> Markup:
    """An image for those who see it, a sentence for those who do not."""
    return tag(
        "svg", tag("title", description), *children,
        viewBox=f"0 0 {width:g} {height:g}", width=width, height=height, role="img", class_=class_,
    )  # fmt: skip


def axes(x: Scale | Steps, y: Scale, titles: tuple[str, str], formats: tuple[str, str] = ("g", "g")) -> list[Markup]:
    """Grid lines, ticks and titles."""
    bottom, left = max(y.start, y.end), min(x.start, x.end)
    parts = []
    for value in y.ticks():
        height = y(value)
        parts.append(tag("line", x1=x.start, x2=x.end, y1=height, y2=height, class_="grid"))
        parts.append(words(format(value, formats[1]), left - 6, height + 4, anchor="end"))
    for value in x.ticks():
        place = x(value)
        parts.append(tag("line", x1=place, x2=place, y1=bottom, y2=bottom + 4, class_="axis"))
        parts.append(words(format(value, formats[0]), place, bottom + 17, anchor="middle"))
    parts.append(tag("line", x1=x.start, x2=x.end, y1=bottom, y2=bottom, class_="axis"))
    parts.append(words(titles[0], (x.start + x.end) / 2, bottom + 35, anchor="middle"))
    parts.append(words(titles[1], left, min(y.start, y.end) - 10))
    return parts


def words(content: str, x: float, y: float, *, anchor: str | None = None, class_: str = "small") -> Markup:
    return tag("text", content, x=x, y=y, text_anchor=anchor, class_=class_)


def line(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    return tag("polyline", points=_points(points), class_=class_)


def area(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], class_: str) -> Markup:
    return tag("polygon", points=_points([*upper, *reversed(lower)]), class_=class_)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def mark(code: int, x: float, y: float, size: float, class_: str = "") -> Markup:
    """The sign of a class: eight colours, and a new shape after each eight."""
    shape = SHAPES[code // N_COLOURS % len(SHAPES)]
    classes = f"c{code % N_COLOURS} mark {class_}".strip()
    if shape == "circle":
        return tag("circle", cx=x, cy=y, r=size, class_=classes)
    return tag("path", d=_outline(shape, x, y, size), class_=classes)


def _outline(shape: str, x: float, y: float, r: float) -> str:
    a = r / 2.5
    corners = {
        "square": [(-r, -r), (r, -r), (r, r), (-r, r)],
        "triangle": [(0, -1.2 * r), (1.1 * r, 0.9 * r), (-1.1 * r, 0.9 * r)],
        "diamond": [(0, -1.3 * r), (1.3 * r, 0), (0, 1.3 * r), (-1.3 * r, 0)],
        "cross": [(-a, -r), (a, -r), (a, -a), (r, -a), (r, a), (a, a), (a, r), (-a, r), (-a, a), (-r, a), (-r, -a),
                  (-a, -a)],
    }[shape]  # fmt: skip
    return "M" + "L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners) + "Z"
