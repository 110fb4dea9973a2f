"""Charts: accuracy, stability, shuffled labels, the certificate, several methods, confusions, samples on two axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from dsofs.examination.findings import AccuracyCurve, Convergence, PermutationTest, StabilityCurve, View
from dsofs.report.grade import EXCELLENT, POOR
from dsofs.report.html import NAME_KEPT, Markup, shorten, tag
from dsofs.report.svg import N_COLOURS, Scale, Steps, area, axes, line, mark, picture, words

WIDTH, HEIGHT = 504, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 34, 34, 48
ABOVE, UNDER = -5, 13  # where the name of a line stands
BINS = 50  # of accuracies with shuffled labels
CONVERGENCE_HEIGHT, CONVERGENCE_LEFT = 250, 60  # powers of ten are wide
METHODS_HEIGHT = 320
NARROW_RIGHT = 14  # where no name stands at the right
APART = 7.0  # pixels between methods at the same number of features, so that their spreads do not overlap
SHARE = 0.7  # of the room of a number that methods may fill
FEATURES = "number of features"
CONFUSION_SIZE = 480  # largest side of the square of cells
LARGEST_CELL, SMALLEST_CELL = 56, 4.0  # side of a cell
WITH_NUMBERS = 22  # smallest side of a cell that a number fits in
SHOWN_NAME = 18  # characters of a class in the confusion matrix
LETTER, BOLD_LETTER = 6.5, 7.1
MOST_CONFUSED = 8  # pairs of classes that are listed
DARK = 0.88  # share from which the text in a cell must be light
SCATTER_WIDTH, SCATTER_HEIGHT = 560, 420
SCATTER_LEFT, SCATTER_RIGHT, SCATTER_TOP, SCATTER_BOTTOM = 44, 14, 30, 48
SCATTER_NAME = 14  # characters of a class that is named at its middle, where there are too many for a legend
NAME_HEIGHT = 13


def accuracy_picture(curve: AccuracyCurve, *, advised: bool) -> Markup:
    x, y = _scales(curve.ks, 0.0)
    low = [max(0.0, mean - deviation) for mean, deviation in zip(curve.mean, curve.deviation, strict=True)]
    high = [min(1.0, mean + deviation) for mean, deviation in zip(curve.mean, curve.deviation, strict=True)]
    description = (
        f"Held-out accuracy against the number of features: {curve.at_k:.0%} with {curve.k}; chance is "
        f"{curve.chance:.0%}."
    )
    under = y.start - y(curve.chance) > UNDER  # the curve is above it
    references = [_reference(x, y, curve.chance, f"chance {curve.chance:.0%}", offset=UNDER if under else ABOVE)]
    if curve.all_features is not None:
        references.append(_reference(x, y, curve.all_features, f"all features {curve.all_features:.0%}", right=True))
    ends = [curve.k, *[curve.one_se_k] * (advised and curve.one_se_k != curve.k)]
    marks = [
        _marker(x, y, k, curve.mean[curve.ks.index(k)], f"{kind}: {k}", kind, ends)
        for k, kind in zip(ends, ("chosen", "advised"), strict=False)
    ]
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
        None if at_k is None else _marker(x, y, curve.k, at_k, f"chosen: {curve.k}", "chosen", []),
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


def _reference(
    x: Scale | Steps, y: Scale, value: float, name: str, *, right: bool = False, offset: float = ABOVE
) -> list[Markup]:
    """A dashed line with its name at one end."""
    height = y(value)
    return [
        tag("line", x1=x.start, x2=x.end, y1=height, y2=height, class_="reference"),
        words(
            name, x.end if right else x.start + 6, height + offset, anchor="end" if right else None, class_="small halo"
        ),
    ]


def _marker(x: Scale, y: Scale, k: float, value: float, name: str, class_: str, all_ks: Sequence[int]) -> list[Markup]:
    """A line down to the axis and a dot; names stand at different heights, on the side where there is room.

    ``all_ks`` are where such lines are: a name should not stand on the line of another.
    """
    place, height = x(k), y(value)
    room = BOLD_LETTER * len(name) + 8
    free = min([x(other) for other in all_ks if other > k], default=WIDTH) - place
    right = free > room or place - x.start < room
    middle = (height + y.start) / 2
    level = min(middle + (6 if class_ == "chosen" else -12), y.start - 8)
    return [
        tag("line", x1=place, x2=place, y1=height, y2=y.start, class_=class_),
        tag("circle", cx=place, cy=height, r=5, class_=class_),
        words(name, place + (8 if right else -8), level, anchor=None if right else "end", class_="small strong halo"),
    ]


def confusion_picture(counts: list[list[int]], names: list[str]) -> Markup:
    """Rows are true classes, as shares of each; cells of share 0 are left empty."""
    n = len(names)
    side = max(SMALLEST_CELL, min(LARGEST_CELL, CONFUSION_SIZE / n))
    shown = [shorten(name, SHOWN_NAME) for name in names]
    left = 30 + LETTER * max(map(len, shown))
    every = max(1, round(12 / side))  # labels need 12 pixels each
    cells = [_confusion_cell(row, column, count / sum(line), left, 24, side)
             for row, line in enumerate(counts) for column, count in enumerate(line) if count]  # fmt: skip
    labels = [words(shown[code], left - 6, 24 + side * (code + 0.5) + 4, anchor="end") for code in range(0, n, every)]
    below = 24 + n * side
    upright = LETTER * max(map(len, shown)) <= side
    under = [_under(shown[code], left + side * (code + 0.5), below, upright) for code in range(0, n, every)]
    bottom = 22 if upright else 12 + LETTER * max(map(len, shown))
    frame = tag("rect", x=left, y=24, width=n * side, height=n * side, class_="frame")
    right = sum(counts[code][code] for code in range(n)) / sum(map(sum, counts))
    description = f"Confusion matrix of {n} classes: {right:.0%} of held-out predictions are on the diagonal."
    titles = [words("true class", 0, 14), words("predicted class", left, below + bottom + 16)]
    return picture(left + n * side + 30, below + bottom + 24, description, frame, cells, labels, under, titles)


def _confusion_cell(row: int, column: int, share: float, left: float, top: float, side: float) -> list[Markup | None]:
    x, y = left + side * column, top + side * row
    kind = "hit" if row == column else "miss"
    box = tag("rect", x=x, y=y, width=side, height=side, fill_opacity=max(share, 0.04), class_=kind)
    if side < WITH_NUMBERS:
        return [box, None]
    ink = "small light" if share >= DARK else "small ink"
    return [box, words(f"{100 * share:.0f}", x + side / 2, y + side / 2 + 4, anchor="middle", class_=ink)]


def _under(name: str, x: float, top: float, upright: bool) -> Markup:
    if upright:
        return words(name, x, top + 15, anchor="middle")
    turn = f"rotate(-90 {x:.1f} {top + 6:.1f})"
    return tag("text", name, x=x, y=top + 6, dy=4, text_anchor="end", transform=turn, class_="small")


def most_confused(counts: list[list[int]], names: list[str]) -> list[tuple[str, str, float]]:
    """(true class, predicted class, share of the true class), the largest first."""
    pairs = [
        (names[row], names[column], count / sum(line))
        for row, line in enumerate(counts)
        for column, count in enumerate(line)
        if row != column and count
    ]
    return sorted(pairs, key=lambda pair: -pair[2])[:MOST_CONFUSED]


def scatter_picture(view: View, names: list[str], in_legend: bool) -> Markup:
    x, y = (
        _with_room(view.x, SCATTER_LEFT, SCATTER_WIDTH - SCATTER_RIGHT),
        _with_room(view.y, SCATTER_HEIGHT - SCATTER_BOTTOM, SCATTER_TOP),
    )
    # Held-out samples last: they lie on top. The title of a class is shown when the pointer is on one of its samples.
    parts: dict[tuple[bool, int], list[Markup]] = {}
    for i, (held_out, code) in enumerate(zip(view.held_out, view.classes, strict=True)):
        size, faint = (4.5, "") if held_out else (3, "faint")
        parts.setdefault((held_out, code), []).append(mark(code, x(view.x[i]), y(view.y[i]), size, faint))
    marks = [tag("g", tag("title", shorten(names[part[1]], NAME_KEPT)), parts[part]) for part in sorted(parts)]
    description = f"{len(view.x)} samples of {len(names)} classes on two axes computed from the chosen features."
    titles = (view.axes[0], view.axes[1])
    labels = [] if in_legend else _class_names(view, names, x, y)
    return picture(SCATTER_WIDTH, SCATTER_HEIGHT, description, axes(x, y, titles), marks, labels)


def _with_room(values: list[float], start: float, end: float) -> Scale:
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 1.0
    return Scale(low - room, high + room, start, end)


def _class_names(view: View, names: list[str], x: Scale, y: Scale) -> list[Markup]:
    """The names of the classes, each at the middle of its class if no other name is there."""
    labels: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    for code, name in enumerate(names):
        own = [i for i, c in enumerate(view.classes) if c == code]
        shown = shorten(name, SCATTER_NAME)
        place = x(median(view.x[i] for i in own)), y(median(view.y[i] for i in own)) + 4
        room = (BOLD_LETTER * len(shown) / 2, *place)
        if not any(_overlap(room, other) for other in taken):
            taken.append(room)
            labels.append(words(shown, *place, anchor="middle", class_="small strong halo"))
    return labels


def _overlap(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Whether two names, given by half their length and their place, would cover each other."""
    return abs(one[1] - other[1]) < one[0] + other[0] and abs(one[2] - other[2]) < NAME_HEIGHT
