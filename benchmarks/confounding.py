"""A batch that goes with the class: what is selected with and without the batch as a covariate.

Simulated: 200 samples in two batches, of which 80 % have the class of their batch; ten features differ by class, thirty
by batch, 960 by nothing. Real: ``bladderbatch`` (batch) and ``liver_toxicity`` (time), where nobody knows the truth:
how well ten selected features predict the class, and how well the batch, on samples held out.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.harness import record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "confounding"
SAMPLES, FEATURES, TRUE, PROXIES = 200, 1000, 10, 30
AGREE = 0.8  # of the samples have the class of their batch
EFFECT = 1.0  # of class and of batch, in standard deviations
DRAWS, CHOSEN = 100, 10
REAL = {"bladderbatch": "batch", "liver_toxicity": "time"}


def simulated(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X (true features, proxies of the batch, noise), the class, and the batch."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(SAMPLES) % 2)
    batch = np.where(rng.random(SAMPLES) < AGREE, y, 1 - y)
    X = rng.normal(size=(SAMPLES, FEATURES))
    X[:, :TRUE] += EFFECT * y[:, None]
    X[:, TRUE : TRUE + PROXIES] += EFFECT * batch[:, None]
    return X, y, batch


def selected(X: np.ndarray, y: np.ndarray, batch: np.ndarray, adjust: bool) -> np.ndarray:
    """The first ten features; with the levels of the batch as covariates or without."""
    if not adjust:
        return np.argsort(DSOSelector().fit(X, y).ranking_)[:CHOSEN]
    levels = (batch[:, None] == np.unique(batch)[1:]).astype(float)
    covariates = {X.shape[1] + level: 0.0 for level in range(levels.shape[1])}
    fit = DSOSelector(penalty_factor=covariates, intercept_penalty=0.0).fit(np.hstack([X, levels]), y)
    return np.argsort(fit.ranking_)[:CHOSEN]


def simulate(seed: int) -> None:
    X, y, batch = simulated(seed)
    for adjust in (False, True):
        first = selected(X, y, batch, adjust)
        values = {"true": int((first < TRUE).sum()), "proxies": int(((first >= TRUE) & (first < TRUE + PROXIES)).sum())}
        record(STUDY, Row("synthetic", name(adjust), seed, values=values))


def measure_real(data: str, covariate: str) -> None:
    with np.load(Path(os.environ["DSOFS_DATA"]) / "more" / f"{data}.npz") as file:
        X, y, batch = file["X"], file["y"], np.unique(file[covariate], return_inverse=True)[1]
    judge = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    for adjust in (False, True):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            part = np.concatenate([rng.permutation(np.flatnonzero(y == c))[::2] for c in np.unique(y)])
            rest = np.setdiff1d(np.arange(len(y)), part)
            first = selected(X[part], y[part], batch[part], adjust)
            values = {"class": accuracy(judge, X[rest][:, first], y[rest]),
                      "batch": accuracy(judge, X[rest][:, first], batch[rest])}  # fmt: skip
            record(STUDY, Row(data, name(adjust), seed, values=values))


def accuracy(judge: object, X: np.ndarray, labels: np.ndarray) -> float:
    """Balanced, by cross-validation among the levels that have three samples or more."""
    kept = np.isin(labels, np.flatnonzero(np.bincount(labels) >= 3))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return float(cross_val_score(judge, X[kept], labels[kept], cv=folds, scoring="balanced_accuracy").mean())


def name(adjust: bool) -> str:
    return "with covariates" if adjust else "without"


def draw() -> None:
    rows, lines = rows_of(STUDY), []
    for data in dict.fromkeys(row.data for row in rows):
        for method in ("without", "with covariates"):
            found = [row.values for row in rows if (row.data, row.method) == (data, method)]
            keys = ("true", "proxies", "class", "batch")
            figures = [f"{np.mean([v[key] for v in found]):.2f}" if key in found[0] else "" for key in keys]
            lines.append([data, method, *figures])
    write_table(
        STUDY,
        "A batch that goes with the class",
        ["data", "batch", "true of ten", "proxies of ten", "accuracy for the class", "for the batch"],
        lines,
        f"Means: {DRAWS} draws of {SAMPLES} x {FEATURES}, {AGREE:.0%} of the samples having the class of their batch. "
        "Real data: five halves; balanced accuracy of a linear SVM on ten features, cross-validated in the other half.",
    )


@study(STUDY, draw)
def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(DRAWS):
            simulate(seed)
        for data, covariate in REAL.items() if "DSOFS_DATA" in os.environ else ():
            measure_real(data, covariate)


if __name__ == "__main__":
    main()
