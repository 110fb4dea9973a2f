"""Options of every command that reads a labelled table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from dsofs.tables.imputing import IMPUTES

FILE = click.Path(exists=True, path_type=Path)


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """The file and where in it the label lies, what is left out, what belongs together."""
    for decorate in reversed(
        (
            click.argument("file", type=FILE),
            click.option(
                "--target", metavar="COLUMN", help="The label: a column's name, or its position (-1 is the last)."
            ),
            click.option(
                "--target-file",
                type=FILE,
                help="A file with the labels, if they are not in FILE: joined by sample ID where both have one.",
            ),
            click.option(
                "--drop",
                metavar="COLUMNS",
                multiple=True,
                callback=split_names,
                help="Columns to leave out: names or positions, with commas; may be repeated.",
            ),
            click.option(
                "--keep",
                metavar="COLUMNS",
                multiple=True,
                callback=split_names,
                help="Columns to keep as features though they look like an identifier or a date; may be repeated.",
            ),
            click.option("--feature-groups", type=FILE, help="Lines 'feature,group': features to choose together."),
            click.option(
                "--sample-groups", "groups", metavar="COLUMN", help="Samples that belong together (patient, batch)."
            ),
            click.option(
                "--impute",
                type=click.Choice(IMPUTES),
                default="none",
                show_default=True,
                help="How missing values are filled; 'none' refuses them.",
            ),
        )
    ):
        command = decorate(command)
    return command


def split_names(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> list[str]:
    """Names with commas, given once or more."""
    return names_in(*given)


def names_in(*given: str) -> list[str]:
    return [name.strip() for entry in given for name in entry.split(",") if name.strip()]
