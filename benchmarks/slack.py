"""Which slack, at which cost, when classes cannot be separated and nobody tunes it: held-out accuracy of the choices.

Price is in units of C0 / p, where C0 = 1 / max ||X_i'Y|| is the C below which W = 0 is the best at p = 1. "first" is
the least total slack first, then the least norm: hinge at a cost so high that nothing else matters.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import click
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.harness import record, rows_of, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "slack"
KS = (10, 20, 50)
MOST_SAMPLES = 1200  # to train on, so that the slow choices end
CHOICES = {
    **{f"squared {price}": ("squared_hinge", float(price), 1.0) for price in (3, 10, 30, 100, 1000)},
    **{f"hinge {price}": ("hinge", float(price), 1.0) for price in (3, 10, 30, 100)},
    "first": ("hinge", 1e4, 1.0),
    **{f"squared {price}, p = 0.5": ("squared_hinge", float(price), 0.5) for price in (3, 10, 30, 100)},
}


def wrong_labels(part: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """3000 x 200, four classes by ten features, a part of the labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 200))
    y = (X[:, :10] @ rng.normal(size=(10, 4))).argmax(axis=1)
    wrong = rng.random(len(y)) < part
    y[wrong] = (y[wrong] + rng.integers(1, 4, wrong.sum())) % 4
    return X, y


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(Path(os.environ["DSOFS_DATA"]) / f"{name}.npz") as file:
        return file["X"].astype(np.float64), file["y"]


SETS = {
    "semeion": lambda: real("semeion"),
    "isolet": lambda: real("isolet"),
    "digits": lambda: load_digits(return_X_y=True),
    "mnist_4v9": lambda: real("mnist_4v9"),
    "5 % wrong": lambda: wrong_labels(0.05),
    "15 % wrong": lambda: wrong_labels(0.15),
}


@click.command()
@click.option("--splits", default=3, show_default=True)
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(splits: int, table: bool) -> None:
    if not table:  # what is in the results file is not computed again
        for name, load in SETS.items():
            X, y = load()
            for seed in range(splits):
                measure(name, X, y, seed)
    draw()


def measure(name: str, X: np.ndarray, y: np.ndarray, seed: int) -> None:
    size = min(MOST_SAMPLES, round(0.6 * len(y)))
    X, X_test, y, y_test = train_test_split(X, y, train_size=size, random_state=seed, stratify=y)
    Z = StandardScaler().fit_transform(X)
    classes = np.unique(y)
    Y = np.where(y[:, None] == classes, 1.0, -1.0)[:, 1 if len(classes) == 2 else 0 :]
    C0 = 1 / np.linalg.norm(Z.T @ Y, axis=1).max()
    done = {row.method for row in rows_of(STUDY) if (row.data, row.seed) == (name, seed)}
    for choice, (loss, price, p) in CHOICES.items():
        if choice in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = DSOSelector(p=p, C=price * C0 / p, loss=loss).fit(X, y)
        values = {"status": selector.status_}
        for k in KS:
            top = selector.ranking_ <= k
            model = make_pipeline(StandardScaler(), LinearSVC(C=0.1, max_iter=5000)).fit(X[:, top], y)
            values[f"k={k}"] = model.score(X_test[:, top], y_test)
        seconds = float(selector.history_["seconds"][-1])
        record(STUDY, Row(name, choice, seed, seconds=seconds, values=values))
        print(name, seed, choice, values, f"{seconds:.2f} s", flush=True)


def draw() -> None:
    rows = rows_of(STUDY)
    sets = list(dict.fromkeys(row.data for row in rows))
    lines = []
    for choice in CHOICES:
        of_choice = [row for row in rows if row.method == choice]
        cells = []
        for name in sets:
            of_set = [row for row in of_choice if row.data == name]
            cells.append(" / ".join(f"{100 * np.mean([row.values[f'k={k}'] for row in of_set]):.1f}" for k in KS))
        average = np.mean([[row.values[f"k={k}"] for k in KS] for row in of_choice])
        bad = sum(not row.values["status"].startswith("converged") for row in of_choice)
        lines.append([choice, *cells, f"{100 * average:.1f}", bad, f"{sum(row.seconds for row in of_choice):.0f} s"])
    ks = " / ".join(map(str, KS))
    write_table(
        STUDY,
        "Slack: which kind, at which cost",
        ["slack", *sets, "mean", "did not converge", "time"],
        lines,
        f"Held-out accuracy (%) with {ks} features and a linear SVM (C = 0.1), three splits, at most "
        f"{MOST_SAMPLES} samples to train on. p = 1 where not said. Costs in units of the C at which W "
        "leaves zero, over p. first: least total slack first.",
    )


if __name__ == "__main__":
    main()
