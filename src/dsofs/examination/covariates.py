"""What covariates predict alone, what the chosen features add to them, and whether these tell their levels apart.

Everything is measured on the resamples of the selection: features are those chosen on the training part, models are
fitted there, and the held-out samples are predicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from dsofs.design.linalg import dense
from dsofs.design.types import Floats, Ints
from dsofs.examination.any_selector import Choice
from dsofs.examination.findings import CovariateFindings, HeldOutAccuracy, LevelsToldApart
from dsofs.examination.measures import balanced_accuracy
from dsofs.examination.resampling import Resample, accuracies
from dsofs.statistics.classifier import LinearModel
from dsofs.statistics.samples import Samples

Columns = Mapping[str, Sequence[int]]  # columns of X by the name of the covariate


def check_covariates(covariates: Columns | None, n_columns: int) -> Columns:
    found = {} if covariates is None else {str(name): list(columns) for name, columns in covariates.items()}
    places = [place for columns in found.values() for place in columns]
    if len(set(places)) < len(places) or not all(0 <= place < n_columns for place in places):
        raise ValueError(
            f"The 'covariates' of examine must give each its own columns of X, from 0 to {n_columns - 1}. Got "
            f"{covariates!r} instead."
        )
    return found


def refuse_chosen(covariates: Columns, choice: Choice) -> None:
    """Refuse covariates that the selector could select: they are only adjusted for."""
    selectable = set(choice.order[: choice.n_selectable].tolist())
    chosen = [name for name, columns in covariates.items() if selectable & set(columns)]
    if chosen:
        raise ValueError(
            f"The 'selector' of examine must adjust for the covariates and never select them, as DSOSelector does with "
            f"a 'penalty_factor' of 0. It can select {', '.join(map(repr, chosen))}."
        )


def covariate_findings(
    runs: Sequence[Resample], data: Samples, covariates: Columns, k: int, n_jobs: int | None
) -> CovariateFindings | None:
    if not covariates:
        return None
    every = np.concatenate([np.asarray(columns, dtype=np.intp) for columns in covariates.values()])
    levels = {name: codes for name in covariates if (codes := levels_of(data, covariates[name])) is not None}
    jobs = (delayed(_predictions)(data, run, run.best(k, k), every, list(levels.values())) for run in runs)
    alone, together, *told = zip(*Parallel(n_jobs=n_jobs)(jobs), strict=True)
    found = [_told_apart(name, runs, replace(data, y=levels[name], names=None), predicted)
             for name, predicted in zip(levels, told, strict=True)]  # fmt: skip
    return CovariateFindings(
        names=list(covariates),
        alone=_accuracy(runs, data, alone),
        together=_accuracy(runs, data, together),
        levels=[each for each in found if each is not None],
    )


def levels_of(data: Samples, columns: Sequence[int]) -> Ints | None:
    """Codes of the levels of a covariate whose columns have two values each, as indicators have; None for others."""
    values = dense(data.X[:, list(columns)])
    rows, codes = np.unique(values, axis=0, return_inverse=True)
    is_category = len(rows) > 1 and all(len(np.unique(column)) <= 2 for column in values.T)
    return codes.ravel().astype(np.intp) if is_category else None


def _predictions(data: Samples, run: Resample, chosen: Ints, covariates: Ints, levels: Sequence[Ints]) -> list[Ints]:
    """Predictions for the held-out samples: classes by the covariates, and by both; levels by the chosen features."""
    A, Z = (dense(data.X[:, columns]) for columns in (chosen, covariates))
    return [
        _predict(Z, data.y, run),
        _predict(np.hstack([A, Z]), data.y, run),
        *(_predict(A, codes, run) for codes in levels),
    ]


def _predict(A: Floats, codes: Ints, run: Resample) -> Ints:
    known = np.unique(codes[run.train])
    if len(known) == 1:
        return np.full(len(run.test), known[0])
    return LinearModel(A[run.train], codes[run.train]).predict(A[run.test])


def _accuracy(runs: Sequence[Resample], data: Samples, predicted: Sequence[Ints]) -> HeldOutAccuracy:
    right = accuracies(runs, data, predicted)
    return HeldOutAccuracy(float(np.mean(right)), float(np.std(right, ddof=1)))


def _told_apart(name: str, runs: Sequence[Resample], data: Samples, predicted: Sequence[Any]) -> LevelsToldApart | None:
    """How well the levels were predicted; ``data`` holds them in place of the classes."""
    of_levels = [replace(run, predicted=guess[None]) for run, guess in zip(runs, predicted, strict=True)]
    balanced = balanced_accuracy(of_levels, data, 0)
    return None if balanced is None else LevelsToldApart(name, len(data.classes), balanced)
