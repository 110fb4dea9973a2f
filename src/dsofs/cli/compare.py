"""``dsofs compare``: methods side by side on a user's own data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from dsofs.cli import CALLED, options
from dsofs.cli.messages import errors_in_one_line, messages, show_notes, watched
from dsofs.cli.options import on_cluster
from dsofs.experiments import ALL_FEATURES, CellsFailedError
from dsofs.methods import METHODS
from dsofs.report.compared import headline
from dsofs.tables.labelled import LabelledTable
from dsofs.workflows.compare import DEFAULT_METHODS, compare_table


def whole_numbers(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> list[int]:
    try:
        sizes = sorted({int(part) for part in options.split(given)})
    except ValueError:
        sizes = []
    if not sizes or sizes[0] < 1:
        raise click.UsageError(
            f"-k must be numbers of features with commas, as 10,20,50. Got {','.join(given)!r} instead."
        )
    return sizes


@click.command()
@options.table
@options.names("--methods", known=METHODS, default=[",".join(DEFAULT_METHODS)], show_default=True,
               help="Names of methods, with commas; may be repeated.")  # fmt: skip
@click.option("-k", "ks", default=["10,20,50"], show_default=True, multiple=True, callback=whole_numbers,
              help="Numbers of features, with commas; may be repeated.")  # fmt: skip
@options.trials("by default 10, or 5 with --quick")
@click.option("--quick", is_flag=True, help="Tune nothing: methods with their defaults, and an SVM with C = 1.")
@options.cores()
@options.scheduler
@options.out_folder(required=True)
@options.json
def main(file: Path, as_json: bool, scheduler: str | None, **settings: Any) -> None:
    """Compare how well the features that METHODS select from FILE tell its classes apart.

    In each trial the samples are split 6:4. Features are chosen and everything is tuned on the training part alone; a
    linear SVM on the chosen features is scored on the rest. Writes results.csv and report.html into the folder given by
    --out, and rows.jsonl as it goes: the same command continues where it stopped, with more methods or trials if
    asked for. A folder that holds another comparison is refused. Exit codes: 0 done; 1 some fits failed; 2 the data or
    the options cannot be used; 130 interrupted.
    """
    console = messages()
    status = console.status("Reading ...")

    def read(table: LabelledTable) -> None:
        status.stop()
        show_notes(console, table.notes)

    with errors_in_one_line(), failures_in_one_line(), on_cluster(scheduler), status, watched(console) as progress:
        found = compare_table(
            file,
            command=click.get_current_context().meta.get(CALLED),
            on_read=read,
            progress=progress,
            **settings,
        )
    paths = [str(path) for path in found.files.values()]
    if as_json:
        notes = [asdict(note) for note in found.notes]
        click.echo(json.dumps({"results": found.results, "notes": notes, "files": paths}, indent=2))
    else:
        print_lines(found.results, settings["ks"])
        for line in (f"{headline(found.measured)}.", f"Written: {', '.join(paths)}"):
            Console().print(line, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def failures_in_one_line() -> Iterator[None]:
    try:
        yield
    except CellsFailedError as error:
        n_failed, first = len(error.failures), error.failures[0]
        raise click.ClickException(
            f"{n_failed} fits failed, the first: {first} The others are kept; the same command continues."
        ) from error


def print_lines(lines: list[dict[str, Any]], ks: list[int]) -> None:
    """Accuracy in per cent, a row for each method, a column for each number of features."""
    found: Mapping[tuple[str, Any], dict[str, Any]] = {(line["method"], line["k"]): line for line in lines}
    sizes: list[int | str] = [*(k for k in ks if any(line["k"] == k for line in lines)), "all"]
    table = Table("method", *(f"k = {size}" if size != "all" else "all features" for size in sizes), box=None)
    for method in dict.fromkeys(line["method"] for line in lines):
        label = "no selection" if method == ALL_FEATURES else method
        table.add_row(label, *(_cell(found.get((method, size))) for size in sizes))
    Console().print(table)


def _cell(line: dict[str, Any] | None) -> str:
    return "" if line is None else f"{100 * line['accuracy']:.1f} ± {100 * line['accuracy_std']:.1f}"
