"""Commands whose work is done by a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import joblib

from dsofs.cli.messages import InputError
from dsofs.optional import require

# When a command is interrupted they log connections that are closed; those below others have levels of their own.
LOGGERS = ("distributed", "distributed.client", "tornado.application", "asyncio")
PATIENCE = 10  # seconds to wait for a scheduler: one that is there answers in well under a second


@contextmanager
def on_cluster(scheduler: str | None) -> Iterator[None]:
    """What joblib runs in parallel runs on the workers of the scheduler with this address; None: on this machine."""
    if scheduler is None:
        yield
        return
    distributed = require("distributed", "cluster")
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Not as the default client: one that fails to connect would leave Dask without any scheduler.
        client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # of many kinds, for addresses that are wrong in many ways
        raise InputError(f"No Dask scheduler answers at {scheduler!r}: start one with 'dask scheduler'.") from error
    with client, joblib.parallel_config("dask", client=client):
        yield
