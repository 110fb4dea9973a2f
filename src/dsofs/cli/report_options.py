"""Options of commands that end with a report."""

from __future__ import annotations

from collections.abc import Callable

import click


def image_shape(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Rows and columns from text such as 8x8."""
    if value is None:
        return None
    rows, _, columns = value.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and int(rows) and int(columns)):
        raise click.BadParameter(f"{value!r} is not of the form 8x8.", ctx, param)
    return int(rows), int(columns)


def report_options(command: Callable[..., None]) -> Callable[..., None]:
    """Whether there is a report, how much is measured for it, and whether samples are images."""
    for decorate in reversed(
        (
            click.option("--report/--no-report", default=True, help="Examine the selection and write report.html."),
            click.option(
                "--resamples",
                "n_resamples",
                default=20,
                show_default=True,
                type=click.IntRange(2),
                help="Resamples for accuracy and stability.",
            ),
            click.option(
                "--permutations",
                "n_permutations",
                type=click.IntRange(0),
                help="Shuffled labellings to compare with; 49 if not given, 19 if they would take long.",
            ),
            click.option(
                "--image-shape",
                metavar="ROWSxCOLUMNS",
                callback=image_shape,
                help="Samples are images of this shape: draw the chosen pixels.",
            ),
            click.option(
                "--image-order",
                default="C",
                show_default=True,
                type=click.Choice(["C", "F"]),
                help="Images lie row by row (C) or column by column (F).",
            ),
        )
    ):
        command = decorate(command)
    return command
