"""``dsofs datasets``: which data sets there are, and where they are stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dsofs.cli import options
from dsofs.cli.messages import errors_in_one_line
from dsofs.datasets import describe_dataset, list_datasets
from dsofs.datasets.catalogue import CATALOGUE
from dsofs.datasets.store import locate


@click.command()
@click.argument("name", required=False, type=click.Choice(list(CATALOGUE)), metavar="[NAME]")
@options.data_dir
@options.json
def main(name: str | None, data_dir: Path | None, as_json: bool) -> None:
    """List the data sets of the paper, whether they are available and where; or describe the one called NAME."""
    with errors_in_one_line():
        names = [name] if name else list_datasets(data_dir)
        rows = [facts(each, data_dir) for each in names]
        text = describe_dataset(name, data_dir=data_dir) if name else None
    if as_json:
        click.echo(json.dumps({**rows[0], "DESCR": text} if name else rows, indent=2))
    elif text is not None:
        click.echo(text, nl=False)
    else:
        print_table(rows)


def facts(name: str, data_dir: Path | None) -> dict[str, Any]:
    dataset, found = CATALOGUE[name], locate(CATALOGUE[name], data_dir)
    return {
        "name": name,
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "n_classes": dataset.n_classes,
        "path": str(found.path) if found else None,
        "source": dataset.publisher,
        "url": dataset.home,
        "licence": dataset.licence,
    }


def print_table(rows: list[dict[str, Any]]) -> None:
    table = Table(box=None)
    for heading in ("name", "shape", "classes", "available", "source", "licence"):
        # A path is folded where it does not fit, since one that is cut off is of no use.
        table.add_column(heading, overflow="fold", no_wrap=heading in ("name", "shape"))
    for row in rows:
        shape = f"{row['n_samples']} x {row['n_features']}"
        cells = (row["name"], shape, str(row["n_classes"]), row["path"] or "no", row["source"], row["licence"])
        table.add_row(*(Text(cell) for cell in cells))
    Console().print(table)
