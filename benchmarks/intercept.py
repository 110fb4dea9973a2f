"""Penalised bias or free bias: which is the better default, on the sets, splits and kinds of ``benchmarks.standing``.

Everything else is at its default. Judges: a linear SVM with C = 1 on the first k features.
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product

import numpy as np

from benchmarks.harness import record, rows_of, study, write_table
from benchmarks.standing import DATA, KINDS, KS, MEASURES, SPLITS, Contender, judged, select, selected_by
from benchmarks.standing_tables import Scores, by_kind
from dsofs import DSOSelector
from dsofs.methods import Method

STUDY, JUDGE = "intercept", "svm_C1"
PENALTIES = {"penalised": 1.0, "free": 0.0}


def make(k: int, seed: int, penalty: float) -> DSOSelector:
    return DSOSelector(k, intercept_penalty=penalty)


def contender(name: str, penalty: float) -> Contender:
    return Contender((name,), partial(selected_by, name, Method(partial(make, penalty=penalty))))


def draw() -> None:
    rows, lines = rows_of(STUDY), []
    for measure in MEASURES:
        scores = Scores.of(rows, JUDGE, measure)
        kinds = by_kind(scores.means(list(DATA), list(PENALTIES)), list(DATA), KINDS)  # kinds x methods x ks
        gain = kinds[:, 1] - kinds[:, 0]
        for name, means in zip(PENALTIES, kinds.mean(axis=0), strict=True):
            lines.append([measure.replace("_", " "), name, *(f"{mean:.2f}" for mean in means)])
        errors = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        both = zip(gain.mean(axis=0), errors, strict=True)
        lines.append([measure.replace("_", " "), "free minus penalised", *(f"{g:+.2f} ± {e:.2f}" for g, e in both)])
    write_table(
        STUDY,
        "Penalised or free bias",
        ["measure (%)", "bias", *(f"k = {k}" for k in KS)],
        lines,
        f"{len(DATA)} data sets, {SPLITS} splits, linear SVM with C = 1. Means over the sets of a kind, then over the "
        f"{len(KINDS)} kinds; ± is the standard error over the kinds.",
    )


@study(STUDY, draw)
def main() -> None:
    warnings.simplefilter("ignore")
    for seed, data, (name, penalty) in product(range(SPLITS), DATA, PENALTIES.items()):
        (selection,) = select(contender(name, penalty), data, seed)
        record(STUDY, selection)
        (row,) = judged(selection, [JUDGE])
        record(STUDY, row)
        print(seed, data, name, flush=True)


if __name__ == "__main__":
    main()
