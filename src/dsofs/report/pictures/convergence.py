"""The certificate, step by step."""

from __future__ import annotations

from dsofs.examination.findings import Convergence
from dsofs.report.html import Markup
from dsofs.report.svg import Scale, axes, line, picture

WIDTH, HEIGHT = 504, 250
LEFT, RIGHT, TOP, BOTTOM = 60, 14, 34, 48


def convergence_picture(convergence: Convergence) -> Markup:
    steps = [(step, gap) for step, gap in enumerate(convergence.gap, 1) if gap is not None and gap > 0]
    if len(steps) < 2:
        return Markup()
    gaps = [gap for _, gap in steps]
    x = Scale(1, len(convergence.gap), LEFT, WIDTH - RIGHT)
    y = Scale(min(gaps), max(gaps), HEIGHT - BOTTOM, TOP, log=True)
    description = f"{convergence.certificate} from {max(gaps):.1g} to {gaps[-1]:.1g} in {len(convergence.gap)} steps."
    return picture(
        WIDTH, HEIGHT, description, axes(x, y, ("step", convergence.certificate), ("g", ".0e")),
        line([(x(step), y(gap)) for step, gap in steps], "curve"),
    )  # fmt: skip
