"""A protocol for data with missing values: they are filled in each split with what its training samples tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dsofs.datasets.imputing import make_imputer
from dsofs.evaluation.protocols import Protocol
from dsofs.evaluation.samples import Samples, Split


@dataclass(frozen=True)
class ImputedProtocol(Protocol):
    """A protocol whose splits are without gaps; ``impute`` is "median", "most-frequent" or "knn"."""

    impute: str = "median"

    def _split(self, samples: Samples, training: Any, test: Any) -> Split:
        learnt, unseen = samples.take(training), samples.take(test)
        imputer = make_imputer(self.impute).fit(learnt.X)
        split = Split(*(replace(part, X=imputer.transform(part.X)) for part in (learnt, unseen)))
        return split.scaled()


def with_gaps(protocol: Protocol, impute: str) -> ImputedProtocol:
    """The clean protocol on data with gaps, under a name of its own."""
    settings = {name: getattr(protocol, name) for name in Protocol.__dataclass_fields__}
    return ImputedProtocol(**{**settings, "name": f"{protocol.name}, {impute} imputed"}, impute=impute)
