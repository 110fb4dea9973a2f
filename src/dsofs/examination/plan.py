"""How many resamples and shuffled labellings there will be: what the time allows, fixed before they start.

The fewest resamples always run and are timed. With s the median of their seconds, t the seconds of the selection on all
samples and q the splits that each shuffled labelling is judged on, r resamples and b labellings are estimated to take

    (r s + b q max(s, 0.6 (t - 0.5))) / cores      seconds.

A resample selects from 0.6 of the samples. Shuffled labels are harder to fit than true ones, so s alone would be too
little for them; and half a second of the first fit goes into loading libraries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from joblib import effective_n_jobs

from dsofs.examination.findings import Plan
from dsofs.examination.resampling import Resample
from dsofs.statistics.splits import TRAINING

TIME_LIMIT = 60.0  # seconds
# Numbers of resamples and of shuffled labellings, the best first. 19 labellings are enough to show p <= 0.05.
PREFERRED = ((20, 99), (20, 49), (20, 19), (10, 19), (20, 0), (10, 0), (5, 0))
MOST, LEAST = PREFERRED[0][0], PREFERRED[-1][0]  # resamples
ENOUGH = 19
FINER = 0.2  # share of the time for more than 19 labellings, which only make the p-value finer
LOADING = 0.5  # seconds of a first fit


@dataclass(frozen=True)
class Costs:
    """Estimated seconds of one resample and of one shuffled labelling, with all cores at work."""

    resample: float
    labelling: float

    @classmethod
    def of(cls, runs: Sequence[Resample], n_splits: int, selecting: float, n_jobs: int | None) -> Costs:
        """Estimate from resamples that were timed, and from the seconds of the selection on all samples."""
        cores, one = effective_n_jobs(n_jobs), median(run.seconds for run in runs)
        return cls(one / cores, n_splits * max(one, TRAINING * (selecting - LOADING)) / cores)

    def seconds(self, n_resamples: int, n_permutations: int) -> float:
        return n_resamples * self.resample + n_permutations * self.labelling


def make_plan(costs: Costs, n_resamples: int | None, n_permutations: int | None, time_limit: float | None) -> Plan:
    """The best numbers within the limit, or else the smallest; those that are given stay as they are."""
    if n_resamples is not None and n_permutations is not None:
        time_limit = None  # nothing is left to choose
    for numbers in _candidates(n_resamples, n_permutations):
        seconds = costs.seconds(*numbers)
        finer = n_permutations is None and numbers[1] > ENOUGH
        if time_limit is None or seconds <= time_limit * (FINER if finer else 1):
            break
    return Plan(*numbers, seconds, time_limit)


def _candidates(n_resamples: int | None, n_permutations: int | None) -> Iterator[tuple[int, int]]:
    for resamples, permutations in PREFERRED:
        yield (
            resamples if n_resamples is None else n_resamples,
            permutations if n_permutations is None else n_permutations,
        )
