"""``dsofs select``: from a file to the features that separate its classes."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sklearn.model_selection import StratifiedGroupKFold

from dsofs import METHODS, DSOSelectorCV
from dsofs.cli.cores import cores_option
from dsofs.cli.output import csv_text, messages, printable, sentence, show_notes, write_all
from dsofs.cli.problems import told_in_one_line
from dsofs.cli.report_options import examine_given, report_options
from dsofs.cli.table_options import read_given, table_options
from dsofs.parameters import DEPRECATED
from dsofs.report import Findings, render
from dsofs.report.grade import grade
from dsofs.report.verdict import in_words, own_remarks
from dsofs.selectors.dso_parameters import AUTO
from dsofs.stopwatch import Stopwatch
from dsofs.tables.labelled import LabelledTable
from dsofs.tables.readers import Note
from dsofs.tables.selection import Selection

FOLDS = 5
HARD = "hard"  # word for C=None
REPORT = "report.html"
PRINTED = 50  # features: more would scroll what is said below them off the screen


def price(ctx: click.Context, param: click.Parameter, value: str | None) -> float | str | None:
    """A number above 0 from its text; words as they are."""
    if value is None or value in (AUTO, HARD):
        return value
    with suppress(ValueError):
        if 0 < (number := float(value)) < math.inf:
            return number
    raise click.BadParameter(f"{value!r} is neither a number above 0 nor one of the words auto and hard.", ctx, param)


@dataclass(frozen=True)
class Settings:
    """What is to be selected, and how."""

    k: int
    method: str
    p: float | None
    C: float | str | None  # None is not given
    tune: bool
    seed: int
    n_jobs: int | None


@click.command()
@table_options
@click.option("-k", "k", default=20, show_default=True, type=click.IntRange(1),
              help="Features to select; a group of features counts as one, where the method knows groups.")  # fmt: skip
@click.option("--method", default="dso", show_default=True, type=click.Choice(list(METHODS)), help="How to select.")
@click.option("--p", "p", type=click.FloatRange(0, 2, min_open=True, max_open=True),
              help="Power of the norm, for dso and rfs: smaller keeps fewer features.")  # fmt: skip
@click.option("--C", "C", metavar="NUMBER|auto|hard", callback=price,
              help="Price of samples on the wrong side, for dso; auto if not given, hard for none there.")  # fmt: skip
@click.option("--tune", is_flag=True, help="Choose p by cross-validation (dso only).")
@click.option("--seed", default=0, show_default=True, help="Of all that is drawn at random.")
@cores_option()
@report_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the results.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def main(out: Path, as_json: bool, **options: Any) -> None:
    """Select the features of FILE that separate the classes in its column COLUMN.

    Writes selected.csv, selection.json and report.html into the folder given by --out; with --no-report, the
    report.html of an earlier selection is removed from it. Exit codes: 0 done; 2 the data or the options cannot be
    used; 130 interrupted, with nothing half-written.
    """
    console, watch = messages(), Stopwatch()
    settings = Settings(**{name: options[name] for name in Settings.__dataclass_fields__})
    with told_in_one_line():
        with console.status("Reading ..."):
            table = read_given(options)
        watch.lap("reading")
        with console.status("Selecting ..."):
            selector, notes = fit(table, settings)
        watch.lap("selecting")
        notes = [*table.notes, *notes]
        selection = Selection.of(table, selector, settings.method, selector_parameters(selector, settings))
        findings = None
        if options["report"]:
            told = [sentence(note) for note in notes]
            findings = examine_given(table, selector, options, told, watch.laps, console)
            selection = selection.with_frequencies([feature.frequency for feature in findings.chosen])
            watch.lap("examining")
        files = contents(selection, findings)
        watch.lap("drawing")
        notes += remove_stale(out, files)
        write_all(out, files)
    paths = {name: str(out / name) for name in files}
    show_notes(console, notes)
    if as_json:
        summary = summarise(selection, selector, findings, notes)
        click.echo(json.dumps({**summary, "seconds": watch.laps, "files": paths}, indent=2))
    else:
        print_selection(selection, findings, paths)


def remove_stale(out: Path, files: Collection[str]) -> list[Note]:
    """Remove the report of another selection, which would be taken for that of this one."""
    stale = out / REPORT
    if REPORT in files or not stale.is_file():
        return []
    stale.unlink()
    return [Note("removed", f"{REPORT} of an earlier selection was removed from {str(out)!r}")]


def contents(selection: Selection, findings: Findings | None) -> dict[str, str]:
    """The files to write, by name."""
    files = {"selected.csv": selected_csv(selection), "selection.json": selection.to_json()}
    return files if findings is None else files | {REPORT: render(findings)}


def fit(table: LabelledTable, settings: Settings) -> tuple[Any, list[Note]]:
    """A fitted selector, and what it warned of."""
    selector, notes = make_selector(table, settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        selector.fit(table.X, table.y)
    texts = dict.fromkeys(" ".join(str(each.message).split()).rstrip(".") for each in caught)
    return selector, [*notes, *(Note("warning", text) for text in texts)]


def make_selector(table: LabelledTable, settings: Settings) -> tuple[Any, list[Note]]:
    """The selector that the options ask for; refuses options that it does not have."""
    if settings.tune:
        if settings.method != "dso" or settings.p is not None:
            raise click.UsageError("--tune chooses p for the method dso: leave out --p, and --method or set it to dso.")
        Cs = None if settings.C is None else [None if settings.C == HARD else settings.C]
        selector: Any = DSOSelectorCV(settings.k, Cs=Cs, cv=folds(table, settings.seed), n_jobs=settings.n_jobs)
    else:
        selector = METHODS[settings.method](settings.k, seed=settings.seed)
        known = selector.get_params()
        for name in ("p", "C"):
            if getattr(settings, name) is not None and name not in known:
                raise click.UsageError(f"--{name} is no setting of the method {settings.method}.")
        usable = [name for name in ("p", "C", "n_jobs") if known.get(name, DEPRECATED) != DEPRECATED]
        given = {name: getattr(settings, name) for name in usable}
        selector.set_params(
            **{name: None if value == HARD else value for name, value in given.items() if value is not None}
        )
    return selector, [*with_groups(selector, table, settings.method), *at_most_all(selector, table)]


def with_groups(selector: Any, table: LabelledTable, method: str) -> list[Note]:
    """Let the selector know which features belong together, or say that it knows no groups."""
    if table.feature_groups is None:
        return []
    if "feature_groups" not in selector.get_params():
        text = f"the method {method} knows no groups: features that belong together are ranked one by one"
        return [Note("groups", f"{text}, and -k counts each of them")]
    selector.set_params(feature_groups=table.feature_groups)
    return []


def at_most_all(selector: Any, table: LabelledTable) -> list[Note]:
    """Ask for no more than there is, and say so once: the selector would warn of it in every resample."""
    wanted, groups = selector.n_features_to_select, getattr(selector, "feature_groups", None)
    available = table.X.shape[1] if groups is None else len(np.unique(groups))
    if wanted <= available:
        return []
    selector.set_params(n_features_to_select=available)
    what = "features" if groups is None else "features and groups of features"
    return [Note("all features", f"-k {wanted:,} is more than the {available:,} {what} there are: all were selected")]


def folds(table: LabelledTable, seed: int) -> Any:
    """Folds for tuning: samples that belong together stay together."""
    if table.sample_groups is None:
        return FOLDS
    splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    return list(splitter.split(table.X, table.y, table.sample_groups))


def selector_parameters(selector: Any, settings: Settings) -> dict[str, Any]:
    """The settings that were used, tuned ones by their values; plain values only."""
    plain = (int, float, str, bool, type(None))
    parameters = {name: value for name, value in selector.get_params(deep=False).items() if isinstance(value, plain)}
    if settings.tune:
        parameters |= {"p": float(selector.best_p_), "C": selector.best_C_, "tuned": True}
    return {**parameters, "seed": settings.seed}


def selected_csv(selection: Selection) -> str:
    """One line per feature, the best first; how often each was chosen over resamples, where that was found out.

    And its group, where some were selected together.
    """
    known = all(feature.frequency is not None for feature in selection.features)
    grouped = any(feature.group is not None for feature in selection.features)
    header = ["rank", "feature", "score", *["frequency"] * known, *["group"] * grouped]
    rows = [[f.rank, f.name, f.score, *[f.frequency] * known, *[f.group or ""] * grouped] for f in selection.features]
    return csv_text(header, rows)


def summarise(selection: Selection, selector: Any, findings: Findings | None, notes: list[Note]) -> dict[str, Any]:
    """What a program that called the command wants to know."""
    chosen = ("rank", "name", "index", "score", "frequency", "group")
    gap = getattr(selector, "duality_gap_", None)
    return {
        "selected": [{name: getattr(feature, name) for name in chosen} for feature in selection.features],
        "method": selection.method,
        "parameters": selection.parameters,
        "classes": selection.classes,
        "status": getattr(selector, "status_", None),
        "duality_gap": gap if gap is None or gap == gap else None,
        "data": selection.data,
        "notes": [asdict(note) for note in notes],
        "examined": None if findings is None else figures(findings),
    }


def figures(findings: Findings) -> dict[str, Any]:
    """The figures at the head of the report."""
    curve, test = findings.accuracy, findings.permutation
    return {
        "grade": grade(findings).name.lower(),
        "accuracy": curve.at_k,
        "accuracy_deviation": curve.deviation_at_k,
        "accuracy_of_all_features": curve.all_features,
        "balanced_accuracy": None if findings.balanced is None else findings.balanced.mean,
        "classes_not_tested": None if findings.balanced is None else findings.balanced.untested,
        "chance": curve.chance,
        "p_value": None if test is None else test.p_value,
        "stability": findings.stability.at_k,
        "one_standard_error_k": curve.one_se_k,
    }


def print_selection(selection: Selection, findings: Findings | None, paths: dict[str, str]) -> None:
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
    console.print(Text(f"Written: {', '.join(paths.values())}"), soft_wrap=True)
