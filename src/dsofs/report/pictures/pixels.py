"""The chosen pixels over the mean image."""

from __future__ import annotations

from dsofs.examination.findings import Image
from dsofs.report.html import Markup, tag
from dsofs.report.png import grey_image
from dsofs.report.svg import picture, words

SIDE = 360  # of the longer side
WITH_RANK = 20  # smallest side of a pixel that its rank fits in
SMALLEST_MARK = 7.0


def pixels_picture(image: Image) -> Markup:
    rows, columns = image.shape
    side = SIDE / max(rows, columns)
    grid = [image.mean[row * columns : (row + 1) * columns] for row in range(rows)]
    background = tag("image", href=grey_image(grid), width=columns * side, height=rows * side,
                     preserveAspectRatio="none", class_="pixels")  # fmt: skip
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
