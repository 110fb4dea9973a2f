"""Commands whose work is done by a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import joblib

from dsofs.cli.messages import InputError
from dsofs.optional import require

PATIENCE = 10  # seconds to wait for a scheduler: one that is there answers in well under a second


@contextmanager
def on_cluster(scheduler: str | None) -> Iterator[None]:
    """What joblib runs in parallel runs on the workers of the scheduler with this address; None: on this machine."""
    if scheduler is None:
        yield
        return
    distributed = require("distributed", "cluster")
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"No Dask scheduler answers at {scheduler!r}: start one with 'dask scheduler'.") from error
    with client, joblib.parallel_config("dask"):
        yield
