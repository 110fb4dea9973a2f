"""Hundreds to thousands of samples and features, today's fits against those of another commit and against others.

``python -m benchmarks.middle COMMIT``: all run in processes that stay alive, and take turns (see ``against``).
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from types import ModuleType

import click
import numpy as np
from scipy.sparse import csr_array, issparse

from benchmarks.against import ROOT, checked_out, start
from benchmarks.arena import ENOUGH, Answer, answer_of, environment, fit, in_words, stop
from benchmarks.data import available, load
from benchmarks.harness import keep, record, rows_of, write_table
from benchmarks.many_classes import around_centres
from benchmarks.sparse_wide import noise
from dsofs.experiments.results import Row

STUDY = "middle"
REAL = (
    "isolet", "semeion", "mnist_4v9", "umist", "more/cora_os", "more/webkb_wisconsin", "more/pbmc68k_reduced",
    "more/sc_citeseq_cbmc", "more/dorothea_train",
)  # fmt: skip
KINDS = {"default": "speed/dso_default", "p = 1, hard": "speed/dso"}
OTHERS = {"MultiTaskLasso": "speed/multitask_lasso", "LinearSVC": "middle/linear_svc"}
PEERS = {"skglm": "speed/skglm_multitask_lasso", "adelie": "speed/adelie_multinomial"}
WORSE = 1e-3  # a relative difference of objectives that counts

NO_SPARSE = "no sparse X"
TWICE = 2  # as long as one MultiTaskLasso, at most

Data = tuple[np.ndarray | csr_array, np.ndarray]


@click.command()
@click.argument("commit")
@click.option("--rounds", default=3, show_default=True)
@click.option("--limit", default=120.0, show_default=True, help="Seconds after which a fit is ended.")
@click.option("--samples", default=2000, show_default=True, help="At most so many of each real set.")
@click.option("--data", default="", help="Only data whose names hold this; the rows of others are kept.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice([*KINDS]), default=[*KINDS], show_default=True)
@click.option("--peers", is_flag=True, help="skglm and adelie too, in environments of their own.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(
    commit: str, rounds: int, limit: float, samples: int, data: str, kinds: tuple[str, ...], peers: bool, table: bool
) -> None:
    if not table:
        keep(STUDY, [row for row in rows_of(STUDY) if data not in row.data])
        with checked_out(commit) as old:
            for name, make in sets(samples).items():
                if data in name:
                    race(name, make(), entrants(old, kinds, peers), rounds, limit)
    draw(commit)


def sets(samples: int) -> dict[str, Callable[[], Data]]:
    synthetic: dict[str, Callable[[], Data]] = {
        "images 1440x1024x20": images,
        "counts 1943x3289x2": counts,
        "sparse 5000x200000x2": partial(noise, 5000, 200_000),
        "threes 3000x300x1000": threes,
    }
    return synthetic | {name.removeprefix("more/"): partial(real, name, samples) for name in available(REAL)}


def real(name: str, most: int) -> Data:
    """No more samples than that."""
    X, y = load(name, part=1.0)
    return (X, y) if len(y) <= most else load(name, part=most / len(y))


def images(seed: int = 0, m: int = 1440, side: int = 32, c: int = 20) -> Data:
    """Smooth pictures of objects that turn round, each object a class; standardised."""
    rng = np.random.default_rng(seed)
    y, angle = np.arange(m) % c, rng.uniform(0, 2 * np.pi, m)
    waves = np.cos(np.multiply.outer(np.arange(side), np.arange(8)) * np.pi / side)
    views = np.einsum("ui,vj,ckij->ckuv", waves, waves, rng.normal(size=(c, 7, 8, 8))).reshape(c, 7, -1)
    turns = np.stack([np.ones(m), *(f(k * angle) / k for k in (1, 2, 3) for f in (np.cos, np.sin))], axis=1)
    X = np.einsum("mk,mkn->mn", turns, views[y])
    return standardised(np.maximum(X / X.std() + rng.normal(0, 0.02, X.shape), -0.5)), y


def counts(seed: int = 0, m: int = 1943, n: int = 3289) -> Data:
    """How often each word of a vocabulary is in texts of two kinds; standardised."""
    rng = np.random.default_rng(seed)
    y, length = np.arange(m) % 2, rng.poisson(120, (m, 1)) + 10
    frequency = rng.permutation(1 / np.arange(1, n + 1) ** 0.9)
    tilt = np.where(rng.random(n) < 0.1, rng.normal(size=n), 0.0) / 2
    shares = frequency * np.exp(np.where(y[:, None], tilt, -tilt))
    X = rng.poisson(length * shares / shares.sum(axis=1, keepdims=True) * rng.gamma(1.0, 1.0, (m, n)))
    return standardised(X[:, X.std(axis=0) > 0].astype(np.float64)), y


def threes(m: int = 3000, n: int = 300, c: int = 1000) -> Data:
    """Three samples of each class; standardised."""
    X, y = around_centres(m, n, c)
    return standardised(X), y


def standardised(X: np.ndarray) -> np.ndarray:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def entrants(old: Path, kinds: tuple[str, ...], peers: bool) -> dict[str, tuple[str, Path]]:
    """The contender of each, and the sources that it runs on."""
    ours = {f"{who}, {kind}": (KINDS[kind], root) for kind in kinds for who, root in (("before", old), ("today", ROOT))}
    others = OTHERS | PEERS if peers else OTHERS
    return ours | {who: (contender, ROOT) for who, contender in others.items()}


def race(name: str, data: Data, who: dict[str, tuple[str, Path]], rounds: int, limit: float) -> None:
    """A contender that was ended at the limit, or failed, is not asked again."""
    X, y = data
    shape, workers = [*X.shape, len(np.unique(y))], dict[str, subprocess.Popen[str]]()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        np.savez(file, **parts(X), y=np.unique(y, return_inverse=True)[1])
        try:
            for one, (contender, root) in who.items():
                if issparse(X) and not getattr(module_of(contender), "TAKES_SPARSE", True):
                    save(name, one, 0, shape, {"error": NO_SPARSE})
                    continue
                workers[one] = start(contender, file, root, str(environment(module_of(contender).REQUIREMENTS)))
                started = answer_of(workers[one], limit)
                if "start" not in started:
                    save(name, one, 0, shape, started)
                    stop(workers.pop(one))
            for number in range(rounds + 1):  # the first, which loads libraries, only counts if there is no other
                for one, worker in list(workers.items()):
                    answer = fit(worker, limit, enough=ENOUGH if number else 0)
                    if "seconds" not in answer:
                        stop(workers.pop(one))
                    save(name, one, number, shape, answer)
        finally:
            for worker in workers.values():
                stop(worker)


def parts(X: np.ndarray | csr_array) -> dict[str, np.ndarray]:
    """What the worker makes X of."""
    if not issparse(X):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def module_of(contender: str) -> ModuleType:
    return import_module(f"benchmarks.contenders.{contender.replace('/', '.')}")


def save(name: str, who: str, number: int, shape: list[int], answer: Answer) -> None:
    print(f"{name:24s} {number:3d} {who:24s} {in_words(answer)}", flush=True)
    seconds = answer.pop("seconds", None)
    record(STUDY, Row(name, who, number, seconds=seconds, values={"shape": shape, **answer}))


def draw(commit: str) -> None:
    rows = rows_of(STUDY)
    others = [who for who in OTHERS | PEERS if any(row.method == who for row in rows)]
    lines, ratios, changes = [], list[float](), list[float]()
    for data in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == data]
        shape = "x".join(map(str, of_set[0].values["shape"]))
        for kind in KINDS:
            before, today = (typical(of_set, f"{who}, {kind}") for who in ("before", "today"))
            if not any(row.method == f"today, {kind}" for row in of_set):
                continue
            change = objective(of_set, f"today, {kind}") / objective(of_set, f"before, {kind}") - 1
            if np.isfinite(change):
                changes.append(change)
            if np.isfinite(today):  # before may have been ended at the limit: then the ratio is larger than any
                ratios.append(before / today)
            times = [f"{before:.3g}", f"{today:.3g}", *(cell(of_set, who) for who in others)]
            lines.append([data, shape, kind, *times, f"{before / today:.2f}", f"{change:+.2%}"])
    worse = sum(change > WORSE for change in changes)
    write_table(
        STUDY,
        "Hundreds to thousands of samples and features",
        ["data", "shape", "settings", "before, s", "today, s", *others, "before / today", "objective"],
        lines,
        f"{len({row.seed for row in rows})} interleaved rounds, standardised data; before is {commit}. Of the "
        f"{len(ratios)} fits that ended today, the median ratio is {median(ratios):.2f}, the least {min(ratios):.2f}; "
        f"the objective is higher by more than {WORSE:.1%} in {worse} of the {len(changes)} that ended both times. "
        "inf: ended at the time limit, or failed; nan: neither ended, or no objective to compare with. "
        f"MultiTaskLasso at a tenth of its largest alpha. {against_lasso(rows)}",
    )


def cell(rows: list[Row], who: str) -> str:
    its = [row for row in rows if row.method == who]
    if any(row.values.get("error") == NO_SPARSE for row in its):
        return NO_SPARSE
    return f"{typical(its, who):.3g}" if its else ""


def against_lasso(rows: list[Row]) -> str:
    """On how many sets today's default takes at most twice as long as one MultiTaskLasso."""
    within, ended = list[bool](), list[bool]()
    for data in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == data]
        if cell(of_set, "MultiTaskLasso") not in ("", NO_SPARSE):
            today, lasso = (typical(of_set, who) for who in ("today, default", "MultiTaskLasso"))
            within.append(bool(np.isfinite(today) and today <= TWICE * lasso))
            ended.append(bool(np.isfinite(today) and np.isfinite(lasso)))
    both = sum(np.logical_and(within, ended))
    return (
        f"Today's default takes at most {TWICE} times as long on {both} of the {sum(ended)} sets on which both ended, "
        f"and on {sum(within)} of {len(within)} if one that was ended counts as the slower."
    )


def typical(rows: list[Row], who: str) -> float:
    times = [row.seconds for row in rows if row.method == who]
    return np.inf if not times or None in times else median(times[1:] or times)


def objective(rows: list[Row], who: str) -> float:
    return next((row.values["objective"] for row in rows if row.method == who and "objective" in row.values), np.nan)


if __name__ == "__main__":
    main()
