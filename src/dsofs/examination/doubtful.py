"""Samples whose labels look wrong: further on the side of another class than the spread of their own class explains.

Where classes overlap, the samples in the overlap are predicted as another class almost whenever they are held out,
although their labels are correct. So it matters how far on the wrong side a sample lies, not how often it is there.
With m_i the mean margin of sample i (the decision value for its own class against the nearest other one) over the
resamples that held it out, by the model on all features where that predicts no worse than the chosen ones, or else over
all numbers of features, since one selection of few features is noisy,

    z_i = (m_i - median of its class) / s,     s = 1.4826 median_j |m_j - median of its class|,

with one spread s for all classes, since wrong labels widen that of their own. Overlap that is roughly normal gives
p-values Phi(z_i) that are uniform, so Benjamini and Hochberg's procedure bounds the share of right labels among the
samples that are listed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control, norm

from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.examination.findings import Suspect
from dsofs.examination.resampling import Resample, accuracies
from dsofs.statistics.classifier import Predictions
from dsofs.statistics.samples import Samples

FALSE_SHARE = 0.2  # expected share of correct labels among the listed samples, if margins are normal
FEWEST_TIMES = 3  # a sample was held out: below, its mean margin is mostly noise
MOSTLY = 0.5  # of these times it was predicted as another class: otherwise its label is confirmed more often than not
NORMAL = 1.4826  # standard deviations in a median absolute deviation


def suspects(
    runs: Sequence[Resample], data: Samples, position: int, names: Sequence[str], conflicts: AnyArray
) -> list[Suspect]:
    """Samples with doubtful labels, and those in a proof of non-separability; the most often wrong come first."""
    n_samples, n_classes = len(data.y), len(data.classes)
    votes = np.zeros((n_samples, n_classes), dtype=int)
    margins = np.zeros(n_samples)
    for run, found in zip(runs, _predictions(runs, data, position), strict=True):
        votes[run.test, found.predicted] += 1
        margins[run.test] += found.margins
    held_out = votes.sum(axis=1)
    wrong = held_out - votes[np.arange(n_samples), data.y]
    in_conflict = np.zeros(n_samples, dtype=bool)
    in_conflict[np.asarray(conflicts, dtype=int)] = True
    share = wrong / np.maximum(held_out, 1)
    often_enough = (held_out >= FEWEST_TIMES) & np.isfinite(margins)
    listed = in_conflict.copy()
    mean_margins = margins[often_enough] / held_out[often_enough]
    listed[often_enough] |= (share[often_enough] > MOSTLY) & too_far(mean_margins, data.y[often_enough])
    return [
        Suspect(
            sample=names[row],
            label=str(data.classes[data.y[row]]),
            predicted=str(data.classes[votes[row].argmax()]) if held_out[row] else None,
            wrong=int(wrong[row]),
            held_out=int(held_out[row]),
            in_conflict=bool(in_conflict[row]),
        )
        for row in np.lexsort((-wrong, -share))
        if listed[row]
    ]


def _predictions(runs: Sequence[Resample], data: Samples, position: int) -> list[Predictions]:
    """The predictions and margins to go by: those of all features if they predict as well, else of the chosen ones."""
    chosen = [Predictions(run.predicted[position], run.margins) for run in runs]
    every = [run.by_all for run in runs if run.by_all is not None]
    if len(every) < len(runs):
        return chosen
    by_chosen, by_all = (sum(accuracies(runs, data, (each.predicted for each in found))) for found in (chosen, every))
    return every if by_all >= by_chosen else chosen


def too_far(margins: Floats, codes: Ints) -> Bools:
    """Which margins are lower than the spread within classes explains, at a false discovery rate of FALSE_SHARE."""
    below = margins.copy()
    for code in np.unique(codes):
        below[codes == code] -= np.median(margins[codes == code])
    spread = NORMAL * np.median(np.abs(below)) if len(below) else 0.0
    if spread == 0:  # half of the margins are equal, so there is no spread to compare with
        return np.zeros(len(below), dtype=bool)
    return np.asarray(false_discovery_control(norm.cdf(below / spread)) <= FALSE_SHARE)
