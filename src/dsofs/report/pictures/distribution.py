"""A feature within each class, small enough for a row of a table."""

from __future__ import annotations

from dsofs.examination.findings import Feature
from dsofs.report.html import Markup, tag
from dsofs.report.png import diverging_image
from dsofs.report.svg import N_COLOURS, Scale, picture

WIDTH, ROW, PAD = 230, 9, 3
STRIP_WIDTH, STRIP_HEIGHT = 230, 18
LIMIT = 1.5  # standard deviations at which the strip's colours end


def distribution_picture(feature: Feature, names: list[str]) -> Markup:
    """Boxes for a few classes; for many, a strip of the class means."""
    return _boxes(feature) if len(names) <= N_COLOURS else _strip(feature)


def _boxes(feature: Feature) -> Markup:
    """Per class: a line from 5 to 95 %, a box from 25 to 75 %, the median."""
    x = Scale(min(q[0] for q in feature.quantiles), max(q[-1] for q in feature.quantiles), PAD, WIDTH - PAD)
    height = ROW * len(feature.quantiles) + 2 * PAD
    parts = []
    for code, quantiles in enumerate(feature.quantiles):
        low, first, middle, third, high = (x(value) for value in quantiles)
        y = PAD + ROW * (code + 0.5)
        parts += [
            tag("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"),
            tag("rect", x=first, y=y - 3, width=max(third - first, 1.0), height=6, class_=f"c{code % N_COLOURS} mark"),
            tag("line", x1=middle, x2=middle, y1=y - 4, y2=y + 4, class_="median"),
        ]
    middle_values = ", ".join(f"{quantiles[2]:g}" for quantiles in feature.quantiles)
    return picture(WIDTH, height, f"Medians by class: {middle_values}.", parts, class_="small-picture")


def _strip(feature: Feature) -> Markup:
    levels = [round(max(-1.0, min(1.0, mean / LIMIT)) * 127) for mean in feature.profile]
    image = tag("image", href=diverging_image([levels]), width=STRIP_WIDTH, height=STRIP_HEIGHT,
                preserveAspectRatio="none", class_="pixels")  # fmt: skip
    frame = tag("rect", x=0.5, y=0.5, width=STRIP_WIDTH - 1, height=STRIP_HEIGHT - 1, class_="frame")
    words = f"Class means between {min(feature.profile):.2g} and {max(feature.profile):.2g} standard deviations."
    return picture(STRIP_WIDTH, STRIP_HEIGHT, words, image, frame, class_="small-picture")
