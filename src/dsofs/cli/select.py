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
from dsofs.cli.messages import Stages, errors_in_one_line, messages, printable, show_notes
from dsofs.examination.findings import Plan
from dsofs.methods import METHODS
from dsofs.methods.dso.fit import AUTO
from dsofs.report import Findings
from dsofs.report.grade import grade
from dsofs.report.verdict import in_words, own_remarks
from dsofs.workflows.select import HARD, REPORT, TableSelection, select_table

OFTEN = 0.5  # of the resamples
PRINTED = 50  # features: more would scroll the summary off the screen


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
@options.transform
@options.known
@click.option("-k", default=20, show_default=True, type=click.IntRange(1),
              help="Number of features to select; a group counts as one, for methods that handle groups.")  # fmt: skip
@click.option(
    "--method", default="dso", show_default=True, type=click.Choice(list(METHODS)), help="The method that selects."
)
@options.p("Power of the norm, for dso and rfs")
@click.option("--C", "C", metavar="NUMBER|auto|hard", callback=penalty,
              help="Cost of samples on the wrong side of the margin, for dso: a number, auto (the default), or hard, "
              "which allows none there.")  # fmt: skip
@click.option("--tune", is_flag=True, help="Choose p by cross-validation (dso only).")
@options.seed("random_state")
@options.cores()
@options.report
@options.out_folder(required=True)
@options.json
def main(file: Path, as_json: bool, **settings: Any) -> None:
    """Select the features of FILE that separate the classes in its column COLUMN.

    Prints the features and writes selected.csv and selection.json into the folder given by --out as soon as they are
    selected; a report.html of an earlier selection is removed. Then examines the selection and writes its report.html,
    unless --no-report is given. Exit codes: 0 done; 2 the data or the options cannot be used; 130 interrupted, with
    nothing half-written.
    """
    console = messages()
    with errors_in_one_line(), Stages(console) as progress:
        called = click.get_current_context().meta.get(CALLED)

        def answer(found: TableSelection) -> None:
            with progress.aside():
                show_notes(console, found.notes)
                if not as_json:
                    print_selection(found)

        found = select_table(
            file,
            command=called,
            progress=progress,
            on_selected=answer,
            on_plan=lambda plan: console.print(plan_words(plan)),
            **settings,
        )
    if as_json:
        paths = {name: str(path) for name, path in found.files.items()}
        click.echo(json.dumps({**summary(found), "seconds": found.seconds, "files": paths}, indent=2))
    elif found.findings is not None:
        print_findings(found.findings, found.files[REPORT])


def plan_words(plan: Plan) -> str:
    """What will be measured, how long that is estimated to take, and how to get the same again."""
    words = f"Examining: {plan.words}, about {plan.seconds:.0f} s"
    if plan.time_limit is None:
        return f"{words}."
    again = f"--resamples {plan.n_resamples} --permutations {plan.n_permutations}"
    return f"{words} of the {plan.time_limit:.0f} s that --time leaves. To get the same figures again: {again}"


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
    curve, test, covariates = findings.accuracy, findings.permutation, findings.covariates
    return {
        "grade": grade(findings).name.lower(),
        "accuracy": curve.at_k,
        "accuracy_deviation": curve.deviation_at_k,
        "accuracy_of_all_features": curve.all_features,
        "accuracy_of_covariates": None if covariates is None else covariates.alone.mean,
        "accuracy_with_covariates": None if covariates is None else covariates.together.mean,
        "balanced_accuracy": None if findings.balanced is None else findings.balanced.mean,
        "classes_not_tested": None if findings.balanced is None else findings.balanced.untested,
        "chance": curve.chance,
        "p_value": None if test is None else test.p_value,
        "stability": findings.stability.at_k,
        "one_standard_error_k": curve.one_se_k,
        "resamples": findings.origin.n_resamples,
        "permutations": 0 if test is None else len(test.shuffled),
    }


def print_selection(found: TableSelection) -> None:
    features = found.selection.features
    table = Table("rank", "feature", "score", box=None)
    for feature in features[:PRINTED]:
        table.add_row(str(feature.rank), Text(printable(feature.name)), f"{feature.score:.4g}")
    console = Console()
    console.print(table)
    if len(features) > PRINTED:
        console.print(f"and {len(features) - PRINTED:,} more in selected.csv", highlight=False)
    console.print(Text(f"Written: {', '.join(map(str, found.files.values()))}"), soft_wrap=True)


def print_findings(findings: Findings, page: Path) -> None:
    console = Console()
    console.print(Text(in_words(findings)), soft_wrap=True)
    console.print(Text(again_words(findings)), soft_wrap=True)
    for remark in own_remarks(findings):
        if remark.attention:
            console.print(Text(printable(f"! {remark.sentence}")), soft_wrap=True)
    console.print(Text(f"Written: {page}"), soft_wrap=True)


def again_words(findings: Findings) -> str:
    """How many of the features the resamples chose again."""
    often = sum(feature.frequency >= OFTEN for feature in findings.chosen)
    return (
        f"Stability: {often} of {len(findings.chosen)} features were chosen again in at least half of "
        f"{findings.origin.n_resamples} resamples."
    )
