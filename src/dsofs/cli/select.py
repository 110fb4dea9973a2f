"""``dsofs select``: from a file to the features that separate its classes."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dsofs.cli import CALLED, options
from dsofs.cli.messages import errors_in_one_line, messages, printable, show_notes
from dsofs.cli.watch import stages
from dsofs.methods import METHODS
from dsofs.methods.dso.fit import AUTO
from dsofs.report import Findings
from dsofs.report.grade import grade
from dsofs.report.verdict import in_words, own_remarks
from dsofs.workflows.select import HARD, TableSelection, select_table

PRINTED = 50  # features: more would scroll what is said below them off the screen


def penalty(ctx: click.Context, param: click.Parameter, value: str | None) -> float | str | None:
    """A number above 0 from its text; words as they are."""
    if value is None or value in (AUTO, HARD):
        return value
    with suppress(ValueError):
        if 0 < (number := float(value)) < math.inf:
            return number
    raise click.BadParameter(f"{value!r} is neither a number above 0 nor one of the words auto and hard.", ctx, param)


@click.command()
@options.table
@options.known
@click.option("-k", default=20, show_default=True, type=click.IntRange(1),
              help="Number of features to select; a group counts as one, for methods that know groups.")  # fmt: skip
@click.option(
    "--method", default="dso", show_default=True, type=click.Choice(list(METHODS)), help="The method that selects."
)
@options.p("Power of the norm, for dso and rfs")
@click.option("--C", "C", metavar="NUMBER|auto|hard", callback=penalty,
              help="Penalty of samples on the wrong side of the margin, for dso; by default auto. With hard, no sample "
              "may be there.")  # fmt: skip
@click.option("--tune", is_flag=True, help="Choose p by cross-validation (dso only).")
@options.seed("random_state")
@options.cores()
@options.report
@options.out_folder(required=True)
@options.json
def main(file: Path, as_json: bool, **settings: Any) -> None:
    """Select the features of FILE that separate the classes in its column COLUMN.

    Writes selected.csv, selection.json and report.html into the folder given by --out; with --no-report, the
    report.html of an earlier selection is removed from it. Exit codes: 0 done; 2 the data or the options cannot be
    used; 130 interrupted, with nothing half-written.
    """
    console = messages()
    with errors_in_one_line(), stages(console) as progress:
        called = click.get_current_context().meta.get(CALLED)
        found = select_table(file, command=called, progress=progress, **settings)
    show_notes(console, found.notes)
    if as_json:
        paths = {name: str(path) for name, path in found.files.items()}
        click.echo(json.dumps({**summary(found), "seconds": found.seconds, "files": paths}, indent=2))
    else:
        print_selection(found)


def summary(found: TableSelection) -> dict[str, Any]:
    """What a program that called the command wants to know."""
    selection, findings = found.selection, found.findings
    chosen = ("rank", "name", "index", "score", "frequency", "group")
    gap = getattr(found.selector, "duality_gap_", None)
    return {
        "selected": [{name: getattr(feature, name) for name in chosen} for feature in selection.features],
        "method": selection.method,
        "parameters": selection.parameters,
        "classes": selection.classes,
        "status": getattr(found.selector, "status_", None),
        "duality_gap": gap if gap is None or gap == gap else None,
        "data": selection.data,
        "notes": [asdict(note) for note in found.notes],
        "examined": None if findings is None else figures(findings),
    }


def figures(findings: Findings) -> dict[str, Any]:
    """The figures at the head of the report."""
    curve, test, beside = findings.accuracy, findings.permutation, findings.covariates
    return {
        "grade": grade(findings).name.lower(),
        "accuracy": curve.at_k,
        "accuracy_deviation": curve.deviation_at_k,
        "accuracy_of_all_features": curve.all_features,
        "accuracy_of_covariates": None if beside is None else beside.alone.mean,
        "accuracy_with_covariates": None if beside is None else beside.together.mean,
        "balanced_accuracy": None if findings.balanced is None else findings.balanced.mean,
        "classes_not_tested": None if findings.balanced is None else findings.balanced.untested,
        "chance": curve.chance,
        "p_value": None if test is None else test.p_value,
        "stability": findings.stability.at_k,
        "one_standard_error_k": curve.one_se_k,
    }


def print_selection(found: TableSelection) -> None:
    selection, findings = found.selection, found.findings
    again = findings is not None
    table = Table("rank", "feature", "score", *["chosen again"] * again, box=None)
    for feature in selection.features[:PRINTED]:
        share = [f"{feature.frequency:.0%}"] if feature.frequency is not None else []
        table.add_row(str(feature.rank), Text(printable(feature.name)), f"{feature.score:.4g}", *share)
    console = Console()
    console.print(table)
    if len(selection.features) > PRINTED:
        console.print(f"and {len(selection.features) - PRINTED:,} more in selected.csv", highlight=False)
    if findings is not None:
        console.print(Text(in_words(findings)), soft_wrap=True)
        for remark in own_remarks(findings):
            if remark.attention:
                console.print(Text(printable(f"! {remark.sentence}")), soft_wrap=True)
    console.print(Text(f"Written: {', '.join(map(str, found.files.values()))}"), soft_wrap=True)
