"""A protocol for data with missing values: they are filled in each split with what its training samples tell."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsofs.experiments.protocols import Protocol
from dsofs.statistics.samples import Samples, Split
from dsofs.statistics.splits import Rows
from dsofs.tables.imputing import make_imputer


@dataclass(frozen=True)
class ImputedProtocol(Protocol):
    """A protocol whose splits are without gaps; ``impute`` is "median", "most-frequent" or "knn"."""

    impute: str = "median"

    def _split(self, samples: Samples, rows: Rows) -> Split:
        gappy = samples.split(*rows)
        imputer = make_imputer(self.impute).fit(gappy.training.X)
        filled = (replace(part, X=imputer.transform(part.X)) for part in (gappy.training, gappy.test))
        return Split(*filled).scaled()


def with_gaps(protocol: Protocol, impute: str) -> ImputedProtocol:
    """The clean protocol on data with gaps, under a name of its own."""
    settings = {name: getattr(protocol, name) for name in Protocol.__dataclass_fields__}
    return ImputedProtocol(**{**settings, "name": f"{protocol.name}, {impute} imputed"}, impute=impute)
