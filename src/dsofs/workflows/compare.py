"""Methods side by side on a file of a user's own, with no leak from the test samples."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from dsofs.design.budget import DOUBLE
from dsofs.design.linalg import dense
from dsofs.experiments import ALL_FEATURES, CLEAN, REFERENCE, CellsFailedError, Protocol, RunProgress, run
from dsofs.experiments.results import Row, read_rows
from dsofs.experiments.side_by_side import Asked, SideBySide, last_asked, remember, side_by_side
from dsofs.files import write_folder
from dsofs.methods import METHODS, Method
from dsofs.report.compared import render_comparison
from dsofs.statistics import Samples
from dsofs.tables.features import IMPUTES
from dsofs.tables.labelled import LabelledTable, read_labelled
from dsofs.tables.readers import Note
from dsofs.tables.readers.source import refuse_too_big
from dsofs.tables.writers import csv_text
from dsofs.validation import ARRAY_LIKE, BOOLEAN, NONE, Rule, broken_rules, integer, options, refuse

DEFAULT_METHODS = ("dso", "multitask_lasso", "l1_svm", "f_test")
HEADER = ("method", "k", "accuracy", "accuracy_std", "balanced_accuracy", "macro_f1", "seconds", "trials")
QUICK_TRIALS = 5
ROWS = "rows.jsonl"


def _some(rule: Rule, words: str) -> Rule:
    """A sequence of at least one value."""
    return Rule(lambda given: ARRAY_LIKE.test(given) and len(given) > 0 and all(map(rule.test, given)), words)


RULES = {
    "methods": _some(options(*METHODS), f"some of {', '.join(METHODS)}"),
    "ks": _some(integer(1), "numbers of features, each an int of at least 1"),
    "trials": NONE | integer(1),
    "quick": BOOLEAN,
    "impute": options(*IMPUTES),
}


@dataclass(frozen=True)
class TableComparison:
    """What methods reached on a file."""

    results: list[dict[str, Any]]  # means over the trials, a line for each method and number of features
    measured: SideBySide  # every trial, and what is more than chance
    notes: tuple[Note, ...]  # what is odd about the data
    files: dict[str, Path]  # that were written, by name


def compare_table(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    methods: Sequence[str] = DEFAULT_METHODS,
    ks: Sequence[int] = (10, 20, 50),
    trials: int | None = None,
    quick: bool = False,
    n_jobs: int | None = None,
    groups: str | int | None = None,
    target_file: str | os.PathLike[str] | None = None,
    drop: Sequence[str | int] = (),
    keep: Sequence[str | int] = (),
    feature_groups: str | os.PathLike[str] | None = None,
    impute: str = "none",
    out: str | os.PathLike[str] | None = None,
    command: str | None = None,
    on_read: Callable[[LabelledTable], None] | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> TableComparison:
    """Compare how well the features that methods select from a file separate its classes: what ``dsofs compare`` does.

    In each trial the samples are split 6:4. Features are chosen and everything is tuned on the training part alone; a
    linear SVM on the chosen features is scored on the rest.

    Parameters
    ----------
    path : path
        The file; its content decides how it is read.
    target : str, int or None, default=None
        The label: a column's name, or its position. None where the file holds just one.
    methods : sequence of str, default=("dso", "multitask_lasso", "l1_svm", "f_test")
        Names in ``METHODS``.
    ks : sequence of int, default=(10, 20, 50)
        Numbers of features; those that are larger than the number there are left out.
    trials : int or None, default=None
        Random splits. None is 10, or 5 if ``quick``.
    quick : bool, default=False
        Tune nothing: methods with their defaults, and an SVM with C = 1.
    n_jobs : int or None, default=None
        Fits in parallel, as joblib understands it.
    groups : str, int or None, default=None
        The column that says which samples belong together (a patient, a batch).
    target_file, drop, keep, feature_groups
        How the file is read: see :func:`dsofs.tables.labelled.read_labelled`.
    impute : {"none", "median", "most-frequent", "knn"}, default="none"
        How missing values are filled, in each split from its training samples alone; "none" refuses them.
    out : path or None, default=None
        A folder for results.csv, report.html and rows.jsonl, which is written as it goes: the same call goes on where
        it was stopped. None keeps nothing.
    command : str or None, default=None
        What the record of the report says this was called with.
    on_read : callable, default=None
        Called with the table when it has been read: its notes may be a reason to stop.
    progress : callable, default=None
        Called at the start and after every fit with a :class:`dsofs.experiments.RunProgress`.

    Returns
    -------
    TableComparison

    Raises
    ------
    CellsFailedError
        If some fits failed; the others are kept in ``out``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from dsofs import compare_table
    >>> wine, folder = load_wine(), TemporaryDirectory()
    >>> table = Path(folder.name) / "wine.npz"
    >>> np.savez(table, X=wine.data, y=wine.target, feature_names=wine.feature_names)
    >>> found = compare_table(table, methods=["dso", "f_test"], ks=[3], trials=3, quick=True)
    >>> [(line["method"], line["k"], round(line["accuracy"], 1)) for line in found.results]
    [('dso', 3, 0.9), ('f_test', 3, 0.9), ('all_features', 'all', 1.0)]
    >>> folder.cleanup()
    """
    refuse(broken_rules(RULES, locals(), "compare_table").values())
    for name in methods:  # make one of each: what needs a package that is missing says so before anything is run
        METHODS[name](1)
    table = read_labelled(path, target, target_file=target_file, drop=drop, keep=keep, feature_groups=feature_groups,
                          sample_groups=groups, impute="none" if impute == "none" else "keep")  # fmt: skip
    if on_read is not None:
        on_read(table)
    sizes = sorted(set(ks))
    with TemporaryDirectory() as temporary:
        folder = Path(temporary if out is None else out)
        how = protocol(quick, impute)
        refuse_other_comparison(folder, table, how, methods, sizes, trials or how.trials)
        rows = measure(table, methods, sizes, how, trials, n_jobs, folder / ROWS, progress)
        remember(folder / ROWS, asked(table, rows, how, command))
        results, measured = summarise(rows), side_by_side(folder / ROWS)
        contents = {} if out is None else {
            "results.csv": csv_text(HEADER, [[line[name] for name in HEADER] for line in results]),
            "report.html": render_comparison(measured),
        }  # fmt: skip
        return TableComparison(results, measured, table.notes, write_folder(folder, contents))


def refuse_other_comparison(
    out: Path, table: LabelledTable, protocol: Protocol, methods: Sequence[str], ks: list[int], trials: int
) -> None:
    """Refuse to overwrite the results of a comparison that this one does not go on with."""
    before = last_asked(read_rows(out / ROWS))
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
        f"The folder {str(out)!r} holds a comparison {other}. Its results would be overwritten: give another 'out'."
    )


def protocol(quick: bool, impute: str) -> Protocol:
    """The clean protocol."""
    clean = CLEAN.untuned("clean, quick", trials=QUICK_TRIALS) if quick else CLEAN
    return clean if impute == "none" else replace(clean, name=f"{clean.name}, {impute} imputed", impute=impute)


def measure(
    table: LabelledTable,
    names: Sequence[str],
    ks: list[int],
    protocol: Protocol,
    trials: int | None,
    n_jobs: int | None,
    rows: Path,
    progress: Callable[[RunProgress], None] | None,
) -> list[Row]:
    """Rows of every method, trial and number of features; those in the file already are not run again."""
    n_features = table.X.shape[1]
    possible = [k for k in ks if k <= n_features]
    if not possible:
        raise ValueError(f"There are only {n_features} features, so k must not be larger than that.")
    methods = {name: grouped(METHODS[name], table.feature_groups) for name in names} | REFERENCE
    key = data_key(table)
    try:
        return run(
            rows, {key: samples_of(table)}, methods, protocol=protocol, ks=possible, trials=trials, n_jobs=n_jobs,
            progress=progress,
        )  # fmt: skip
    except CellsFailedError as error:  # there is one table, whose name says nothing
        failures = [failure.removeprefix(f"{key}, ") for failure in error.failures]
        raise CellsFailedError(failures, error.n_cells) from error


def data_key(table: LabelledTable) -> str:
    """The file by its name and everything that defines the data: another label or group is another comparison."""
    parts = [table.sha256, table.target, *map(str, table.y), *table.names]
    for name in ("feature_groups", "sample_groups"):
        groups = getattr(table, name)
        parts += [] if groups is None else [name, *map(str, groups)]
    content = "\n".join(parts)
    return f"{table.file} {sha256(content.encode()).hexdigest()[:12]}"


def asked(table: LabelledTable, rows: list[Row], protocol: Protocol, command: str | None) -> Asked:
    """What the rows compare, for the report."""
    names, counts = np.unique(table.y, return_counts=True)
    return Asked(
        data=data_key(table),
        file=table.file,
        sha256=table.sha256,
        command=command,
        protocol=protocol.name,
        methods=list(dict.fromkeys(row.method for row in rows if row.method != ALL_FEATURES)),
        ks=sorted({row.k for row in rows if row.k is not None}),
        trials=len({row.seed for row in rows}),
        n_samples=table.X.shape[0],
        n_features=table.X.shape[1],
        classes=dict(zip(map(str, names), counts.tolist(), strict=True)),
        notes=[note.sentence for note in table.notes],
    )


def samples_of(table: LabelledTable) -> Samples:
    if sparse.issparse(table.X):
        refuse_too_big(2 * DOUBLE * table.X.shape[0] * table.X.shape[1])
    groups = None if table.sample_groups is None else np.unique(table.sample_groups, return_inverse=True)[1]
    return Samples(dense(table.X), np.unique(table.y, return_inverse=True)[1], groups)


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
