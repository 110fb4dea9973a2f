"""What is run for which exhibit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from dsofs.datasets import load_dataset
from dsofs.datasets.catalogue import CATALOGUE
from dsofs.experiments import (
    CLEAN,
    CLEAN_QUICK,
    PAPER,
    PAPER_QUICK,
    REFERENCE,
    Protocol,
    Row,
    RunProgress,
    append_row,
    read_rows,
    run,
)
from dsofs.files import sole_writer
from dsofs.methods import METHODS, Method
from dsofs.reproduction import paper
from dsofs.statistics import Samples

ALL_KS = tuple(range(10, 101, 10))
FEW_KS = (10, 20, 50, 100)
# More samples than features, and thousands of them: fewer trials, folds and numbers of features, or a run takes days.
LARGE = ("isolet", "gisette", "mnist_4v9")
LARGE_TRIALS = LARGE_FOLDS = 3
LARGE_GRIDS = {"l1_svm": {"C": (0.003, 0.01, 0.03)}}  # a fit at C = 1 takes nine minutes on ISOLET
# Hundreds of samples, ten to forty classes: above C = 0.1 l1_svm takes most of its time, and is seldom chosen.
MEDIUM = ("semeion", "umist", "orl")
MEDIUM_GRIDS = {"l1_svm": {"C": (0.01, 0.03, 0.1)}}
RIVALS = ("multitask_lasso", "l1_svm", "fastcan", "svm_rfe", "f_test")
QUICK = {PAPER.name: PAPER_QUICK, CLEAN.name: CLEAN_QUICK}
FACTS = "facts"  # in place of a method: what a row says of the data themselves
DIGITS = "digits"  # of scikit-learn: not of the paper, but pictures that anyone has


@dataclass(frozen=True)
class Experiment:
    """A run: methods on data under a protocol; ``trials`` None is the protocol's own number."""

    protocol: Protocol
    data: tuple[str, ...]
    methods: Mapping[str, Method]
    ks: tuple[int, ...] = ALL_KS
    trials: int | None = None

    def quick(self, ks: tuple[int, ...]) -> Experiment:
        """Without tuning, two trials, few numbers of features: a first impression, not a result."""
        return replace(self, protocol=QUICK[self.protocol.name], ks=ks, trials=None)

    def parts(self) -> list[Experiment]:
        """The larger sets apart, since less is run on them."""
        ks = tuple(k for k in self.ks if k in FEW_KS)
        trials = self.trials or min(self.protocol.trials, LARGE_TRIALS)
        parts = (
            self._on(set(self.data) - {*MEDIUM, *LARGE}),
            self._on(MEDIUM, protocol=self._protocol(MEDIUM_GRIDS)),
            self._on(LARGE, protocol=self._protocol(LARGE_GRIDS, most_folds=LARGE_FOLDS), ks=ks, trials=trials),
        )
        return [part for part in parts if part.data]

    def _on(self, names: Collection[str], **changes: Any) -> Experiment:
        return replace(self, data=tuple(name for name in self.data if name in names), **changes)

    def _protocol(self, grids: Mapping[str, Any], **changes: Any) -> Protocol:
        return replace(self.protocol, grids={**self.protocol.grids, **grids}, **changes)


Need = Callable[[tuple[str, ...]], Experiment]


def _named(names: Iterable[str]) -> dict[str, Method]:
    return {name: METHODS[name] for name in names}


def by_p(p: float) -> str:
    """The name of DSO with a p that is not tuned."""
    return f"dso p={p:g}"


def comparison(data: tuple[str, ...]) -> Experiment:
    """Table 2 and Figure 2."""
    return Experiment(PAPER, data, _named(paper.METHODS))


def influence_of_p(data: tuple[str, ...]) -> Experiment:
    """Figure 1: p is given, C is tuned."""
    make = METHODS["dso"].make
    methods = {by_p(p): Method(partial(make, p=p, **PAPER.fixed["dso"])) for p in paper.PS}
    return Experiment(PAPER, tuple(name for name in data if name in paper.FIGURE_1), methods)


def all_methods(data: tuple[str, ...]) -> Experiment:
    """Ours: more methods, all features for reference, nothing leaks."""
    return Experiment(CLEAN, data, _named((*reversed(paper.METHODS), *RIVALS)) | REFERENCE)


def digits(data: tuple[str, ...]) -> Experiment:
    """The digits that come with scikit-learn, in every run."""
    return Experiment(CLEAN, (DIGITS,), _named(PICTURED), ks=(10, 20, 50))


PICTURED = ("dso", "rfs", "mrmr", "f_test")  # whose pixels are shown


def perform(
    out: Path,
    experiments: Sequence[Experiment],
    data: Sequence[str],
    *,
    data_dir: Path | None = None,
    n_jobs: int | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> None:
    """Run what ``out`` does not hold yet; facts about all ``data`` are recorded in any case."""
    names = {name for experiment in experiments for name in experiment.data} | set(data)
    bunches = {name: _load(name, data_dir) for name in sorted(names)}
    record_facts(out, bunches)
    samples = {name: Samples(bunch.X, bunch.y) for name, bunch in bunches.items()}
    for experiment in experiments:
        for part in experiment.parts():
            chosen = {name: samples[name] for name in part.data}
            run(out, chosen, part.methods, protocol=part.protocol, ks=part.ks, trials=part.trials, n_jobs=n_jobs,
                progress=progress)  # fmt: skip


def _load(name: str, data_dir: Path | None) -> Bunch:
    if name != DIGITS:
        return load_dataset(name, data_dir=data_dir, download=False)
    bunch = load_digits()
    return Bunch(X=bunch.data, y=bunch.target, target_names=bunch.target_names)


def record_facts(out: Path, bunches: Mapping[str, Bunch]) -> None:
    """What Table 1 and the pictures show of the data, so that they too can be drawn from the results file alone."""
    with sole_writer(out):
        known = {row.key for row in read_rows(out)}
        for name, bunch in bunches.items():
            n_samples, n_features = bunch.X.shape
            values = {"n_samples": n_samples, "n_features": n_features, "n_classes": len(bunch.target_names)}
            shape, order = ((8, 8), "C") if name == DIGITS else (CATALOGUE[name].image, CATALOGUE[name].pixel_order)
            if shape:
                values |= {"shape": list(shape), "order": order, "mean": bunch.X.mean(axis=0).round(2).tolist()}
            row = Row(name, FACTS, 0, values=values)
            if row.key not in known:
                append_row(out, row)
