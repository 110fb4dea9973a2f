"""Options that several commands share, with the same spelling everywhere; and old spellings of some."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import joblib

from dsofs.cli.messages import InputError
from dsofs.examination.resampling import TIME_LIMIT
from dsofs.optional import require
from dsofs.tables.counts import NONE, TRANSFORMS
from dsofs.tables.features import IMPUTES

Option = Callable[[Callable[..., None]], Callable[..., None]]

FILE = click.Path(exists=True, path_type=Path)
OPEN = {"min_open": True, "max_open": True}
# They log closed connections when a command is interrupted. Each has a level of its own, also below another.
CLUSTER_LOGGERS = ("distributed", "distributed.client", "tornado.application", "asyncio")
CLUSTER_PATIENCE = 10  # seconds to wait for a scheduler: one that is there answers in well under a second


class Respelled(click.Command):
    """A command with new spellings of options: the ``old`` ones work for one more version, with a warning."""

    def __init__(self, *args: Any, old: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.old = old

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [self._respell(word) for word in args])

    def _respell(self, word: str) -> str:
        name, equals, value = word.partition("=")
        if name not in self.old:
            return word
        new = self.old[name]
        click.echo(f"Warning: {name} is now {new}; the old spelling will be removed in the next version.", err=True)
        return f"{new}{equals}{value}"


def split(given: Iterable[str]) -> list[str]:
    """Names with commas, given once or more."""
    return [name.strip() for entry in given for name in entry.split(",") if name.strip()]


def columns(flag: str, text: str) -> Option:
    return click.option(flag, metavar="COLUMNS", multiple=True, callback=lambda ctx, param, given: split(given),
                        help=f"{text}: names or positions, with commas; may be repeated.")  # fmt: skip


def names(flag: str, *argument: str, known: Iterable[str], **settings: Any) -> Option:
    """Some of the ``known`` names."""
    known = list(known)

    def check(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> list[str]:
        found = split(given)
        if (given and not found) or not set(found) <= set(known):
            raise click.UsageError(f"{flag} must be some of {', '.join(known)}. Got {','.join(given)!r} instead.")
        return found

    complete = click.Choice(known).shell_complete
    return click.option(flag, *argument, multiple=True, callback=check, shell_complete=complete, **settings)


def cores(**settings: Any) -> Option:
    def check(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
        if value == 0:
            raise click.BadParameter("it must be 1 or more, or below 0: -1 is all cores, -2 all but one.", ctx, param)
        return value

    text = "Number of cores; -1 is all of them, -2 all but one."
    return click.option("--n-jobs", type=int, callback=check, help=text, **settings)


def p(text: str, **settings: Any) -> Option:
    return click.option("--p", type=click.FloatRange(0, 2, **OPEN), help=f"{text}: smaller keeps fewer features.",
                        **settings)  # fmt: skip


def seed(name: str) -> Option:
    text = "Random seed: the same seed gives the same results."
    return click.option("--seed", name, default=0, show_default=True, help=text)


def out_folder(text: str = "Folder for the results.", **settings: Any) -> Option:
    kind = click.Path(file_okay=False, path_type=Path)
    return click.option("--out", metavar="FOLDER", type=kind, help=text, **settings)


def trials(otherwise: str) -> Option:
    return click.option("--trials", type=click.IntRange(1), help=f"Number of random splits; {otherwise}.")


scheduler = click.option(
    "--scheduler", metavar="ADDRESS",
    help="Run on a Dask cluster, on all of its workers: the address of its scheduler, such as tcp://host:8786.",
)  # fmt: skip


@contextmanager
def on_cluster(scheduler: str | None) -> Iterator[None]:
    """What joblib runs in parallel runs on the workers of the scheduler with this address; None: on this machine."""
    if scheduler is None:
        yield
        return
    distributed = require("distributed", "cluster")
    for name in CLUSTER_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Not as the default client: one that fails to connect would leave Dask without any scheduler.
        client = distributed.Client(scheduler, timeout=CLUSTER_PATIENCE, set_as_default=False)
    except Exception as error:  # of many kinds, for addresses that are wrong in many ways
        raise InputError(f"No Dask scheduler answers at {scheduler!r}: start one with 'dask scheduler'.") from error
    with client, joblib.parallel_config("dask", client=client):
        yield


json = click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
data_dir = click.option(
    "--data-dir", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the data. By default the environment variable DSOFS_DATA names it, or it is the user's cache.",
)  # fmt: skip


def together(*options: Option) -> Option:
    """Several options as one, in this order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


table = together(
    click.argument("file", type=FILE),
    click.option("--target", metavar="COLUMN", help="The label: a column's name, or its position (-1 is the last)."),
    click.option("--target-file", type=FILE,
                 help="A file with the labels, if they are not in FILE: joined by sample ID where both have one."),
    columns("--drop", "Columns to leave out"),
    columns("--keep", "Columns to keep as features though they look like an identifier or a date"),
    click.option("--feature-groups", type=FILE, help="Lines 'feature,group': features to select together."),
    click.option("--sample-groups", "groups", metavar="COLUMN",
                 help="The column that says which samples belong together (patient, batch)."),
    click.option("--impute", type=click.Choice(IMPUTES), default="none", show_default=True,
                 help="How missing values are filled; 'none' refuses them."),
)  # fmt: skip

transform = click.option("--transform", type=click.Choice([NONE, *TRANSFORMS]), default=NONE, show_default=True,
                         help="Transform counts (of words, of reads) before selecting: log(1 + x), binary (whether "
                         "x > 0) or tf-idf.")  # fmt: skip

known = together(
    columns("--covariates", "Columns to adjust for, such as age and batch, which are never selected (dso)"),
    columns("--include", "Columns that are always selected, first, and counted in -k (dso)"),
    columns("--never", "Columns that are never selected (dso)"),
    click.option("--costs", type=FILE, help="Lines 'feature,factor': what the penalties of features are multiplied by "
                 "(dso)."),
    click.option("--weight", metavar="COLUMN", help="The column of sample weights; it is not a feature."),
)  # fmt: skip


def image_shape(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Rows and columns from text such as 8x8."""
    if value is None:
        return None
    rows, _, columns = value.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and int(rows) and int(columns)):
        raise click.BadParameter(f"{value!r} is not of the form 8x8.", ctx, param)
    return int(rows), int(columns)


report = together(
    click.option("--report/--no-report", default=True, help="Whether to examine the selection and write report.html."),
    click.option("--resamples", "n_resamples", type=click.IntRange(2),
                 help="Number of resamples for accuracy and stability; by default 20, 10 or 5, as --time allows."),
    click.option("--permutations", "n_permutations", type=click.IntRange(0),
                 help="Number of shuffled labellings to compare with; by default 99, 49, 19 or 0, as --time allows."),
    click.option("--time", "time_limit", metavar="SECONDS", default=TIME_LIMIT, show_default=True,
                 type=click.FloatRange(0, **OPEN), help="Time limit: resamples and permutations are as many as fit."),
    click.option("--image-shape", metavar="ROWSxCOLUMNS", callback=image_shape,
                 help="Samples are images of this shape: draw the selected pixels."),
    click.option("--image-order", default="C", show_default=True, type=click.Choice(["C", "F"]),
                 help="Whether images are stored row by row (C) or column by column (F)."),
)  # fmt: skip
