"""What the defaults rest on: every choice of DSO by its held-out accuracy, and DSO against the other methods.

Clean protocol without tuning (stratified 60 %, everything inside the training part, a linear SVM at C = 1). Choices are
made on the sets ``CHOOSING`` and only looked at on the sets ``CONFIRMING``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import click
import numpy as np
from rich.console import Console

from benchmarks.harness import RESULTS, pack, rows_of, unpack, write_table
from dsofs import METHODS, DSOSelector, DSOSelectorCV
from dsofs.cli.messages import watched
from dsofs.design.types import Floats, Ints
from dsofs.experiments import CLEAN, REFERENCE, Row, run
from dsofs.methods import Method
from dsofs.methods.dso.fit import training_data
from dsofs.problem import Problem
from dsofs.ranking import rank_features
from dsofs.solvers import solve
from dsofs.statistics.significance import compare_with_first

STUDY = "defaults"
CHOOSING = ("ar", "umist", "tox_171", "brain_tumor_1", "semeion")
CONFIRMING = ("orl", "leukemia_mll", "isolet", "mnist_4v9")
BIG, FEWER_TRIALS = ("isolet", "mnist_4v9"), 2
SLOW = "l1_svm"  # nine minutes a fit on isolet: one trial on the big sets
KS = (10, 20, 50, 100)
RIVALS = ("multitask_lasso", "l1_svm", "fastcan", "rfs", "lasso", "relieff", "mrmr", "f_test", "svm_rfe")
PROTOCOL = CLEAN.untuned("clean, C = 1", trials=5)
P, PRICE = 0.85, 50.0  # what is varied, one thing at a time: p, and C in units of C0 / p
BASE, CHOSEN = "p = 0.85, C = 50", "C = 30 sqrt(c), forward"
FEWEST = 8  # features, at which halving ends


def dso(k: int, seed: int = 0, *, p: float = P, price: float | None = PRICE, **options: Any) -> Any:
    return Ranked(lambda X, y: fit(X, y, k, p, price, **options).ranking_)


def tuned(k: int, seed: int = 0, *, ps: Sequence[float], prices: Sequence[float]) -> Any:
    def rank(X: Floats, y: Ints) -> Ints:
        Cs = [price * entry_C(X, y) for price in prices]
        return DSOSelectorCV(k, ps=ps, Cs=Cs, cv=3, ranking="survival").fit(X, y).ranking_

    return Ranked(rank)


def peeled(k: int, seed: int = 0, *, p: float, price: float | None) -> Any:
    return Ranked(lambda X, y: peeled_ranking(X, y, k, p, price))


def halved(k: int, seed: int = 0, *, p: float, price: float | None) -> Any:
    return Ranked(lambda X, y: halved_ranking(X, y, k, p, price))


def pairwise(k: int, seed: int = 0, *, p: float) -> Any:
    return Ranked(lambda X, y: pairwise_ranking(X, y, p))


class Ranked:
    """A selector from a function (X, y) -> ranking."""

    def __init__(self, rank: Any) -> None:
        self.rank = rank

    def fit(self, X: Floats, y: Ints) -> Ranked:
        self.ranking_ = self.rank(X, y)
        return self


def fit(
    X: Floats, y: Ints, k: int, p: float, price: float | None, per_column: bool = False, **options: Any
) -> DSOSelector:
    """Hard margins, or squared slack at a price in units of C0 / p, or that times the root of the columns of Y."""
    n_classes = len(np.unique(y))
    n_columns = 1 if n_classes == 2 else n_classes
    C = None if price is None else price / p * entry_C(X, y) * (n_columns**0.5 if per_column else 1.0)
    return DSOSelector(min(k, X.shape[1]), p=p, C=C, **{"ranking": "survival", **options}).fit(X, y)


def entry_C(X: Floats, y: Ints) -> float:
    """C0, below which W = 0 is the best at p = 1."""
    classes, codes = np.unique(y, return_inverse=True)
    data = training_data(DSOSelector(), X, codes, classes, None)
    return float(1 / np.linalg.norm(data.design.tdot(data.Y), axis=1).max())


def peeled_ranking(X: Floats, y: Ints, k: int, p: float, price: float | None) -> Ints:
    """Features that a fit keeps, then those that a fit on all others keeps, and so on."""
    best: list[int] = []
    left = np.arange(X.shape[1])
    while len(best) < k and len(left):
        model = fit(X[:, left], y, k, p, price)
        order = left[np.argsort(model.ranking_)]
        n_kept = max(1, np.count_nonzero(model.coef_.any(axis=0)))
        best += list(order[:n_kept])
        left = np.sort(order[n_kept:])
    return _ranking([*best, *left])


def halved_ranking(X: Floats, y: Ints, k: int, p: float, price: float | None) -> Ints:
    """Fit, drop the worse half, and so on: recursive elimination."""
    dropped: list[int] = []
    left = np.arange(X.shape[1])
    while len(left) > FEWEST:
        order = left[np.argsort(fit(X[:, left], y, k, p, price).ranking_)]
        dropped = [*order[len(left) // 2 :], *dropped]
        left = np.sort(order[: len(left) // 2])
    return _ranking([*left[np.argsort(fit(X[:, left], y, k, p, price).ranking_)], *dropped])


def pairwise_ranking(X: Floats, y: Ints, p: float) -> Ints:
    """A margin between every two classes instead of between each and the rest."""
    classes, codes = np.unique(y, return_inverse=True)
    data = training_data(DSOSelector(), X, codes, classes, None)
    pairs = [(a, b) for a in range(len(classes)) for b in range(a)]
    Y = np.stack([np.where(codes == b, -1.0, 1.0) for _, b in pairs], axis=1)
    concerned = np.stack([np.isin(codes, pair) for pair in pairs], axis=1)
    problem = Problem(data.design, Y, p, C=np.where(concerned, 1e8, 1e-8))  # all but hard, all but free
    solution = solve(problem, "joint", tol=1e-3, max_iter=300)
    return rank_features(problem, solution, "survival", data.kept, X.shape[1])[1]


def _ranking(order: Sequence[int]) -> Ints:
    ranking = np.empty(len(order), dtype=np.intp)
    ranking[np.asarray(order)] = np.arange(1, len(order) + 1)
    return ranking


def make(function: Any, **parameters: Any) -> Method:
    return Method(partial(function, **parameters))


# Question -> its candidates, beside the base.
CANDIDATES: dict[str, dict[str, Method]] = {
    "p": {
        **{f"p = {p:g}": make(dso, p=p) for p in (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)},
        "p by 3 folds": make(tuned, ps=(0.5, 0.7, 0.85, 1.0), prices=(PRICE,)),
        "p and C by 3 folds": make(tuned, ps=(0.7, 0.85, 1.0), prices=(1000, PRICE, 10)),
    },
    "C": {
        **{f"C = {price:g}": make(dso, price=price) for price in (1000, 300, 100, 30, 10)},
        **{f"C = {price:g} sqrt(c)": make(dso, price=price, per_column=True) for price in (50, 30, 20)},
        "hard": make(dso, price=None),
        "p = 1, hard": make(dso, p=1.0, price=None),
    },
    "ranking": {
        "by norm": make(dso, ranking="norm"),
        "C = 30 sqrt(c)": make(dso, price=30, per_column=True),
        "C = 30 sqrt(c), forward": make(dso, price=30, per_column=True, ranking="forward"),
        "p = 1, hard, forward": make(dso, p=1.0, price=None, ranking="forward"),
        "p = 0.5, hard": make(dso, p=0.5, price=None),
        "p = 0.5, hard, by norm": make(dso, p=0.5, price=None, ranking="norm"),
        "p = 0.5, hard, peeled": make(peeled, p=0.5, price=None),
        "peeled": make(peeled, p=P, price=PRICE),
        "halved": make(halved, p=P, price=PRICE),
    },
    "variant": {
        "equality": make(dso, constraint="equality"),
        "equality, hard": make(dso, price=None, constraint="equality"),
        "balanced": make(dso, class_weight="balanced"),
    },
}
PAIRWISE = {"pairwise, hard": make(pairwise, p=P)}  # a column of Y for each pair: only where there are few
FEW_CLASSES = ("ar", "tox_171", "brain_tumor_1")
# What was chosen, what came near it, and what the defaults were before: the others were not looked at again.
CONFIRMED = (CHOSEN, "C = 30 sqrt(c)", BASE, "C = 100", "hard", "p = 1, hard")


@click.command()
@click.option("--n-jobs", default=2, show_default=True)
@click.option("--table", is_flag=True, help="Only draw the tables from the results file.")
def main(n_jobs: int, table: bool) -> None:
    """Goes on where it was stopped."""
    if not table:
        unpack(STUDY)
        candidates = {BASE: make(dso)}
        candidates |= {name: method for group in CANDIDATES.values() for name, method in group.items()}
        measure(CHOOSING, candidates, n_jobs)
        measure(FEW_CLASSES, PAIRWISE, n_jobs)
        rivals = {name: METHODS[name] for name in RIVALS}
        confirmed = {name: candidates[name] for name in CONFIRMED}
        measure(CHOOSING, rivals | REFERENCE, n_jobs)
        measure(CONFIRMING, confirmed | rivals | REFERENCE, n_jobs)
        pack(STUDY)
    draw()


def measure(data: Iterable[str], methods: dict[str, Method], n_jobs: int) -> None:
    for name in data:
        quick = {method: make for method, make in methods.items() if not (name in BIG and method == SLOW)}
        slow = {method: make for method, make in methods.items() if method not in quick}
        trials = FEWER_TRIALS if name in BIG else PROTOCOL.trials
        for part, number in ((quick, trials), (slow, 1)):
            with watched(Console(stderr=True)) as progress:
                run(RESULTS / f"{STUDY}.jsonl", [name], part, protocol=PROTOCOL, ks=KS, trials=number, n_jobs=n_jobs,
                    progress=progress)  # fmt: skip


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for question, candidates in CANDIDATES.items():
        names = list(dict.fromkeys([BASE, *candidates, *(PAIRWISE if question == "variant" else ())]))
        lines += [
            [question, name, *compared(rows, name, CHOOSING), *compared(rows, name, CONFIRMING)] for name in names
        ]
    write_table(
        STUDY,
        "What the defaults rest on",
        ["question", "choice", *(f"k = {k}" for k in KS), "sets", *(f"k = {k}, confirming" for k in KS), "sets"],
        lines,
        f"Mean held-out accuracy in %, over the sets used for choosing ({', '.join(CHOOSING)}) and over those used for "
        f"confirming ({', '.join(CONFIRMING)}); {PROTOCOL.trials} trials, {FEWER_TRIALS} or 3 for {' and '.join(BIG)}. "
        f"In brackets: minus {BASE}, on the same sets. C is in units of C0 / p; C0 is the C below which W = 0 is the "
        "best at p = 1, and c the number of columns of Y. Squared slack, one class against the rest, ranked by "
        f"survival, unless said. The defaults are now p = {P:g} and {CHOSEN}.",
    )
    write_table(
        f"{STUDY}_standing",
        "DSO and the other selectors, without tuning",
        ["method", *(f"k = {k}" for k in KS)],
        standing(rows),
        "Mean held-out accuracy in % over all nine sets; in brackets: DSO minus the method, and the p-value of a "
        f"Wilcoxon test over the sets, corrected by Holm for the {len(RIVALS)} methods. Every method at its defaults; "
        f"{SLOW} in one trial on {' and '.join(BIG)}.",
        rows,
    )


def means(rows: list[Row], method: str, data: Iterable[str], k: int | None) -> list[float]:
    """Mean accuracy in % on each of the data sets; less than all of them where the method was not run."""
    found = {}
    for name in data:
        scores = [row.score for row in rows if (row.data, row.method, row.k) == (name, method, k)]
        if scores:
            found[name] = 100 * float(np.mean(scores))
    return list(found.values())


def compared(rows: list[Row], method: str, data: Sequence[str]) -> list[str]:
    """Accuracy at every k, with the difference to the base on the same sets, and how many sets there are."""
    cells, ran = [], [name for name in data if means(rows, method, [name], KS[0])]
    if not ran:
        return ["-"] * (len(KS) + 1)
    for k in KS:
        ours = np.mean(means(rows, method, ran, k))
        gain = ours - np.mean(means(rows, BASE, ran, k))
        cells.append(f"{ours:.1f}" + ("" if method == BASE else f" ({gain:+.1f})"))
    return [*cells, str(len(ran))]


def standing(rows: list[Row]) -> list[list[str]]:
    data = CHOOSING + CONFIRMING
    lines = {name: ["dso" if name == CHOSEN else name] for name in (CHOSEN, *RIVALS)}
    for k in KS:
        scores = np.array([means(rows, name, data, k) for name in lines]).T
        against = compare_with_first(scores)
        lines[CHOSEN].append(f"{scores[:, 0].mean():.1f}")
        for rival, difference, p_value in zip(RIVALS, against.differences, against.corrected, strict=True):
            column = RIVALS.index(rival) + 1
            lines[rival].append(f"{scores[:, column].mean():.1f} ({difference:+.1f}, p = {p_value:.2g})")
    everything = np.mean(means(rows, "all_features", data, None))
    return [*lines.values(), ["all features", *[f"{everything:.1f}"] * len(KS)]]


if __name__ == "__main__":
    main()
