"""Pictures with a PNG image in them: heat maps, strips of class means, pixels.

The PNG files are written by hand: no imaging package is needed to look at a report or to draw one.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from itertools import accumulate

from dsofs.examination.findings import Feature, Findings, Image
from dsofs.report.html import Markup, shorten, tag
from dsofs.report.svg import CHARACTER, N_COLOURS, Scale, picture, words

GREY, PALETTE = 0, 3  # colour types of PNG
BLUE, ORANGE = (0, 114, 178), (213, 94, 0)  # colour-blind readers can distinguish them too
LEVELS = 127  # of each colour

WIDTH, LEFT, RIGHT, TOP, ROW = 980, 190, 8, 26, 15  # of the heat map
NAME = 20  # characters of a feature's name: more, and wide letters, would begin left of the picture
STRIPE = 6  # height of the band that shows the class by its colour

SMALL_WIDTH, BOX_ROW, PAD = 230, 9, 3  # of a feature within each class
STRIP_HEIGHT = 18
STRIP_LIMIT = 1.5  # standard deviations at which the strip's colours end

SIDE = 360  # of the longer side of the mean image
WITH_RANK = 20  # smallest side of a pixel that its rank fits in
SMALLEST_MARK = 7.0


def grey_image(rows: Sequence[Sequence[int]]) -> str:
    """Rows of 0..255 as a data URI."""
    return _uri(rows, GREY, [])


def diverging_image(rows: Sequence[Sequence[int]]) -> str:
    """Rows of -127..127 as a data URI: blue below 0, orange above, and nothing at 0, so that any background will do."""
    colours = [BLUE] * LEVELS + [ORANGE] * (LEVELS + 1)
    opacity = [round(255 * abs(level) / LEVELS) for level in range(-LEVELS, LEVELS + 1)]
    chunks = [_chunk(b"PLTE", bytes(part for colour in colours for part in colour)), _chunk(b"tRNS", bytes(opacity))]
    return _uri([[level + LEVELS for level in row] for row in rows], PALETTE, chunks)


def _uri(rows: Sequence[Sequence[int]], colour_type: int, chunks: list[bytes]) -> str:
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, colour_type, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)  # a 0 before each row: no filter
    parts = [_chunk(b"IHDR", header), *chunks, _chunk(b"IDAT", pixels), _chunk(b"IEND", b"")]
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _stretched(href: str, **place: object) -> Markup:
    return tag("image", href=href, **place, preserveAspectRatio="none", class_="pixels")


def heatmap_picture(findings: Findings) -> Markup:
    """The chosen features of all samples, ordered by class."""
    heat = findings.heat_map
    height = ROW * len(heat.features)
    width = WIDTH - LEFT - RIGHT
    image = _stretched(diverging_image(heat.levels), x=LEFT, y=TOP, width=width, height=height)
    drawn = [findings.chosen[position] for position in heat.features]
    names = [
        words(f"{shorten(each.name, NAME)} ({each.rank})", LEFT - 6, TOP + ROW * (row + 0.5) + 4, anchor="end")
        for row, each in enumerate(drawn)
    ]
    description = (
        f"Heat map of {len(heat.features)} chosen features over {sum(heat.counts)} samples ordered by class: blue "
        "below the mean, orange above."
    )
    return picture(
        WIDTH, TOP + height + 6, description, _class_band(findings, width, height), image, names, class_="picture wide"
    )


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


def distribution_picture(feature: Feature, names: list[str]) -> Markup:
    """A feature within each class, for a row of a table: boxes for a few classes, a strip of the means for many."""
    return _boxes(feature) if len(names) <= N_COLOURS else _strip(feature)


def _boxes(feature: Feature) -> Markup:
    """Per class: a line from 5 to 95 %, a box from 25 to 75 %, the median."""
    x = Scale(min(q[0] for q in feature.quantiles), max(q[-1] for q in feature.quantiles), PAD, SMALL_WIDTH - PAD)
    height = BOX_ROW * len(feature.quantiles) + 2 * PAD
    parts = []
    for code, quantiles in enumerate(feature.quantiles):
        low, first, middle, third, high = (x(value) for value in quantiles)
        y = PAD + BOX_ROW * (code + 0.5)
        parts += [
            tag("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"),
            tag("rect", x=first, y=y - 3, width=max(third - first, 1.0), height=6, class_=f"c{code % N_COLOURS} mark"),
            tag("line", x1=middle, x2=middle, y1=y - 4, y2=y + 4, class_="median"),
        ]
    middle_values = ", ".join(f"{quantiles[2]:g}" for quantiles in feature.quantiles)
    return picture(SMALL_WIDTH, height, f"Medians by class: {middle_values}.", parts, class_="small-picture")


def _strip(feature: Feature) -> Markup:
    levels = [round(max(-1.0, min(1.0, mean / STRIP_LIMIT)) * LEVELS) for mean in feature.profile]
    image = _stretched(diverging_image([levels]), width=SMALL_WIDTH, height=STRIP_HEIGHT)
    frame = tag("rect", x=0.5, y=0.5, width=SMALL_WIDTH - 1, height=STRIP_HEIGHT - 1, class_="frame")
    text = f"Class means between {min(feature.profile):.2g} and {max(feature.profile):.2g} standard deviations."
    return picture(SMALL_WIDTH, STRIP_HEIGHT, text, image, frame, class_="small-picture")


def pixels_picture(image: Image) -> Markup:
    """The chosen pixels over the mean image."""
    rows, columns = image.shape
    side = SIDE / max(rows, columns)
    grid = [image.mean[row * columns : (row + 1) * columns] for row in range(rows)]
    background = _stretched(grey_image(grid), width=columns * side, height=rows * side)
    marks = [_pixel(rank, *divmod(place, columns), side) for rank, place in enumerate(image.chosen, 1)]
    description = f"{len(image.chosen)} chosen pixels over the mean of all images of {rows} x {columns} pixels."
    return picture(columns * side, rows * side, description, background, marks)


def _pixel(rank: int, row: int, column: int, side: float) -> list[Markup | None]:
    """A square on the pixel, its rank in it where it fits; small pixels get a larger mark around them."""
    size = max(side, SMALLEST_MARK)
    x, y = side * (column + 0.5), side * (row + 0.5)
    box = tag("rect", tag("title", f"rank {rank}: row {row}, column {column}"), x=x - size / 2, y=y - size / 2,
              width=size, height=size, class_="pixel")  # fmt: skip
    number = words(str(rank), x, y + 4, anchor="middle", class_="small on-pixel") if side >= WITH_RANK else None
    return [box, number]
