"""The samples an experiment runs on, and those of one split of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.preprocessing import StandardScaler

from dsofs.arrays.types import Floats, Ints


@dataclass(frozen=True)
class Samples:
    """X, y and, where several samples belong together (one patient, one speaker), the group of each."""

    X: Floats
    y: Ints
    groups: Ints | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, indices: Ints) -> Samples:
        groups = None if self.groups is None else self.groups[indices]
        return Samples(self.X[indices], self.y[indices], groups)

    def scaled(self) -> Samples:
        """Every feature with mean 0 and standard deviation 1 over all samples, those of the test among them."""
        return replace(self, X=StandardScaler().fit_transform(self.X))


@dataclass(frozen=True)
class Split:
    """Samples to learn from and samples to test on."""

    training: Samples
    test: Samples

    def scaled(self) -> Split:
        """Both scaled with what the training samples alone tell."""
        scaler = StandardScaler().fit(self.training.X)
        return Split(*(replace(part, X=scaler.transform(part.X)) for part in (self.training, self.test)))

    @property
    def teaches(self) -> bool:
        """Whether there are at least two classes to learn to tell apart."""
        return len(np.unique(self.training.y)) > 1
