"""Threads: those of BLAS, one for the many small solves of a fit, all of them for a big product; and a team of our own.

NumPy and SciPy carry a BLAS each, and their thread pools spin against one another during small solves. The limit is
process-wide. Of fits in several threads one sets it, and lifts it when it ends; the others leave it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from dsofs.design.types import Floats

Part = TypeVar("Part")
# Below so many multiplications more threads do not pay: they are still awake, and in the way, when small solves follow.
THREADED = 3e7
_limited = Lock()  # held by the thread that has set the limit
_outside: ContextVar[int | None] = ContextVar("threads outside of single_threaded", default=None)


@cache
def _controller() -> ThreadpoolController:
    # Listing the loaded libraries takes milliseconds; by the first fit NumPy's and SciPy's are loaded.
    return ThreadpoolController()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS to one thread for the time of the block, unless that has been done."""
    if not _limited.acquire(blocking=False):
        yield
        return
    try:
        libraries = _controller().select(user_api="blas").lib_controllers
        _outside.set(max((library.num_threads for library in libraries), default=None))
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _outside.set(None)
        _limited.release()


@contextmanager
def all_threads() -> Iterator[None]:
    """In the thread that set the limit: the threads there were outside, for one big product."""
    outside = _outside.get()
    with nullcontext() if outside is None else _controller().limit(limits=outside, user_api="blas"):
        yield


def threads_for(multiplications: int) -> AbstractContextManager[None]:
    """All threads for a product that is worth it."""
    return all_threads() if multiplications > THREADED else nullcontext()


def in_parallel(function: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Call ``function`` on all parts of a large piece of work, in as many threads as BLAS had outside of the limit.

    Memory-bound work gains more from it than from the threads of BLAS, since copies and conversions are shared too.
    """
    n_threads = min(_outside.get() or 1, len(parts))
    if n_threads <= 1:
        for part in parts:
            function(part)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(function, parts):
            pass


class Team:
    """Threads that share work which releases Python's lock. They start once and meet once for each ``sum``."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._others = ThreadPoolExecutor(max(1, n_threads - 1))  # a thread starts when it is first needed

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self._others.shutdown(cancel_futures=True)

    def sum(self, part: Callable[[slice], Floats]) -> Floats:
        """Sum of ``part(share)`` over the shares 0::n, 1::n, ... of whatever there is to do."""
        first, *rest = (slice(thread, None, self.n_threads) for thread in range(self.n_threads))
        others = [self._others.submit(part, share) for share in rest]
        total = part(first)
        for other in others:
            total += other.result()
        return total
