"""How an experiment is done: the paper's way, and a clean one that lets nothing of the test samples leak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.preprocessing import StandardScaler

from dsofs.statistics.samples import Rows, Samples, Split, folds, train_test
from dsofs.tables.features import make_imputer

DECADES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
MANY_SAMPLES = 200  # training samples, from which on tuning has more folds
FEW_FOLDS, MANY_FOLDS = 3, 8


@dataclass(frozen=True)
class Protocol:
    """Scaling, splits, tuning and the classifier, a linear SVM.

    Parameters
    ----------
    name : str
        Rows of a results file carry it.
    leaky_scaling : bool
        Scale all data once, test samples included, as the paper does; otherwise each training part alone.
    stratified : bool
        Whether splits and folds keep the classes in proportion.
    tuned : bool
        Whether the parameters of the method and the C of the SVM are chosen by cross-validation on the training
        samples. Otherwise the method's defaults are taken, and ``svm_C``.
    tuned_at : int or None
        The number of features at which they are chosen, once per trial, to be used for every number of features. None:
        for each number of features separately.
    svm_Cs, svm_C : values of C to choose from, and the one without tuning
    svm_max_iter : int
        LIBSVM stops after this number of iterations. Rows say whether it did.
    most_folds : int
        How many folds the training samples are tuned in where there are many of them.
    trials : int
        How many random splits there are, unless a run says otherwise.
    impute : "median", "most-frequent", "knn" or None
        How missing values are filled, in each split from its training samples alone; None if there are none.
    fixed : mapping of method -> parameters
        Parameters of a method that the protocol fixes; they are not tuned.
    grids : mapping of method -> parameter -> values
        What is tuned, for methods with which it is not the method's own grid.
    """

    name: str
    leaky_scaling: bool
    stratified: bool
    tuned: bool = True
    tuned_at: int | None = None
    svm_Cs: tuple[float, ...] = DECADES
    svm_C: float = 1.0
    svm_max_iter: int = 200_000
    most_folds: int = MANY_FOLDS
    trials: int = 10
    impute: str | None = None
    fixed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    grids: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    def prepare(self, samples: Samples) -> Samples:
        """What is done to a data set before it is split."""
        return samples.scaled() if self.leaky_scaling else samples

    def split(self, samples: Samples, trial: int) -> Split:
        """Training and test samples of a trial; ``samples`` have been prepared."""
        return self._split(samples, train_test(samples, stratified=self.stratified, seed=trial))

    def n_folds(self, n_training: int) -> int:
        """How many folds are wanted; small classes or groups may allow for fewer."""
        return FEW_FOLDS if n_training < MANY_SAMPLES else self.most_folds

    def folds(self, training: Samples, trial: int) -> Iterator[Split]:
        """The folds in which a trial is tuned, less those that leave a single class to learn."""
        for fold in folds(training, self.n_folds(len(training)), stratified=self.stratified, seed=trial):
            split = self._split(training, fold)
            if split.teaches:
                yield split

    def _split(self, samples: Samples, rows: Rows) -> Split:
        split = samples.split(*rows)
        if self.impute is not None:
            split = split.transformed(make_imputer(self.impute))
        return split if self.leaky_scaling else split.transformed(StandardScaler())

    def tuning_ks(self, ks: Sequence[int], n_features: int) -> list[int]:
        """For each of ``ks`` the number of features at which it is tuned; without selection, all of them."""
        at = self.tuned_at
        return [k if at is None or k == n_features else min(at, n_features) for k in ks]

    def untuned(self, name: str, **changes: Any) -> Protocol:
        """The same protocol without tuning, under another name."""
        return replace(self, name=name, tuned=False, **changes)


PAPER = Protocol(
    "paper",
    leaky_scaling=True,
    stratified=False,
    tuned_at=100,
    # The data are standardised already, once and for all.
    fixed={
        "dso": {"ranking": "norm", "standardize": False, "C": None},
        "rfs": {"standardize": False},
        "lasso": {"standardize": False},
    },
    grids={"dso": {"p": (1.0, 0.9, 0.7, 0.5, 0.3, 0.1)}},
)
CLEAN = Protocol("clean, tuned for each k", leaky_scaling=False, stratified=True)
CLEAN_AT_100 = replace(CLEAN, name="clean", tuned_at=100)  # of rows measured before CLEAN tuned for each k
PAPER_QUICK = PAPER.untuned("paper, quick", trials=2)
CLEAN_QUICK = CLEAN.untuned("clean, quick", trials=2)
