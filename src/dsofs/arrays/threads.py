"""BLAS threads: one for the many small solves of a fit, all of them for a big product.

NumPy and SciPy carry a BLAS each, and their thread pools spin against one another during small solves.
The limit is process-wide, so concurrent fits share one: the first sets it, the last restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders = 0
_limiter: Any = None


@cache
def _controller() -> ThreadpoolController:
    # Listing the loaded libraries takes milliseconds; by the first fit NumPy and SciPy are loaded.
    return ThreadpoolController()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS to one thread for the time of the block, however many threads are inside such a block."""
    global _holders, _limiter
    with _lock:
        _holders += 1
        if _holders == 1:
            _limiter = _controller().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limiter.restore_original_limits()
                _limiter = None


@contextmanager
def all_threads() -> Iterator[None]:
    """Inside ``single_threaded``: give a big product all threads, unless another fit is under way too."""
    global _limiter
    with _lock:
        lifted = _holders == 1
        if lifted:
            _limiter.restore_original_limits()
    try:
        yield
    finally:
        with _lock:
            if lifted and _holders:
                _limiter = _controller().limit(limits=1, user_api="blas")
