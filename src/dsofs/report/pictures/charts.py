"""Charts with two axes: accuracy, stability, shuffled labels, the certificate, and several methods side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dsofs.examination.findings import AccuracyCurve, Convergence, PermutationTest, StabilityCurve
from dsofs.report.grade import EXCELLENT, POOR
from dsofs.report.html import Markup, tag
from dsofs.report.svg import N_COLOURS, Scale, Steps, area, axes, line, mark, picture, words

WIDTH, HEIGHT = 504, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 22, 34, 48
ROOM = 78  # for a name at the right of its line
BINS = 50  # of accuracies with shuffled labels
CONVERGENCE_HEIGHT, CONVERGENCE_LEFT = 250, 60  # powers of ten are wide
METHODS_HEIGHT = 320
NARROW_RIGHT = 14  # where no name stands at the right
APART = 7.0  # pixels between methods at the same number of features, so that their spreads do not overlap
SHARE = 0.7  # of the room of a number that methods may fill
FEATURES = "number of features"


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
        WIDTH, HEIGHT, description, axes(x, y, (FEATURES, "held-out accuracy"), ("g", ".0%")),
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
        WIDTH, HEIGHT, description, axes(x, y, (FEATURES, "stability (1: always the same)"), ("g", ".1f")),
        _reference(x, y, EXCELLENT, f"excellent from {EXCELLENT}"), _reference(x, y, POOR, f"poor below {POOR}"),
        _band(x, y, ks, low, high), _line(x, y, ks, index),
        None if at_k is None else _marker(x, y, curve.k, at_k, f"chosen: {curve.k}", "chosen"),
    )  # fmt: skip


def permutation_picture(test: PermutationTest) -> Markup:
    """Accuracies with shuffled labels, and the one with the true labels."""
    bins = Counter(min(int(accuracy * BINS), BINS - 1) for accuracy in test.shuffled)
    x = Scale(0, 1, LEFT, WIDTH - RIGHT)
    y = Scale(0, max(bins.values()), HEIGHT - BOTTOM, TOP)
    bars = [
        tag("rect", x=x(place / BINS) + 0.5, y=y(count), width=x(1 / BINS) - x(0) - 1, height=y.start - y(count),
            class_="bar")
        for place, count in sorted(bins.items())
    ]  # fmt: skip
    left = test.observed > 0.6
    place = x(test.observed)
    true = [
        tag("line", x1=place, x2=place, y1=TOP - 6, y2=y.start, class_="chosen"),
        words("true labels", place + (-8 if left else 8), TOP + 6, anchor="end" if left else None,
              class_="small strong"),
    ]  # fmt: skip
    description = (
        f"Accuracies of {len(test.shuffled)} shuffled labellings lie between {min(test.shuffled):.0%} and "
        f"{max(test.shuffled):.0%}; the true labels reach {test.observed:.0%}."
    )
    titles = ("held-out accuracy", "number of shuffled labellings")
    return picture(WIDTH, HEIGHT, description, axes(x, y, titles, (".0%", ".0f")), bars, true)


def convergence_picture(convergence: Convergence) -> Markup:
    """The certificate, step by step."""
    steps = [(step, gap) for step, gap in enumerate(convergence.gap, 1) if gap is not None and gap > 0]
    if len(steps) < 2:
        return Markup()
    gaps = [gap for _, gap in steps]
    x = Scale(1, len(convergence.gap), CONVERGENCE_LEFT, WIDTH - NARROW_RIGHT)
    y = Scale(min(gaps), max(gaps), CONVERGENCE_HEIGHT - BOTTOM, TOP, log=True)
    description = f"{convergence.certificate} from {max(gaps):.1g} to {gaps[-1]:.1g} in {len(convergence.gap)} steps."
    return picture(
        WIDTH, CONVERGENCE_HEIGHT, description, axes(x, y, ("step", convergence.certificate), ("g", ".0e")),
        line([(x(step), y(gap)) for step, gap in steps], "curve"),
    )  # fmt: skip


class CurvePoint(NamedTuple):
    """A value with its spread."""

    k: int
    value: float
    low: float
    high: float


def methods_picture(
    methods: Sequence[Sequence[CurvePoint]],
    ks: Sequence[int],
    titled: tuple[str, str],
    description: str,
    reference: tuple[float, str] | None = None,
) -> Markup:
    """A line for each method, in the colours of the legend; the scale fits what is drawn, and ends at 1.

    ``titled`` are the title of the y axis and the format of its values, ``reference`` a value to compare with and its
    name.
    """
    x = Steps(tuple(ks), LEFT, WIDTH - NARROW_RIGHT)
    lowest = min([point.low for method in methods for point in method] + ([reference[0]] if reference else []))
    y = Scale(_tenth_below(lowest), 1, METHODS_HEIGHT - BOTTOM, TOP)
    apart = min(APART, SHARE * (x.end - x.start) / len(ks) / len(methods))
    middle = (len(methods) - 1) / 2
    return picture(
        WIDTH, METHODS_HEIGHT, description, axes(x, y, (FEATURES, titled[0]), ("g", titled[1])),
        _reference(x, y, *reference, right=True) if reference else None,
        [_method(x, y, code, method, apart * (code - middle)) for code, method in enumerate(methods)],
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


def _scales(ks: Sequence[int], low: float) -> tuple[Scale, Scale]:
    x = Scale(ks[0], max(ks[-1], ks[0] + 1), LEFT, WIDTH - RIGHT, log=True)
    return x, Scale(low, 1, HEIGHT - BOTTOM, TOP)


def _line(x: Scale, y: Scale, ks: Sequence[float], values: Sequence[float]) -> list[Markup]:
    points = [(x(k), y(value)) for k, value in zip(ks, values, strict=True)]
    return [line(points, "curve"), *(tag("circle", cx=px, cy=py, r=2.5, class_="curve-dot") for px, py in points)]


def _band(x: Scale, y: Scale, ks: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Markup:
    upper, lower = ([(x(k), y(v)) for k, v in zip(ks, values, strict=True)] for values in (high, low))
    return area(upper, lower, "band")


def _reference(x: Scale | Steps, y: Scale, value: float, name: str, *, right: bool = False) -> list[Markup]:
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
