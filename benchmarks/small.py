"""Small data, where what counts is what a fit costs before it computes: against scikit-learn's selectors."""

from __future__ import annotations

import warnings
from statistics import median

import click
import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.harness import interleave, record, rows_of, start_anew, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "small"
SHAPES = [(100, 50, 2), (100, 50, 3), (100, 50, 5), (50, 200, 3), (200, 20, 3)]
METHODS = {
    "dso": DSOSelector,
    "dso p=1, hard": lambda: DSOSelector(p=1.0, C=None),
    "LinearSVC": lambda: SelectFromModel(LinearSVC()),
    "LogisticRegression": lambda: SelectFromModel(LogisticRegression()),
}


@click.command()
@click.option("--rounds", default=30, show_default=True)
@click.option("--table", is_flag=True, help="Only draw the table from the results file.")
def main(rounds: int, table: bool) -> None:
    if not table:
        start_anew(STUDY)
        for shape in SHAPES:
            measure("made", *made(*shape), rounds)
        for n_classes in (2, 5):
            measure("digits", *digits(100, 50, n_classes), rounds)
    draw()


def made(n_samples: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Five informative features, and noise."""
    return make_classification(
        n_samples, n_features, n_informative=5, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1,
        class_sep=1.5, random_state=0,
    )  # fmt: skip


def digits(n_samples: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Some of scikit-learn's digits, and the first of their pixels that are not constant."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X, y = X[:n_samples], y[:n_samples]
    return X[:, np.ptp(X, axis=0) > 0][:, :n_features], y


def measure(source: str, X: np.ndarray, y: np.ndarray, rounds: int) -> None:
    shape = [*X.shape, len(np.unique(y))]
    name = f"{source} {' x '.join(map(str, shape))}"
    jobs = {method: lambda make=make: make().fit(X, y) for method, make in METHODS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LinearSVC and LogisticRegression do not always converge
        for job in jobs.values():
            job()  # warm: libraries loaded
        for number, method, seconds, result in interleave(jobs, rounds):
            values = {"shape": shape}
            if isinstance(result, DSOSelector):
                values |= {"steps": result.n_iter_, "status": result.status_}
            record(STUDY, Row(name, method, number, seconds=seconds, values=values))


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for name in dict.fromkeys(row.data for row in rows):
        of_set = [row for row in rows if row.data == name]
        times = {method: median(row.seconds for row in of_set if row.method == method) for method in METHODS}
        steps = [next(row.values["steps"] for row in of_set if row.method == method) for method in list(METHODS)[:2]]
        ratios = [times[method] / times["LinearSVC"] for method in list(METHODS)[:2]]
        lines.append([
            name,
            *(f"{1e3 * seconds:.1f} ms" for seconds in times.values()),
            " / ".join(map(str, steps)),
            " / ".join(f"{ratio:.1f} x" for ratio in ratios),
        ])  # fmt: skip
    write_table(
        STUDY,
        "Small data: against SelectFromModel",
        ["data (m x n x classes)", *METHODS, "steps of dso", "dso over LinearSVC"],
        lines,
        "A fit with the defaults of each, and with p = 1 and hard margins, to tol = 1e-3; medians of interleaved "
        "rounds in one process. LinearSVC and LogisticRegression choose features by their coefficients, whether or "
        "not they converged.",
    )


if __name__ == "__main__":
    main()
