"""Which classes are taken for which."""

from __future__ import annotations

from dsofs.report.html import Markup, shorten, tag
from dsofs.report.svg import picture, words

SIZE = 480  # largest side of the square of cells
LARGEST, SMALLEST = 56, 4.0  # side of a cell
WITH_NUMBERS = 22  # smallest side of a cell that a number fits in
NAME = 18  # characters
LETTER = 6.5
DARK = 0.88  # share from which the text in a cell must be light


def confusion_picture(counts: list[list[int]], names: list[str]) -> Markup:
    """Rows are true classes, as shares of each; cells of share 0 are left empty."""
    n = len(names)
    side = max(SMALLEST, min(LARGEST, SIZE / n))
    shown = [shorten(name, NAME) for name in names]
    left = 30 + LETTER * max(map(len, shown))
    every = max(1, round(12 / side))  # labels need 12 pixels each
    cells = [_cell(row, column, count / sum(line), left, 24, side)
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


def _cell(row: int, column: int, share: float, left: float, top: float, side: float) -> list[Markup | None]:
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


def most_confused(counts: list[list[int]], names: list[str], limit: int = 8) -> list[tuple[str, str, float]]:
    """(true class, predicted class, share of the true class), the largest first."""
    pairs = [
        (names[row], names[column], count / sum(line))
        for row, line in enumerate(counts)
        for column, count in enumerate(line)
        if row != column and count
    ]
    return sorted(pairs, key=lambda pair: -pair[2])[:limit]
