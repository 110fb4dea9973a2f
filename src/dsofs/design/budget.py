"""How much memory a fit needs, and the refusal when it cannot be had."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

DOUBLE = 8
# Columns are standardised and held in pieces of at most this size; a data set that fits is held whole.
BLOCK_BYTES = 32 * 2**20
# More samples than features are gone through many times in a fit, a few of them here and a few there.
TALL_BLOCK_BYTES = 256 * 2**20
# Pieces this small stay in a core's cache between being scaled and being multiplied.
CHUNK_BYTES = 2 * 2**20


def fit_bytes(n_samples: int, n_features: int, n_columns: int) -> int:
    """Bytes a fit needs beyond X, for n_columns classes."""
    blocks = 2 * min(block_bytes(n_samples, n_features + 1), DOUBLE * n_samples * (n_features + 1))
    if n_samples <= n_features + 1:  # three m x m matrices, four n x c ones
        return DOUBLE * (3 * n_samples**2 + 4 * n_features * n_columns) + blocks
    # An n x n matrix per class and its factor, as much again for support vectors; ten numbers per sample and class.
    return DOUBLE * ((3 * n_columns + 12) * n_features**2 + 10 * n_samples * n_columns) + blocks


def block_bytes(n_samples: int, n_columns: int) -> int:
    """The largest matrix that is held whole."""
    return BLOCK_BYTES if n_samples <= n_columns else TALL_BLOCK_BYTES


def available_bytes() -> int | None:
    """Memory that can be had without swapping, or None where the system does not tell."""
    with suppress(OSError, ValueError, StopIteration):  # Linux: what is free, and what the file cache would give back
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def refuse_if_too_big(needed: int, memory_limit: int | None, owner: str) -> None:
    """Raise MemoryError, before anything is allocated, if ``needed`` bytes cannot be had."""
    limit = available_bytes() if memory_limit is None else memory_limit
    if limit is not None and needed > limit:
        source = "free memory" if memory_limit is None else "'memory_limit'"
        raise MemoryError(
            f"{owner} needs about {needed / 2**20:,.0f} MiB ({needed} bytes) beyond X, and the {source} is "
            f"{limit / 2**20:,.0f} MiB. Fit on fewer samples, or raise 'memory_limit'."
        )
