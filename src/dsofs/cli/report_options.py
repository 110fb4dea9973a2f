"""Options of commands that end with a report, and the findings it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from dsofs.cli import CALLED
from dsofs.report import Findings, Source, examine
from dsofs.tables.labelled import LabelledTable

ALL_CORES = -1


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
                default=20,
                show_default=True,
                type=click.IntRange(2),
                help="Resamples for accuracy and stability.",
            ),
            click.option(
                "--permutations",
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


def examine_given(
    table: LabelledTable,
    selector: Any,
    options: dict[str, Any],
    warnings: Sequence[str],
    seconds: dict[str, float],
    console: Console,
) -> Findings:
    """What the report shows of a fitted selector."""
    called = click.get_current_context().meta.get(CALLED)
    with _progress(console) as progress:
        return examine(
            table.X,
            table.y,
            selector,
            feature_names=table.names,
            sample_names=table.sample_names or [str(number) for number in range(1, len(table.y) + 1)],
            sample_groups=table.sample_groups,
            image_shape=options["image_shape"],
            image_order=options["image_order"],
            n_resamples=options["resamples"],
            n_permutations=options["permutations"],
            seed=options["seed"],
            n_jobs=ALL_CORES if options["n_jobs"] is None else options["n_jobs"],
            source=Source(table.file, table.sha256, called, tuple(warnings), dict(seconds)),
            progress=progress,
        )


@contextmanager
def _progress(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A bar with the time left for each stage; nothing where nobody watches."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        stages: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage.capitalize(), total=total)
            bars.update(stages[stage], completed=done)

        yield show
