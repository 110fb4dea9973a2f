"""What a fit may use: how much memory, and so how much of X it works on at a time; and threads.

Threads are our own, each with a BLAS of one thread. NumPy and SciPy carry a BLAS each, whose threads go on spinning
for a while after a product, in the way of one another and of the small solves that follow. The limit is process-wide.
Of fits in several threads one sets it, and lifts it when it ends; the others leave it alone.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from dsofs.design.types import Floats

DOUBLE = 8
MEBIBYTE = 2**20
LIMIT_SHARE = 8  # a block takes at most this part of a memory limit
ALWAYS_FREE = 16 * MEBIBYTE  # of which the system need not be asked, which takes longer than other checks of a fit
IN_USE = 3  # columns per sample that the loop works on at p = 1
Part = TypeVar("Part")
# Up to so many multiplications further threads do not pay; beyond, they share them in pieces of about so many.
THREADED, PIECE, MOST_PIECES = 1e7, 4e6, 16
_limited = Lock()  # held by the thread that has set the limit
_outside: ContextVar[int | None] = ContextVar("threads outside of single_threaded", default=None)


@dataclass(frozen=True)
class Budget:
    """Sizes, in bytes, of what is worked on at a time."""

    # Columns are standardised and held in blocks of at most this size; a data set that fits is held whole.
    block: int = 32 * MEBIBYTE
    # More samples than features are gone through many times in a fit, a few of them here and a few there.
    tall_block: int = 256 * MEBIBYTE
    # Pieces this small stay in a core's cache between being scaled and being multiplied.
    chunk: int = 2 * MEBIBYTE
    # With fewer columns in a piece, adding up an m x m matrix costs as much as multiplying.
    fewest: int = 512
    # Columns of X as it is that are multiplied at a time: nothing has to stay in a cache, and calls take time.
    views: int = 8192

    @classmethod
    def within(cls, memory_limit: int | None) -> Budget:
        """The usual sizes, or smaller ones that suit a limit in bytes."""
        if memory_limit is None:
            return cls()
        block = min(cls.block, memory_limit // LIMIT_SHARE)
        return cls(block, min(cls.tall_block, max(block, memory_limit // LIMIT_SHARE)), min(cls.chunk, block))

    def holds(self, n_samples: int, n_columns: int) -> bool:
        """Whether a matrix of this size is held whole."""
        return DOUBLE * n_samples * n_columns <= self.largest_block(n_samples, n_columns)

    def largest_block(self, n_samples: int, n_columns: int) -> int:
        """Of many samples, as many columns as are in use at p = 1: taking them from X for each product takes longer."""
        if n_samples > n_columns:
            return self.tall_block
        return min(max(self.block, DOUBLE * n_samples * IN_USE * n_samples), self.tall_block)

    def columns(self, n_samples: int) -> int:
        """Columns per piece: cache-sized, but enough of them to outweigh adding up an m x m matrix."""
        return max(self.fewest, self.chunk // (DOUBLE * max(n_samples, 1)))

    def samples(self, n_columns: int) -> int:
        """Samples per piece, likewise."""
        return self.columns(n_columns)

    def tiles(self, n_samples: int, n_columns: int) -> Iterator[tuple[slice, slice]]:
        """An m x n matrix cut across its longer side."""
        if n_samples > n_columns:
            return ((rows, slice(0, n_columns)) for rows in cuts(n_samples, self.samples(n_columns)))
        return ((slice(0, n_samples), columns) for columns in cuts(n_columns, self.columns(n_samples)))

    def fit_bytes(self, n_samples: int, n_features: int, n_targets: int, *, chunked: bool = False) -> int:
        """Bytes that a fit needs beyond X, for so many columns of Y; ``chunked``: X is not in memory."""
        n = n_features + 1
        largest = self.tall_block if chunked else self.largest_block(n_samples, n)
        # What is in use now and in the next step; and what they are taken from, if that is not X itself.
        blocks = (2 + chunked) * min(largest, DOUBLE * n_samples * n)
        if n_samples <= n:  # three m x m matrices (and one that is kept, of an X in chunks), four n x c ones
            return DOUBLE * ((3 + chunked) * n_samples**2 + 4 * n_features * n_targets) + blocks
        # An n x n matrix per class and its factor, as much again for support vectors; ten numbers per sample and class,
        # and fifteen for which samples a piece of an X in chunks holds and what is done with them.
        per_sample = 10 * n_targets + 15 * chunked
        return DOUBLE * ((3 * n_targets + 12) * n_features**2 + per_sample * n_samples) + blocks


def cuts(length: int, step: int) -> Iterator[slice]:
    """0..length in pieces of ``step``."""
    return (slice(first, min(first + step, length)) for first in range(0, length, step))


def available_bytes() -> int | None:
    """Memory that is available without swapping, or None where the system does not say."""
    with suppress(OSError, ValueError, StopIteration):  # Linux: what is free, and what the file cache would give back
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def refuse_if_too_big(needed: int, memory_limit: int | None, owner: str) -> None:
    """Raise MemoryError, before anything is allocated, if ``needed`` bytes are not available."""
    if memory_limit is None and needed <= ALWAYS_FREE:
        return
    limit = available_bytes() if memory_limit is None else memory_limit
    if limit is not None and needed > limit:
        source = "free memory" if memory_limit is None else "'memory_limit'"
        raise MemoryError(
            f"{owner} needs about {needed / MEBIBYTE:,.0f} MiB ({needed} bytes) beyond X, and the {source} is "
            f"{limit / MEBIBYTE:,.0f} MiB. Fit on fewer samples, or raise 'memory_limit'."
        )


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


@cache
def _helpers() -> ThreadPoolExecutor:
    """Threads that wait for work: starting them anew takes as long as many a product."""
    return ThreadPoolExecutor(os.cpu_count(), "dsofs")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # a fork has none of its parent's threads


def in_parallel(function: Callable[[Part], object], parts: Sequence[Part]) -> None:
    """Call ``function`` on all parts of a large piece of work, in as many threads as BLAS had outside of the limit."""
    others = min(_outside.get() or 1, len(parts)) - 1
    if others < 1:
        for part in parts:
            function(part)
        return
    todo = deque(parts)

    def work() -> None:
        while True:
            try:
                part = todo.popleft()
            except IndexError:  # others took the last
                return
            function(part)

    started = [_helpers().submit(work) for _ in range(others)]
    try:
        alone = copy_context()
        alone.run(_outside.set, None)  # what ``function`` calls asks for no further threads
        alone.run(work)
    finally:
        todo.clear()  # after an error
        wait(other for other in started if not other.cancel())
    for other in started:
        if not other.cancelled():
            other.result()


def for_each(function: Callable[[Part], None], parts: Sequence[Part], multiplications: float) -> None:
    """Call ``function``, whose work is done by LAPACK, on all parts: in threads if all together is worth it."""
    if multiplications > THREADED:
        in_parallel(function, parts)
    else:
        for part in parts:
            function(part)


def pieces(length: int, multiplications: float, most: int = MOST_PIECES) -> list[slice]:
    """0..length for threads to share so much work: whatever their number, so that it does not change any result."""
    count = min(int(multiplications / PIECE), most, length) if multiplications > THREADED else 1
    return list(cuts(length, max(1, -(-length // max(1, count)))))


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
