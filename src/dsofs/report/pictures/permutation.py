"""Accuracies with shuffled labels, and the one with the true labels."""

from __future__ import annotations

from collections import Counter

from dsofs.examination.findings import PermutationTest
from dsofs.report.html import Markup, tag
from dsofs.report.svg import Scale, axes, picture, words

WIDTH, HEIGHT = 504, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 22, 34, 48
BINS = 50


def permutation_picture(test: PermutationTest) -> Markup:
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
