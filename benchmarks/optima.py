"""Which local optimum is reached, and what its features are good for: today's fits against those of another commit.

``python -m benchmarks.optima COMMIT``: default fits on 60 % of each set of ``middle``, several splits of each. Below
p = 1 another way to the solution leads to another local optimum: it should be no worse, and its features as good.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.against import ROOT, checked_out, start
from benchmarks.arena import answer_of, fit, stop
from benchmarks.data import available
from benchmarks.harness import keep, record, rows_of, write_table
from benchmarks.middle import REAL, WORSE, Data, counts, images, real
from dsofs.experiments.results import Row

STUDY, CONTENDER = "optima", "middle/dso_first"
BEFORE, TODAY = "before", "today"
FIRST = (10, 20, 50)
SYNTHETIC = {"images 1440x1024x20": images, "counts 1943x3289x2": counts}


@click.command()
@click.argument("commit")
@click.option("--splits", default=5, show_default=True)
@click.option("--samples", default=2000, show_default=True, help="At most so many of each real set.")
@click.option("--limit", default=120.0, show_default=True, help="Seconds after which a fit is ended.")
@click.option("--again", is_flag=True, help="Only today's fits; the rows of the other commit are kept.")
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(commit: str, splits: int, samples: int, limit: float, again: bool, table: bool) -> None:
    if not table:
        keep(STUDY, [row for row in rows_of(STUDY) if row.method == BEFORE] if again else [])
        with checked_out(commit) as old:
            who = {TODAY: ROOT} if again else {BEFORE: old, TODAY: ROOT}
            for name, split in product([*SYNTHETIC, *available(REAL)], range(splits)):
                compare(name.removeprefix("more/"), split, divided(*data_of(name, samples, split), split), who, limit)
    draw(commit)


def data_of(name: str, samples: int, seed: int) -> Data:
    return SYNTHETIC[name](seed) if name in SYNTHETIC else real(name, samples)


def divided(X: np.ndarray, y: np.ndarray, seed: int) -> list[np.ndarray]:
    """Training and test samples and their labels, scaled on the former."""
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.6, random_state=seed, stratify=y)
    varies = X.std(axis=0) > 0
    scaler = StandardScaler().fit(X[:, varies])
    return [scaler.transform(X[:, varies]), scaler.transform(X_test[:, varies]), y, y_test]


def compare(name: str, split: int, data: list[np.ndarray], who: dict[str, Path], limit: float) -> None:
    X, X_test, y, y_test = data
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        np.savez(file, X=X, y=np.unique(y, return_inverse=True)[1])
        for one, root in who.items():
            worker = start(CONTENDER, file, root)
            try:
                answer = answer_of(worker, limit)
                answer = fit(worker, limit, enough=0) if "start" in answer else answer
            finally:
                stop(worker)
            seconds, first = answer.pop("seconds", None), answer.pop("first", [])
            values: dict[str, Any] = {"shape": [*X.shape, len(np.unique(y))], **answer}
            if first:
                values["accuracy"] = [accuracy(X[:, first[:k]], y, X_test[:, first[:k]], y_test) for k in FIRST]
            record(STUDY, Row(name, one, split, seconds=seconds, values=values))
            print(f"{name:24s} {split:3d} {one:8s} {values.get('objective')} {values.get('accuracy')}", flush=True)


def accuracy(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> float:
    return float(SVC(kernel="linear", C=1.0).fit(X, y).score(X_test, y_test))


def draw(commit: str) -> None:
    rows = {(row.data, row.seed, row.method): row.values for row in rows_of(STUDY) if "objective" in row.values}
    both = [(data, split) for data, split, who in rows if who == TODAY and (data, split, BEFORE) in rows]
    names = dict.fromkeys(data for data, _ in both)
    lines = [line_of(name, rows, [pair for pair in both if pair[0] == name]) for name in names]
    lines.append(line_of("all", rows, both))
    write_table(
        STUDY,
        "Local optima of two commits",
        ["data", "fits", f"higher by > {WORSE:.1%}", f"lower by > {WORSE:.1%}", "mean change", "steps",
         *(f"accuracy, k = {k}" for k in FIRST)],
        lines,
        f"Default fits on 60 % of each set (at most 2,000 samples), {len({split for _, split in both})} splits, "
        f"against those of {commit}. Changes of the objective, the median ratio of the steps, and changes of the "
        "accuracy of a linear SVM (C = 1) on the first features, in points, with standard errors over the fits.",
    )  # fmt: skip


def line_of(name: str, rows: dict[tuple[str, int, str], dict[str, Any]], pairs: list[tuple[str, int]]) -> list[str]:
    today, before = ([rows[*pair, who] for pair in pairs] for who in (TODAY, BEFORE))
    change = np.array([new["objective"] / old["objective"] - 1 for new, old in zip(today, before, strict=True)])
    steps = np.median([new["steps"] / old["steps"] for new, old in zip(today, before, strict=True)])
    points = 100 * (np.array([new["accuracy"] for new in today]) - np.array([old["accuracy"] for old in before]))
    error = points.std(axis=0, ddof=1) / np.sqrt(len(points)) if len(points) > 1 else np.full(len(FIRST), np.nan)
    return [
        name, f"{len(pairs)}", f"{np.sum(change > WORSE)}", f"{np.sum(change < -WORSE)}", f"{change.mean():+.3%}",
        f"{steps:.2f}", *(f"{mean:+.1f} &plusmn; {e:.1f}" for mean, e in zip(points.mean(axis=0), error, strict=True)),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
