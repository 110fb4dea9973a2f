"""What the resamples show: accuracy, stability, confusions, and what shuffled labels reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dsofs.design.types import Floats, Ints
from dsofs.examination.findings import AccuracyCurve, BalancedAccuracy, PermutationTest, StabilityCurve
from dsofs.examination.resampling import Resample, accuracies, smallest_p
from dsofs.statistics.samples import Samples
from dsofs.statistics.significance import error_by_chance, resampled_error, stability

ROUNDING = 1e-12  # accuracies are means of whole numbers: closer than this they are equal


def accuracy_curve(runs: Sequence[Resample], data: Samples, ks: list[int], k: int) -> AccuracyCurve:
    hits = accuracies(runs, data, (run.predicted for run in runs))
    mean, deviation = hits.mean(axis=0), hits.std(axis=0, ddof=1)
    error = corrected_error(deviation, runs)
    by_all = [run.by_all.predicted for run in runs if run.by_all is not None]  # of all runs, or of none
    return AccuracyCurve(
        ks=ks,
        mean=mean.tolist(),
        deviation=deviation.tolist(),
        standard_error=error.tolist(),
        k=k,
        one_se_k=ks[int(np.argmax(mean >= mean.max() - error[mean.argmax()]))],
        chance=float(np.bincount(data.y).max() / len(data.y)),
        all_features=float(accuracies(runs, data, by_all).mean()) if by_all else None,
    )


def corrected_error(deviation: Floats, runs: Sequence[Resample]) -> Floats:
    """Standard error of the mean of resamples that share samples (Nadeau and Bengio, 2003)."""
    shared = np.mean([len(run.test) / len(run.train) for run in runs])
    return resampled_error(deviation, len(runs), float(shared))


def frequencies(runs: Sequence[Resample], k: int, n_features: int) -> Floats:
    """The share of the resamples in which each feature was chosen."""
    return np.bincount(np.concatenate([run.best(k, k) for run in runs]), minlength=n_features) / len(runs)


def stability_curve(runs: Sequence[Resample], ks: list[int], k: int, selectable: Ints) -> StabilityCurve:
    """Nogueira's index of the choice among the ``selectable`` features."""
    places = [[np.searchsorted(selectable, run.best(number, k)) for run in runs] for number in ks]
    found = [stability(sets, len(selectable)) for sets in places]
    index, low, high = ([_known(getattr(each, part)) for each in found] for part in ("index", "low", "high"))
    return StabilityCurve(ks, index, low, high, k)


def _known(value: float) -> float | None:
    """None for NaN, which JSON cannot hold: there is no index if all features are chosen."""
    return None if np.isnan(value) else min(value, 1.0)


def confusion(runs: Sequence[Resample], data: Samples, position: int) -> Ints:
    """True class x predicted class, over the held-out samples of all resamples."""
    n = len(data.classes)
    pairs = [data.y[run.test] * n + run.predicted[position] for run in runs]
    return np.bincount(np.concatenate(pairs), minlength=n * n).reshape(n, n)


def balanced_accuracy(runs: Sequence[Resample], data: Samples, position: int) -> BalancedAccuracy | None:
    """The mean share of correct predictions over the t classes that were ever held out; None if t < 2.

    Its standard error is that of resamples that share samples, and at least that of guesses, one for each sample (or
    group) that was held out.
    """
    recall = _recall(confusion(runs, data, position))
    tested = np.flatnonzero(np.isfinite(recall))
    t = len(tested)
    if t < 2:
        return None
    by_chance = error_by_chance(_units_held_out(runs, data)[tested])
    of_runs = np.array([np.nanmean(_recall(confusion([run], data, position))) for run in runs])
    over_resamples = corrected_error(of_runs.std(ddof=1), runs)
    return BalancedAccuracy(
        mean=float(recall[tested].mean()),
        standard_error=max(float(over_resamples), by_chance),
        chance=1 / t,
        n_tested=t,
        untested=[str(name) for code, name in enumerate(data.classes) if code not in tested],
    )


def _recall(confused: Ints) -> Floats:
    """The share of correct predictions for each class; NaN if it was not held out."""
    held_out = confused.sum(axis=1)
    return np.divide(confused.diagonal(), held_out, out=np.full(len(confused), np.nan), where=held_out > 0)


def _units_held_out(runs: Sequence[Resample], data: Samples) -> Ints:
    """For each class, the number of samples (or groups) that were ever held out."""
    rows = np.unique(np.concatenate([run.test for run in runs]))
    units = rows if data.groups is None else data.groups[rows]
    return np.bincount(np.unique(np.stack([data.y[rows], units]), axis=1)[0], minlength=len(data.classes))


def permutation_test(runs: Sequence[Resample], data: Samples, position: int, shuffled: list[float]) -> PermutationTest:
    """How often shuffled labels did as well as the true ones on the same splits."""
    observed = float(accuracies(runs, data, (run.predicted[position] for run in runs)).mean())
    as_good = sum(accuracy >= observed - ROUNDING for accuracy in shuffled)
    return PermutationTest(observed, shuffled, len(runs), as_good, smallest_p(data.y, data.groups))
