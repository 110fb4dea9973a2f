"""What the resamples tell: accuracy, stability, confusions, and samples whose labels look wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dsofs.arrays.types import AnyArray, Floats, Ints
from dsofs.evaluation.findings import AccuracyCurve, PermutationTest, StabilityCurve, Suspect
from dsofs.evaluation.resampling import Labelled, Resample
from dsofs.evaluation.significance import resampled_error
from dsofs.evaluation.stability import stability

SUSPECT_SHARE, SUSPECT_TIMES = 0.75, 3  # predicted wrongly in this share of the resamples, held out in so many
ROUNDING = 1e-12  # accuracies are means of whole numbers: closer than this they are equal


def accuracy_curve(runs: Sequence[Resample], data: Labelled, ks: list[int], k: int) -> AccuracyCurve:
    hits = np.array([np.mean(run.predicted == data.codes[run.test], axis=1) for run in runs])
    mean, deviation = hits.mean(axis=0), hits.std(axis=0, ddof=1)
    error = corrected_error(deviation, runs)
    best = int(mean.argmax())
    by_all = [np.mean(run.predicted_by_all == data.codes[run.test]) for run in runs if run.predicted_by_all is not None]
    return AccuracyCurve(
        ks=ks,
        mean=mean.tolist(),
        deviation=deviation.tolist(),
        standard_error=error.tolist(),
        k=k,
        best_k=ks[best],
        one_se_k=ks[int(np.argmax(mean >= mean[best] - error[best]))],
        chance=float(np.bincount(data.codes).max() / len(data.codes)),
        all_features=float(np.mean(by_all)) if by_all else None,
    )


def corrected_error(deviation: Floats, runs: Sequence[Resample]) -> Floats:
    """Standard error of the mean of resamples that share samples (Nadeau and Bengio, 2003)."""
    shared = np.mean([len(run.test) / len(run.train) for run in runs])
    return resampled_error(deviation, len(runs), float(shared))


def frequencies(runs: Sequence[Resample], k: int, n_features: int) -> Floats:
    """Of every feature: the share of the resamples in which it was among the k best."""
    return np.bincount(np.concatenate([run.order[:k] for run in runs]), minlength=n_features) / len(runs)


def stability_curve(runs: Sequence[Resample], ks: list[int], k: int, n_features: int) -> StabilityCurve:
    found = [stability([run.order[:number] for run in runs], n_features) for number in ks]
    index, low, high = ([_known(getattr(each, part)) for each in found] for part in ("index", "low", "high"))
    return StabilityCurve(ks, index, low, high, k)


def _known(value: float) -> float | None:
    """What JSON can hold: there is no index where all features are chosen."""
    return None if np.isnan(value) else min(value, 1.0)


def confusion(runs: Sequence[Resample], data: Labelled, position: int) -> Ints:
    """True class x predicted class, over the held-out samples of all resamples."""
    n = len(data.classes)
    pairs = [data.codes[run.test] * n + run.predicted[position] for run in runs]
    return np.bincount(np.concatenate(pairs), minlength=n * n).reshape(n, n)


def suspects(
    runs: Sequence[Resample], data: Labelled, position: int, names: Sequence[str], conflicts: AnyArray
) -> list[Suspect]:
    """Samples that the others mostly predict as another class, and those in a proof of non-separability.

    The most often wrong come first.
    """
    n_samples, n_classes = len(data.codes), len(data.classes)
    votes = np.zeros((n_samples, n_classes), dtype=int)
    for run in runs:
        votes[run.test, run.predicted[position]] += 1
    held_out = votes.sum(axis=1)
    wrong = held_out - votes[np.arange(n_samples), data.codes]
    in_conflict = np.zeros(n_samples, dtype=bool)
    in_conflict[np.asarray(conflicts, dtype=int)] = True
    doubtful = (wrong >= SUSPECT_SHARE * held_out) & (held_out >= SUSPECT_TIMES)
    share = wrong / np.maximum(held_out, 1)
    order = np.lexsort((-wrong, -share))
    return [
        Suspect(
            sample=names[row],
            label=str(data.classes[data.codes[row]]),
            predicted=str(data.classes[votes[row].argmax()]) if held_out[row] else None,
            wrong=int(wrong[row]),
            held_out=int(held_out[row]),
            in_conflict=bool(in_conflict[row]),
        )
        for row in order
        if doubtful[row] or in_conflict[row]
    ]


def permutation_test(runs: Sequence[Resample], data: Labelled, position: int, shuffled: list[float]) -> PermutationTest:
    """How often shuffled labels did as well as the true ones on the same splits."""
    observed = float(np.mean([np.mean(run.predicted[position] == data.codes[run.test]) for run in runs]))
    as_good = sum(accuracy >= observed - ROUNDING for accuracy in shuffled)
    return PermutationTest(observed, shuffled, len(runs), as_good)
