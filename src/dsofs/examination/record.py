"""Where findings come from: the data, the selector with its certificate, when they were measured, and with what."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy import sparse

from dsofs.design.types import Ints
from dsofs.environment import Stopwatch, environment
from dsofs.examination.findings import Convergence, Origin, Plan
from dsofs.examination.views import rounded
from dsofs.statistics.classifier import model_name
from dsofs.statistics.samples import Rows, Samples

ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # the address of a function in memory, which differs from run to run


@dataclass(frozen=True)
class Source:
    """Where the data came from, for the record."""

    name: str = "data"
    sha256: str | None = None  # of the file; None: of the numbers themselves
    command: str | None = None
    warnings: tuple[str, ...] = ()  # of reading and selecting
    seconds: dict[str, float] = field(default_factory=dict)
    leaking: tuple[str, ...] = ()  # features that give the label away, besides those that equal it
    repeated_ids: tuple[str, ...] = ()  # what samples that may belong together, but were split, have in common


def convergence(fitted: Any, selectable: Ints) -> Convergence | None:
    """The convergence of methods that keep a history; ``selectable`` are the features without covariates."""
    history = getattr(fitted, "history_", None)
    if history is None:
        return None
    certified = np.isfinite(fitted.duality_gap_)
    value = fitted.duality_gap_ if certified else fitted.stationarity_
    return Convergence(
        status=fitted.status_,
        certificate="duality gap" if certified else "stationarity",
        value=finite(value),
        n_rows=int(np.count_nonzero(np.any(fitted.coef_[:, selectable] != 0, axis=0))),
        objective=rounded(history["objective"]),
        gap=[finite(gap) for gap in history["gap"]],
        active=[int(rows) for rows in history["active"]],
    )


def finite(value: float, digits: int = 4) -> float | None:
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def origin(
    source: Source,
    selector: Any,
    data: Samples,
    splits: Sequence[Rows],
    seed: int,
    watch: Stopwatch,
    plan: Plan,
) -> Origin:
    given = selector.get_params(deep=False) | ({} if data.transformer is None else {"transform": data.transformer})
    parameters = {name: _plain(value) for name, value in given.items()}
    sha256 = source.sha256 or data_hash(data)
    watch.lap("describing")
    stages = [*source.seconds, *(stage for stage in watch.laps if stage not in source.seconds)]
    return Origin(
        data=source.name,
        sha256=sha256,
        command=source.command,
        method=type(selector).__name__,
        parameters=parameters,
        seed=seed,
        n_resamples=len(splits),
        classifier=model_name(len(splits[0][0])),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=environment(),
        seconds={stage: source.seconds.get(stage, 0.0) + watch.laps.get(stage, 0.0) for stage in stages},
        plan=plan,
    )


def _plain(value: Any) -> Any:
    """A parameter as a JSON value, or in words if JSON has no such value."""
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if hasattr(value, "__len__") and len(value) > 20:
        return f"{type(value).__name__} of {len(value)}"
    return ADDRESS.sub("", str(value))


def data_hash(data: Samples) -> str:
    """SHA-256 of the numbers and class codes as they were examined."""
    digest = hashlib.sha256()
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    for part in (X.indptr, X.indices, X.data) if sparse.issparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).data)
    digest.update(np.ascontiguousarray(data.y).data)
    return digest.hexdigest()
