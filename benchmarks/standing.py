"""Where DSO stands on 34 data sets of many kinds, on which nobody tuned it: any method, three judges, three splits.

Each set is cut down to 3,000 samples in proportion of the classes and split 60/40, scaled on the training part. A
method selects once, at its defaults; its first k features are judged for each k. Selections and judgements are rows of
their own in ``results/standing``, so that a run goes on where it was stopped, and a new judge needs no new selections.
Means are taken within a kind of data first, then over the kinds.

A new contender is a file in ``contenders/standing`` with ``make(k, seed)``, which returns a selector; without the
package that it ``REQUIRES``, if it says so, it is left out. ``standing_choice`` is about the variants of DSO.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.contenders import contenders
from benchmarks.harness import RESULTS, pack, rows_of, unpack
from benchmarks.standing_summary import draw_summary
from benchmarks.standing_tables import draw
from benchmarks.standing_variants import VARIANTS
from dsofs import METHODS
from dsofs.experiments import CLEAN, REFERENCE, Row, append_row, read_rows
from dsofs.experiments.cells import ranked, tune
from dsofs.files import sole_writer
from dsofs.methods import Method
from dsofs.statistics.classifier import scores, svm_scores
from dsofs.statistics.samples import Samples, Split

STUDY = "standing/rows"
ROWS = RESULTS / f"{STUDY}.jsonl"
KS = (5, 10, 20, 50, 100)
SPLITS = 3
MOST_SAMPLES = 3_000
LIMIT = 600.0  # seconds of a selection, or of a judgement
TIMED_OUT = "timed out"
MEASURES = ("accuracy", "balanced_accuracy")
PROTOCOL = replace(CLEAN, name="standing", svm_Cs=(0.01, 0.1, 1.0, 10.0), most_folds=3)
KINDS = {
    "faces": ("ar", "orl", "umist"),
    "digits": ("semeion", "mnist_4v9"),
    "speech": ("isolet",),
    "microarray": (
        "tox_171", "brain_tumor_1", "leukemia_mll", "khan83", "desouto_lapointe_2004_v2", "desouto_tomlins_2006_v1",
        "desouto_yeoh_2002_v2", "du_breast3", "subramanian", "shipp", "desouto_ramaswamy_2001", "desouto_nutt_2003_v1",
        "liver_toxicity", "su", "apcolon", "desouto_bredel_2005", "desouto_bhattacharjee_2001",
    ),
    "methylation": ("christensen",),
    "array CGH": ("gravier",),
    "spectra": ("meat_nir",),
    "microbiome counts": ("hmp_16s",),
    "single cells": ("pbmc68k_reduced", "sc_pollen"),
    "text": ("cora_os", "webkb_wisconsin"),
    "EEG": ("eeg_bci2_iv",),
    "time series": ("acsf1",),
    "fingerprints": ("qsar_pld_fp",),
}  # fmt: skip
DATA = tuple(name for names in KINDS.values() for name in names)
# Those that the choice of a default is about come first.
FIRST = ("dso", "mrmr", "multitask_lasso", "svm_rfe", "f_test", "fastcan")
LAST = ("l1_svm", "rfs", "lasso", "relieff", "abess")

Rankings = Mapping[str, tuple[np.ndarray, float]]  # method -> its features, best first, and the seconds they took


@dataclass(frozen=True)
class Contender:
    """What selects: one method, or several that share most of their work."""

    methods: tuple[str, ...]
    rank: Callable[[Split, int, int], Rankings]  # split, number of features, seed
    raw: bool = False  # wants the data as they are, not scaled


def selected_by(name: str, method: Method, split: Split, depth: int, seed: int) -> Rankings:
    """A fit on a few samples comes first, so that packages are loaded and compiled when the clock starts."""
    few = np.random.default_rng(0)
    method(2, seed=seed).fit(few.normal(size=(12, 5)), np.arange(12) % 2)
    clock = time.perf_counter()
    selector = method(depth, seed=seed).fit(split.training.X, split.training.y)
    return {name: (ranked(selector, depth), time.perf_counter() - clock)}


def all_contenders() -> dict[str, Contender]:
    """In the order of a run: METHODS, all features, the files of ``contenders/standing``, and variants of DSO."""
    modules = {module.__name__.rpartition(".")[2]: module for module in contenders("standing")}
    modules = {name: module for name, module in modules.items() if find_spec(getattr(module, "REQUIRES", "numpy"))}
    made: dict[str, Contender] = {}
    names = (*FIRST, *REFERENCE, *modules, *LAST, *(name for name in METHODS if name not in FIRST + LAST))
    for name in names:
        method = REFERENCE.get(name) or (Method(modules[name].make) if name in modules else METHODS[name])
        raw = getattr(modules.get(name), "RAW", False)
        made[name] = Contender((name,), partial(selected_by, name, method), raw)
    return made | {name: Contender(methods, rank) for name, (methods, rank) in VARIANTS.items()}


def tuned_svm(split: Split, seed: int) -> dict[str, float]:
    """A linear SVM, its C by three folds of the training part."""
    n_features = split.training.X.shape[1]
    (choice,) = tune(REFERENCE["all_features"], {}, PROTOCOL, split.training, seed, [n_features])
    return svm_scores(split, np.arange(n_features), choice.svm_C, PROTOCOL.svm_max_iter).scores


def plain_svm(split: Split, seed: int) -> dict[str, float]:
    """A linear SVM with C = 1."""
    return svm_scores(split, np.arange(split.training.X.shape[1]), PROTOCOL.svm_C, PROTOCOL.svm_max_iter).scores


def forest(split: Split, seed: int) -> dict[str, float]:
    return predicted(RandomForestClassifier(random_state=seed), split)


def neighbours(split: Split, seed: int) -> dict[str, float]:
    return predicted(KNeighborsClassifier(5), split)


def predicted(model: Any, split: Split) -> dict[str, float]:
    model.fit(split.training.X, split.training.y)
    return scores(split.test.y, model.predict(split.test.X))


JUDGES: dict[str, Callable[[Split, int], dict[str, float]]] = {
    "svm": tuned_svm,
    "svm_C1": plain_svm,
    "forest": forest,
    "neighbours": neighbours,
}


def path_of(name: str) -> Path:
    folder = Path(os.environ["DSOFS_DATA"])
    path = folder / f"{name}.npz"
    return path if path.exists() else folder / "more" / f"{name}.npz"


def samples_of(name: str) -> Samples:
    """At most so many samples as are allowed, the classes in proportion."""
    with np.load(path_of(name)) as file:
        X, y = file["X"].astype(np.float64), file["y"]
    if len(y) > MOST_SAMPLES:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_SAMPLES, random_state=0, stratify=y)
    return Samples(X, y)


def select(contender: Contender, data: str, seed: int) -> list[Row]:
    """A row for each method of the contender."""
    split = replace(PROTOCOL, leaky_scaling=contender.raw).split(samples_of(data), seed)  # raw: not scaled here
    n_features = split.training.X.shape[1]
    everything = contender.methods == tuple(REFERENCE)
    depth = n_features if everything else min(max(KS), n_features)
    rows = []
    for method, (features, seconds) in contender.rank(split, depth, seed).items():
        values = {"n_features": n_features, "features": None if everything else features.tolist()}
        rows.append(Row(data, method, seed, {}, seconds=seconds, values=values))
    return rows


def judged(selection: Row, judges: Iterable[str]) -> list[Row]:
    """A row for each judge: accuracy and balanced accuracy at every k."""
    samples, features = samples_of(selection.data), selection.values["features"]
    chosen = samples if features is None else replace(samples, X=samples.X[:, features])
    split = PROTOCOL.split(chosen, selection.seed)
    ks = (None,) if features is None else KS
    parts = [Split(*(replace(side, X=side.X[:, :k]) for side in (split.training, split.test))) for k in ks]
    rows = []
    for name in judges:
        clock = time.perf_counter()
        found = [JUDGES[name](part, selection.seed) for part in parts]
        values = {measure: [round(each[measure], 6) for each in found] for measure in MEASURES}
        seconds = time.perf_counter() - clock
        rows.append(replace(selection, parameters={"judge": name}, seconds=seconds, values=values))
    return rows


def within_limit(work: Callable[[], list[Row]], expected: list[Row]) -> list[Row]:
    """What the work returns, done in a process of its own that is ended at the limit; else why there is nothing."""
    server = multiprocessing.get_context("forkserver")  # its processes start without threads, what is slow imported
    server.set_forkserver_preload(["benchmarks.standing_variants", "sklearn.ensemble", "sklearn.neighbors"])
    receiver, sender = server.Pipe(duplex=False)
    process = server.Process(target=_send, args=(work, sender))
    process.start()
    sender.close()
    try:
        answer: Any = receiver.recv() if receiver.poll(LIMIT) else TIMED_OUT
    except EOFError:
        answer = "the process ended"
    process.kill()
    process.join()
    return [replace(row, values={"failed": answer}) for row in expected] if isinstance(answer, str) else answer


def _send(work: Callable[[], list[Row]], sender: Any) -> None:
    warnings.simplefilter("ignore")
    try:
        sender.send(work())
    except Exception as error:  # whatever a package raises is a result too
        sender.send(f"{type(error).__name__}: {error}")


def measure(contender: Contender, data: str, seed: int, judges: Iterable[str], done: dict[Any, Row]) -> None:
    """The selections and judgements of a cell that are not in the results file yet."""
    selections = [Row(data, method, seed) for method in contender.methods]
    if any(row.key not in done for row in selections):
        _keep(within_limit(partial(select, contender, data, seed), selections), done)
    for selection in (done[row.key] for row in selections):
        missing = [replace(selection, parameters={"judge": name}) for name in judges]
        missing = [row for row in missing if row.key not in done]
        if missing and "failed" not in selection.values:
            work = partial(judged, selection, [row.parameters["judge"] for row in missing])
            _keep(within_limit(work, missing), done)


def _keep(rows: Iterable[Row], done: dict[Any, Row]) -> None:
    for row in rows:
        if row.key not in done:
            done[row.key] = row
            append_row(ROWS, row)


@click.command()
@click.option("--methods", default="", help="Contenders, separated by commas; all but the variants of DSO if empty.")
@click.option("--data", default="", help="Data sets or kinds of data, separated by commas; all if empty.")
@click.option("--splits", default=SPLITS, show_default=True)
@click.option("--judges", default=",".join(JUDGES), show_default=True)
@click.option("--workers", default=os.cpu_count(), show_default=True, help="Cells that run side by side.")
@click.option("--tables-only", is_flag=True, help="Only draw the tables from the rows.")
def main(methods: str, data: str, splits: int, judges: str, workers: int, tables_only: bool) -> None:
    """Goes on where it was stopped. Set OMP_NUM_THREADS=1 where there are several workers."""
    if not tables_only:
        known = all_contenders()
        chosen = _listed(methods) or [name for name in known if name not in VARIANTS]
        names = [name for word in _listed(data) for name in KINDS.get(word, (word,))] or list(DATA)
        unpack(STUDY)
        run(product(range(splits), chosen, names), known, _listed(judges), workers)
        pack(STUDY)
    draw(rows_of(STUDY), KINDS, KS)
    draw_summary(rows_of(STUDY), KINDS, KS)


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


def run(cells: Iterable[tuple[int, str, str]], known: Mapping[str, Contender], judges: list[str], workers: int) -> None:
    """Split by split, so that the first has something to say about all methods."""
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    with sole_writer(ROWS), ThreadPoolExecutor(workers) as pool:
        done = {row.key: row for row in read_rows(ROWS)}
        jobs = [pool.submit(measure, known[name], data, seed, judges, done) for seed, name, data in cells]
        for number, job in enumerate(jobs, 1):
            job.result()
            print(f"\r{number} of {len(jobs)} cells", end="", flush=True)


if __name__ == "__main__":
    main()
