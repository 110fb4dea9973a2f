"""The chosen features of all samples, ordered by class."""

from __future__ import annotations

from itertools import accumulate

from dsofs.examination.findings import Findings
from dsofs.report.html import Markup, shorten, tag
from dsofs.report.png import diverging_image
from dsofs.report.svg import CHARACTER, N_COLOURS, picture, words

WIDTH, LEFT, RIGHT, TOP, ROW = 980, 190, 8, 26, 15
NAME = 26  # characters of a feature's name
STRIPE = 6  # height of the band that shows the class by its colour


def heatmap_picture(findings: Findings) -> Markup:
    heat = findings.heat_map
    height = ROW * len(heat.features)
    width = WIDTH - LEFT - RIGHT
    image = tag("image", href=diverging_image(heat.levels), x=LEFT, y=TOP, width=width, height=height,
                preserveAspectRatio="none", class_="pixels")  # fmt: skip
    names = [
        words(_row_name(findings, position), LEFT - 6, TOP + ROW * (row + 0.5) + 4, anchor="end")
        for row, position in enumerate(heat.features)
    ]
    description = (
        f"Heat map of {len(heat.features)} chosen features over {sum(heat.counts)} samples ordered by class: blue "
        "below the mean, orange above."
    )
    return picture(
        WIDTH, TOP + height + 6, description, _class_band(findings, width, height), image, names, class_="picture wide"
    )


def _row_name(findings: Findings, position: int) -> str:
    feature = findings.chosen[position]
    return f"{shorten(feature.name, NAME)} ({feature.rank})"


def _class_band(findings: Findings, width: float, height: float) -> list[Markup]:
    """A stripe of each class's colour, its name above where it fits, and a line where it ends."""
    heat = findings.heat_map
    ends = list(accumulate(heat.counts))
    parts = []
    for code, (count, end) in enumerate(zip(heat.counts, ends, strict=True)):
        start, stop = (LEFT + width * place / ends[-1] for place in (end - count, end))
        parts.append(tag("rect", x=start, y=TOP - STRIPE - 1, width=stop - start, height=STRIPE,
                         class_=f"c{code % N_COLOURS}"))  # fmt: skip
        name = shorten(findings.classes[code].name, max(1, int((stop - start) / CHARACTER)))
        if len(findings.classes[code].name) * CHARACTER <= stop - start or len(name) > 3:
            parts.append(words(name, (start + stop) / 2, TOP - STRIPE - 6, anchor="middle"))
        parts.append(tag("line", x1=stop, x2=stop, y1=TOP - STRIPE - 1, y2=TOP + height, class_="divide"))
    return parts
