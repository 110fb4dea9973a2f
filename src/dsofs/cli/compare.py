"""``dsofs compare``: methods side by side on a user's own data, with nothing of the test samples leaking."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

from dsofs import METHODS
from dsofs.arrays.memory import DOUBLE
from dsofs.cli import CALLED
from dsofs.cli.cores import cores_option
from dsofs.cli.output import csv_text, messages, sentence, show_notes, write_all
from dsofs.cli.problems import told_in_one_line
from dsofs.cli.table_options import read_given, split_names, table_options
from dsofs.cli.watch import watched
from dsofs.experiments import ALL_FEATURES, CLEAN, REFERENCE, CellsFailedError, Protocol, Row, run
from dsofs.experiments.imputed import with_gaps
from dsofs.experiments.side_by_side import Asked, last_asked, remember, side_by_side
from dsofs.methods import Method
from dsofs.report.compared import render_comparison
from dsofs.report.compared_verdict import headline
from dsofs.statistics import Samples
from dsofs.tables.labelled import LabelledTable
from dsofs.tables.readers.limits import refuse_too_big

DEFAULT_METHODS = "dso,multitask_lasso,l1_svm,f_test"
HEADER = ("method", "k", "accuracy", "accuracy_std", "balanced_accuracy", "macro_f1", "seconds", "trials")
QUICK_TRIALS = 5
ROWS = "rows.jsonl"


@click.command()
@table_options
@click.option("--methods", default=DEFAULT_METHODS, show_default=True, help="Names of methods, with commas.")
@click.option("-k", "ks", default="10,20,50", show_default=True, help="Numbers of features, with commas.")
@click.option("--trials", type=click.IntRange(1), help="Random splits; 10 if not given, 5 if quick.")
@click.option("--quick", is_flag=True, help="Tune nothing: methods as they come, and an SVM with C = 1.")
@cores_option()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the results.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def main(
    methods: str, ks: str, trials: int | None, quick: bool, n_jobs: int | None, out: Path, as_json: bool, **options: Any
) -> None:
    """Compare how well the features that METHODS select from FILE tell its classes apart.

    In each trial the samples are split 6:4. Features are chosen and everything is tuned on the training part alone; a
    linear SVM on the chosen features is judged on the rest. Writes results.csv and report.html into the folder given by
    --out, and rows.jsonl as it goes: the same command goes on where it was stopped, with more methods or trials if
    asked for. A folder that holds another comparison is refused. Exit codes: 0 done; 1 some fits failed; 2 the data or
    the options cannot be used; 130 interrupted.
    """
    console = messages()
    wanted = chosen_methods(methods)
    sizes = whole_numbers(ks)
    with told_in_one_line():
        require_packages(wanted)
        with console.status("Reading ..."):
            table = read_given(options, impute="none" if options["impute"] == "none" else "keep")
        show_notes(console, table.notes)
        how = protocol(sizes, quick, options["impute"])
        refuse_other_comparison(out, table, how, wanted, sizes, trials or how.trials)
        rows = compare(table, wanted, sizes, how, trials, n_jobs, out, console)
        remember(out / ROWS, asked(table, rows, how))
        lines = summarise(rows)
        found = side_by_side(out / ROWS)
        files = {"results.csv": results_csv(lines), "report.html": render_comparison(found)}
        write_all(out, files)
    paths = [str(out / name) for name in files]
    if as_json:
        notes = [asdict(note) for note in table.notes]
        click.echo(json.dumps({"results": lines, "notes": notes, "files": paths}, indent=2))
    else:
        print_lines(lines, sizes)
        for line in (f"{headline(found)}.", f"Written: {', '.join(paths)}"):
            Console().print(line, soft_wrap=True, highlight=False, markup=False)


def chosen_methods(given: str) -> list[str]:
    names = split_names((given,))
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        raise click.UsageError(f"--methods must be some of {', '.join(METHODS)}. Got {given!r} instead.")
    return names


def require_packages(methods: Iterable[str]) -> None:
    """Make one selector of each method: what needs a package that is missing says so before anything is run."""
    for name in methods:
        METHODS[name](1)


def refuse_other_comparison(
    out: Path, table: LabelledTable, protocol: Protocol, methods: list[str], ks: list[int], trials: int
) -> None:
    """Refuse to overwrite the results of a comparison that this one does not go on with."""
    before = last_asked(out / ROWS)
    if before is None:
        return
    if before.data != data_key(table):
        other = f"of {before.file!r} with another content, label, choice of features or groups"
    elif before.protocol != protocol.name:
        other = f"under the protocol {before.protocol!r}, and this is {protocol.name!r}"
    elif not (set(before.methods) <= set(methods) and set(before.ks) <= set(ks) and before.trials <= trials):
        asked = f"{', '.join(before.methods)}; k = {', '.join(map(str, before.ks))}; {before.trials} trials"
        other = f"of more than is asked for now ({asked})"
    else:
        return
    raise ValueError(
        f"The folder {str(out)!r} holds a comparison {other}. Its results would be overwritten: give another --out."
    )


def whole_numbers(given: str) -> list[int]:
    try:
        sizes = sorted({int(part) for part in split_names((given,))})
    except ValueError:
        sizes = []
    if not sizes or sizes[0] < 1:
        raise click.UsageError(f"-k must be numbers of features with commas, as 10,20,50. Got {given!r} instead.")
    return sizes


def protocol(ks: list[int], quick: bool, impute: str) -> Protocol:
    """The clean protocol, tuned at the largest number of features asked for."""
    clean = CLEAN.untuned("clean, quick", trials=QUICK_TRIALS) if quick else _tuned_at(max(ks))
    return clean if impute == "none" else with_gaps(clean, impute)


def _tuned_at(k: int) -> Protocol:
    return replace(CLEAN, name=f"clean, tuned at {k}", tuned_at=k)


def compare(
    table: LabelledTable,
    names: list[str],
    ks: list[int],
    protocol: Protocol,
    trials: int | None,
    n_jobs: int | None,
    out: Path,
    console: Console,
) -> list[Row]:
    """Rows of every method, trial and number of features; those in ``out`` already are not run again."""
    n_features = table.X.shape[1]
    possible = [k for k in ks if k <= n_features]
    if not possible:
        raise ValueError(f"There are only {n_features} features, so -k must not be larger than that.")
    methods = {name: grouped(METHODS[name], table.feature_groups) for name in names} | REFERENCE
    try:
        with watched(console) as progress:
            return run(
                out / ROWS,
                {data_key(table): samples_of(table)},
                methods,
                protocol=protocol,
                ks=possible,
                trials=trials,
                n_jobs=n_jobs,
                progress=progress,
            )
    except CellsFailedError as error:
        first = error.failures[0].removeprefix(f"{data_key(table)}, ")
        raise click.ClickException(
            f"{len(error.failures)} fits failed, the first: {first} The others are kept; the same command goes on."
        ) from error


def data_key(table: LabelledTable) -> str:
    """The file by its name and by all that makes the data: a changed file, label or group starts anew."""
    parts = [table.sha256, table.target, *map(str, table.y), *table.names]
    for name in ("feature_groups", "sample_groups"):
        groups = getattr(table, name)
        parts += [] if groups is None else [name, *map(str, groups)]
    content = "\n".join(parts)
    return f"{table.file} {sha256(content.encode()).hexdigest()[:12]}"


def asked(table: LabelledTable, rows: list[Row], protocol: Protocol) -> Asked:
    """What the rows compare, for the report to tell."""
    names, counts = np.unique(table.y, return_counts=True)
    return Asked(
        data=data_key(table),
        file=table.file,
        sha256=table.sha256,
        command=click.get_current_context().meta.get(CALLED),
        protocol=protocol.name,
        methods=list(dict.fromkeys(row.method for row in rows if row.method != ALL_FEATURES)),
        ks=sorted({row.k for row in rows if row.k is not None}),
        trials=len({row.seed for row in rows}),
        n_samples=table.X.shape[0],
        n_features=table.X.shape[1],
        classes=dict(zip(map(str, names), counts.tolist(), strict=True)),
        notes=[sentence(note) for note in table.notes],
    )


def samples_of(table: LabelledTable) -> Samples:
    X = table.X
    if sparse.issparse(X):
        refuse_too_big(2 * DOUBLE * X.shape[0] * X.shape[1])
        X = X.toarray()
    groups = None if table.sample_groups is None else np.unique(table.sample_groups, return_inverse=True)[1]
    return Samples(np.asarray(X, dtype=np.float64), np.unique(table.y, return_inverse=True)[1], groups)


def grouped(method: Method, groups: np.ndarray | None) -> Method:
    """The method on features that belong together, if it knows of such."""
    if groups is None or "feature_groups" not in method(1).get_params():
        return method
    return Method(partial(method.make, feature_groups=groups), method.grid)


def summarise(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Means over the trials, a line for each method and number of features."""
    cells: dict[tuple[str, int | None], list[Row]] = {}
    for row in rows:
        cells.setdefault((row.method, row.k), []).append(row)
    return [_line(method, k, found) for (method, k), found in cells.items()]


def _line(method: str, k: int | None, rows: list[Row]) -> dict[str, Any]:
    accuracy = np.array([row.score for row in rows], dtype=np.float64)
    return {
        "method": method,
        "k": "all" if k is None else k,
        "accuracy": float(accuracy.mean()),
        "accuracy_std": float(accuracy.std(ddof=min(1, len(rows) - 1))),
        "balanced_accuracy": float(np.mean([row.values["balanced_accuracy"] for row in rows])),
        "macro_f1": float(np.mean([row.values["macro_f1"] for row in rows])),
        "seconds": float(np.mean([row.seconds or 0.0 for row in rows])),
        "trials": len(rows),
    }


def results_csv(lines: list[dict[str, Any]]) -> str:
    return csv_text(HEADER, [[line[name] for name in HEADER] for line in lines])


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
