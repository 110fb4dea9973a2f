"""Numbers of the exhibits, from rows of the results file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from dsofs.evaluation import Row


@dataclass(frozen=True)
class Accuracy:
    """Mean and standard deviation (%) over trials."""

    mean: float
    std: float
    trials: int

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.std:.2f}"


def of_protocol(rows: Iterable[Row], protocol: str) -> list[Row]:
    return [row for row in rows if row.parameters.get("protocol") == protocol]


def accuracy(scores: Sequence[float]) -> Accuracy:
    return Accuracy(100 * fmean(scores), 100 * stdev(scores) if len(scores) > 1 else 0.0, len(scores))


def accuracies(rows: Iterable[Row]) -> dict[tuple[str, str, int | None], Accuracy]:
    """(data, method, k) -> over all trials."""
    scores: dict[tuple[str, str, int | None], list[float]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            scores[row.data, row.method, row.k].append(row.score)
    return {key: accuracy(values) for key, values in scores.items()}
