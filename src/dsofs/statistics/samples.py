"""The samples that something is measured on, and those of one split of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from dsofs.design.types import AnyArray, Floats, Ints


@dataclass(frozen=True)
class Samples:
    """X, y and, where several samples belong together (one patient, one speaker), the group of each.

    Where y holds codes, 0, 1, ..., of classes that are called otherwise, ``names`` are the names of the classes;
    ``weight`` is that of each sample in a fit, where they differ. A ``transformer`` is fitted to the training part of
    every split.
    """

    X: AnyArray
    y: Ints
    groups: Ints | None = None
    names: np.ndarray | None = None
    weight: Floats | None = None
    transformer: Any = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> np.ndarray:
        """The class of each sample as its user calls it."""
        return self.y if self.names is None else self.names[self.y]

    @property
    def classes(self) -> np.ndarray:
        return np.unique(self.y) if self.names is None else self.names

    def take(self, indices: Ints) -> Samples:
        groups = None if self.groups is None else self.groups[indices]
        weight = None if self.weight is None else self.weight[indices]
        return replace(self, X=self.X[indices], y=self.y[indices], groups=groups, weight=weight)

    def fit(self, selector: Any) -> Any:
        """The selector, fitted to these samples; weights are given to it only where there are some."""
        weights = {} if self.weight is None else {"sample_weight": self.weight}
        return selector.fit(self.X, self.labels, **weights)

    def without_features(self) -> Samples:
        """What splits depend on: taking some of these samples copies nothing large."""
        return replace(self, X=np.empty((len(self), 0)))

    def split(self, training: Ints, test: Ints) -> Split:
        split = Split(self.take(training), self.take(test))
        return split if self.transformer is None else split.transformed(clone(self.transformer))

    def transformed(self) -> Samples:
        """The samples as transformed by the transformer, which is fitted to all of them."""
        return self if self.transformer is None else replace(self, X=clone(self.transformer).fit_transform(self.X))

    def scaled(self) -> Samples:
        """Every feature with mean 0 and standard deviation 1 over all samples, those of the test among them."""
        return replace(self, X=StandardScaler().fit_transform(self.X))


@dataclass(frozen=True)
class Split:
    """Samples to learn from and samples to test on."""

    training: Samples
    test: Samples

    def transformed(self, transformer: Any) -> Split:
        """Both parts, transformed by a transformer that is fitted to the training samples alone."""
        fitted = transformer.fit(self.training.X)
        return Split(*(replace(part, X=fitted.transform(part.X)) for part in (self.training, self.test)))

    @property
    def teaches(self) -> bool:
        """Whether there are at least two classes to learn to separate."""
        return len(np.unique(self.training.y)) > 1
