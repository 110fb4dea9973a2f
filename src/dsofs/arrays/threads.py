"""BLAS threads: one for the many small solves of a fit, all of them for a big product.

NumPy and SciPy carry a BLAS each, and their thread pools spin against one another during small solves. The limit is
process-wide; threadpoolctl (from 3.8) lets the thread that set it first keep it, so concurrent fits do not fight.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from threadpoolctl import ThreadpoolController

_outside: ContextVar[int | None] = ContextVar("threads outside of single_threaded", default=None)


@cache
def _controller() -> ThreadpoolController:
    # Listing the loaded libraries takes milliseconds; by the first fit NumPy's and SciPy's are loaded.
    return ThreadpoolController()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS to one thread for the time of the block."""
    libraries = _controller().select(user_api="blas").lib_controllers
    token = _outside.set(max((library.num_threads for library in libraries), default=None))
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _outside.reset(token)


@contextmanager
def all_threads() -> Iterator[None]:
    """Inside ``single_threaded``: the threads there were outside, for one big product."""
    with _controller().limit(limits=_outside.get(), user_api="blas"):
        yield
