"""From a file to the features that separate its classes, and how far to trust them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils.validation import has_fit_parameter

from dsofs.environment import Progress, Stopwatch
from dsofs.examination.examine import check_image, examine
from dsofs.examination.findings import Findings, Plan
from dsofs.examination.record import Source
from dsofs.examination.resampling import TIME_LIMIT
from dsofs.files import write_folder
from dsofs.methods import METHODS
from dsofs.methods.dso.cross_validation import DSOSelectorCV
from dsofs.methods.dso.fit import AUTO
from dsofs.report.sections import render
from dsofs.statistics import Samples
from dsofs.tables.counts import NONE as NO_TRANSFORM
from dsofs.tables.counts import TRANSFORMS, TransformRecord, note_counts
from dsofs.tables.features import IMPUTES
from dsofs.tables.known import KnownColumns
from dsofs.tables.labelled import LabelledTable, read_labelled
from dsofs.tables.readers import Note
from dsofs.tables.selection import Selection
from dsofs.tables.writers import csv_text
from dsofs.validation import ANY_INT, BOOLEAN, DEPRECATED, NONE, broken_rules, integer, options, real, refuse

FOLDS = 5
ALL_CORES = -1
HARD = "hard"  # word for hard margins, the C=None of DSOSelector
REPORT = "report.html"
OVERHEAD = 3.0  # seconds of a time limit for what is not resampling: starting Python, describing, writing
# What the user knows, and the parameter of the selector that takes it.
TAKEN_BY = {"covariates": "penalty_factor", "include": "include", "never": "exclude", "costs": "penalty_factor"}
RULES = {
    "k": integer(1),
    "method": options(*METHODS),
    "p": NONE | real(0, 2),
    "C": NONE | real(0) | options(AUTO, HARD),
    "tune": BOOLEAN,
    "random_state": ANY_INT,
    "impute": options(*IMPUTES),
    "transform": options(NO_TRANSFORM, *TRANSFORMS),
    "n_resamples": NONE | integer(2),
    "n_permutations": NONE | integer(0),
    "time_limit": NONE | real(0),
}


@dataclass(frozen=True)
class TableSelection:
    """What was selected from a file, and what is known about it."""

    selection: Selection
    selector: Any  # fitted on all samples
    findings: Findings | None  # of the report; None without one
    notes: tuple[Note, ...]  # what is odd about the data, and what the method warned of
    seconds: dict[str, float]  # by stage
    files: dict[str, Path]  # that were written, by name


def select_table(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    k: int = 20,
    method: str = "dso",
    p: float | None = None,
    C: float | str | None = None,
    tune: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    report: bool = True,
    n_resamples: int | None = None,
    n_permutations: int | None = None,
    time_limit: float | None = TIME_LIMIT,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "C",
    groups: str | int | None = None,
    target_file: str | os.PathLike[str] | None = None,
    drop: Sequence[str | int] = (),
    keep: Sequence[str | int] = (),
    feature_groups: str | os.PathLike[str] | None = None,
    impute: str = "none",
    transform: str = NO_TRANSFORM,
    covariates: Sequence[str | int] = (),
    include: Sequence[str | int] = (),
    never: Sequence[str | int] = (),
    costs: str | os.PathLike[str] | None = None,
    weight: str | int | None = None,
    out: str | os.PathLike[str] | None = None,
    command: str | None = None,
    progress: Progress | None = None,
    on_selected: Callable[[TableSelection], None] | None = None,
    on_plan: Callable[[Plan], None] | None = None,
) -> TableSelection:
    """Select the features of a file that separate its classes: what ``dsofs select`` does.

    Parameters
    ----------
    path : path
        The file; its content decides how it is read.
    target : str, int or None, default=None
        The label: a column's name, or its position. None where the file holds just one.
    k : int, default=20
        Features to select; a group of features counts as one, where the method handles groups.
    method : str, default="dso"
        One of ``METHODS``.
    p : float or None, default=None
        Power of the norm, for dso and rfs. None is the method's default.
    C : float, "auto", "hard" or None, default=None
        Cost of samples on the wrong side, for dso; "hard" allows none. None is the method's default.
    tune : bool, default=False
        Choose p by cross-validation (dso only).
    random_state : int, default=0
        Random seed: the same seed gives the same results.
    n_jobs : int or None, default=None
        Cores; None is one for tuning and all for the report.
    report : bool, default=True
        Examine the selection: accuracy, stability, a permutation test, labels to check.
    n_resamples, n_permutations, image_shape, image_order
        Of the examination: see :func:`dsofs.report.examine`.
    time_limit : float or None, default=60
        Seconds that everything should take, reading and selecting included: the numbers of resamples and permutations
        that are None are chosen to fit. The smallest numbers are used even if they take longer; None is no limit.
    groups : str, int or None, default=None
        The column that says which samples belong together (a patient, a batch).
    target_file, drop, keep, feature_groups, impute
        How the file is read: see :func:`dsofs.tables.labelled.read_labelled`.
    transform : {"none", "log", "binary", "tf-idf"}, default="none"
        How counts are transformed before features are selected and scored, learned on the training part of every
        resample: log(1 + x); whether x > 0; or tf-idf, in which every sample has length 1 (see
        :mod:`dsofs.tables.counts`).
    covariates : sequence of str or int, default=()
        Columns to adjust for (age, sex, batch), in every resample too: they are in the model without penalty and are
        never selected. Text is encoded as categories. For dso, as are the next three.
    include : sequence of str or int, default=()
        Columns that are always selected, first and in this order, and counted in k.
    never : sequence of str or int, default=()
        Columns that are never selected.
    costs : path or None, default=None
        A file of lines ``feature, factor``: what the penalty of these features is multiplied by; that of others, by 1.
    weight : str, int or None, default=None
        The column of the weights of the samples, above 0, for methods that take them. It weighs the selection; the
        accuracies of the report count every sample once.
    out : path or None, default=None
        A folder for selected.csv and selection.json, which are written as soon as the features are selected, and for
        report.html, with which they are written again: how often each feature was chosen is known then. None writes
        nothing.
    command : str or None, default=None
        What the record of the report says this was called with.
    progress : callable, default=None
        Called with (stage, steps done, steps of the stage).
    on_selected : callable, default=None
        Called with what is known once the features are selected and written: all but the findings.
    on_plan : callable, default=None
        Called with the number of resamples and permutations when it is fixed.

    Returns
    -------
    TableSelection

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from dsofs import select_table
    >>> wine, folder = load_wine(), TemporaryDirectory()
    >>> table = Path(folder.name) / "wine.npz"
    >>> np.savez(table, X=wine.data, y=wine.target, feature_names=wine.feature_names)
    >>> found = select_table(table, k=3, n_resamples=5, n_permutations=9, n_jobs=1, out=folder.name)
    >>> found.selection.names
    ['proline', 'color_intensity', 'flavanoids']
    >>> round(found.findings.accuracy.at_k, 1)
    0.9
    >>> sorted(found.files)
    ['report.html', 'selected.csv', 'selection.json']
    >>> folder.cleanup()
    """
    refuse(broken_rules(RULES, locals(), "select_table").values())
    watch = Stopwatch()
    selector = make_selector(k, method, p, C, tune, random_state, n_jobs)
    known: dict[str, Any] = {
        "covariates": covariates,
        "include": include,
        "never": never,
        "costs": costs,
        "weight": weight,
    }
    _refuse_unknown(selector, method, known)
    transformer = TRANSFORMS[transform]() if transform != NO_TRANSFORM else None
    if transformer is not None and covariates:
        raise ValueError("'transform' is for counts, and would change the covariates too: leave out one of the two.")
    with watch.stage("reading", progress):
        table = read_labelled(path, target, target_file=target_file, drop=drop, keep=keep,
                              feature_groups=feature_groups, sample_groups=groups, impute=impute, **known)  # fmt: skip
    check_image(image_shape, image_order, len(table.features))
    with watch.stage("selecting", progress):
        values = table if transformer is None else replace(table, X=transformer.fit_transform(table.X))
        counted = note_counts(table.X) if transformer is None else []
        notes = [*table.notes, *counted, *_suited(selector, table, method, random_state), *_fit(selector, values)]
    parameters = _parameters(selector, random_state) | table.known.record
    selection = Selection.of(table, selector, method, parameters)
    if transformer is not None:
        selection = replace(selection, transform=TransformRecord.of(transform, transformer, table.features))
    files: dict[str, Path] = {}
    if out is not None:
        stale = _remove_stale(Path(out))
        notes += [] if report else stale
        files = write_folder(Path(out), _contents(selection))
    found = TableSelection(selection, selector, None, tuple(notes), watch.laps, files)
    if on_selected is not None:
        on_selected(found)
    if not report:
        return found
    findings = examine(
        table.X, table.y, selector,
        feature_names=[*table.names, *table.known.covariate_names],
        sample_names=table.sample_names or [str(number) for number in range(1, len(table.y) + 1)],
        groups=table.sample_groups,
        covariates=table.known.covariates,
        sample_weight=table.known.sample_weight,
        transform=transformer,
        image_shape=image_shape,
        image_order=image_order,
        n_resamples=n_resamples,
        n_permutations=n_permutations,
        time_limit=None if time_limit is None else max(0.0, time_limit - sum(watch.laps.values()) - OVERHEAD),
        random_state=random_state,
        n_jobs=ALL_CORES if n_jobs is None else n_jobs,
        source=Source(table.file, table.sha256, command, tuple(note.sentence for note in notes), dict(watch.laps),
                      table.leaking, table.repeated_ids),
        progress=progress,
        on_plan=on_plan,
    )  # fmt: skip
    watch.lap("examining")
    seconds = findings.origin.seconds
    selection = selection.with_frequencies([feature.frequency for feature in findings.chosen])
    if out is not None:
        contents = _contents(selection) | {REPORT: render(findings)}
        seconds = seconds | {"drawing": watch.lap("drawing")}
        files = write_folder(Path(out), contents)
    return replace(found, selection=selection, findings=findings, seconds=seconds, files=files)


def make_selector(
    k: int, method: str, p: float | None, C: float | str | None, tune: bool, seed: int, n_jobs: int | None
) -> Any:
    """The selector that these settings ask for; refuses those that it does not have."""
    if tune:
        if method != "dso" or p is not None:
            raise ValueError("'tune' chooses p for the method dso: leave out 'p', and 'method' or set it to dso.")
        return DSOSelectorCV(k, Cs=None if C is None else [_cost(C)], cv=FOLDS, n_jobs=n_jobs)
    selector = METHODS[method](k, seed=seed)
    known, given = selector.get_params(), {"p": p, "C": C}
    for name, value in given.items():
        if value is not None and name not in known:
            raise ValueError(
                f"{name!r} is not a setting of the method {method}: leave it out, or choose another method."
            )
    wanted = {name: _cost(value) for name, value in {**given, "n_jobs": n_jobs}.items() if value is not None}
    return selector.set_params(
        **{name: value for name, value in wanted.items() if known.get(name, DEPRECATED) != DEPRECATED}
    )


def _refuse_unknown(selector: Any, method: str, given: Mapping[str, Any]) -> None:
    """Refuse what the user knows and the method cannot take into account."""
    for name, parameter in TAKEN_BY.items():
        if given[name] and parameter not in selector.get_params():
            raise ValueError(
                f"{name!r} is for the method dso, and {method} does not accept it: leave it out, or choose dso."
            )
    if given["weight"] is not None and not has_fit_parameter(selector, "sample_weight"):
        raise ValueError(f"The method {method} takes no weights: leave out 'weight', or choose another method.")


def _cost(C: Any) -> Any:
    """The C of the selector."""
    return None if C == HARD else C


def _suited(selector: Any, table: LabelledTable, method: str, seed: int) -> list[Note]:
    """Pass what is known about the table to the selector, and ask for no more features than there are."""
    selector.set_params(**_known_parameters(table.known))
    if table.sample_groups is not None and isinstance(selector, DSOSelectorCV):
        splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
        selector.set_params(cv=list(splitter.split(table.X, table.y, table.sample_groups)))
    return [*_with_groups(selector, table, method), *_at_most_all(selector, table)]


def _known_parameters(known: KnownColumns) -> dict[str, Any]:
    """Covariates are not penalised, and costs multiply penalties."""
    free = {column: 0.0 for columns in known.covariates.values() for column in columns}
    given = {"penalty_factor": known.costs | free, "include": known.include, "exclude": known.never}
    return {name: value for name, value in given.items() if value}


def _with_groups(selector: Any, table: LabelledTable, method: str) -> list[Note]:
    """Let the selector know which features belong together, or say that it knows no groups."""
    if table.feature_groups is None:
        return []
    if "feature_groups" not in selector.get_params():
        text = f"the method {method} does not handle groups: features that belong together are ranked one by one"
        return [Note("groups", f"{text}, and k counts each of them")]
    selector.set_params(feature_groups=table.feature_groups)
    return []


def _at_most_all(selector: Any, table: LabelledTable) -> list[Note]:
    """Ask for no more than there is, and say so once: the selector would warn of it in every resample."""
    wanted, groups = selector.n_features_to_select, getattr(selector, "feature_groups", None)
    group_of = np.arange(len(table.features)) if groups is None else np.asarray(groups)[: len(table.features)]
    available = len(np.setdiff1d(group_of, group_of[table.known.never]))
    if wanted <= available:
        return []
    selector.set_params(n_features_to_select=available)
    what = "features" if groups is None else "features and groups of features"
    return [Note("all features", f"k = {wanted:,} is more than the {available:,} {what} there are: all were selected")]


def _fit(selector: Any, table: LabelledTable) -> list[Note]:
    """Fit the selector; returns what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        Samples(table.X, table.y, weight=table.known.sample_weight).fit(selector)
    texts = dict.fromkeys(" ".join(str(each.message).split()).rstrip(".") for each in caught)
    return [Note("warning", text) for text in texts]


def _parameters(selector: Any, seed: int) -> dict[str, Any]:
    """The settings that were used, tuned ones by their values; plain values only."""
    plain = (int, float, str, bool, type(None))
    parameters = {name: value for name, value in selector.get_params(deep=False).items() if isinstance(value, plain)}
    if isinstance(selector, DSOSelectorCV):
        parameters |= {"p": float(selector.best_p_), "C": selector.best_C_, "tuned": True}
    return {**parameters, "seed": seed}


def _contents(selection: Selection) -> dict[str, str]:
    """The files of the selection itself, by name."""
    return {"selected.csv": selected_csv(selection), "selection.json": selection.to_json()}


def _remove_stale(out: Path) -> list[Note]:
    """Remove the report of another selection, which could be mistaken for that of this one."""
    stale = out / REPORT
    if not stale.is_file():
        return []
    stale.unlink()
    return [Note("removed", f"{REPORT} of an earlier selection was removed from {str(out)!r}")]


def selected_csv(selection: Selection) -> str:
    """One line per feature, the best first; how often each was chosen over resamples, where that was found out.

    And its group, where some were selected together.
    """
    known = all(feature.frequency is not None for feature in selection.features)
    grouped = any(feature.group is not None for feature in selection.features)
    header = ["rank", "feature", "score", *["frequency"] * known, *["group"] * grouped]
    rows = [[f.rank, f.name, f.score, *[f.frequency] * known, *[f.group or ""] * grouped] for f in selection.features]
    return csv_text(header, rows)
