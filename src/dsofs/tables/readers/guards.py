"""Refuse damaged files and, before memory is allocated, files that would not fit or are archive bombs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dsofs.design.budget import DOUBLE, available_bytes
from dsofs.files import DamagedFileError

# Tables pack 2 to 30 times smaller, tables of zeros more; files that are small when unpacked can do no harm.
LARGEST_RATIO = 100
HARMLESS_BYTES = 32 * 2**20
# The widest sparse data in use have some ten million columns, with far more values than columns.
HARMLESS_COLUMNS = 2**22


@contextmanager
def as_damage(cure: str, what: str = "it is cut short or damaged") -> Iterator[None]:
    """Turn any error of a library on a damaged file, MemoryError included, into one sentence with a cure."""
    try:
        yield
    except DamagedFileError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DamagedFileError(f"{what} ({reason}): {cure}") from error


def refuse_bomb(packed: int, unpacked: int, cure: str) -> None:
    """Refuse content that unpacks to far more than data do."""
    if unpacked > max(HARMLESS_BYTES, LARGEST_RATIO * packed):
        raise DamagedFileError(
            f"{_size(packed)} of it unpack to {_size(unpacked)} or more, which data hardly ever do. If it is no "
            f"attack, {cure}"
        )


def refuse_too_big(needed: int) -> None:
    """Refuse what is declared larger than the free memory."""
    available = available_bytes()
    if available is not None and needed > available:
        raise DamagedFileError(
            f"it needs {_size(needed)} of memory, and {_size(available)} are free: leave out samples or columns, or "
            "use a larger machine"
        )


def refuse_too_wide(n_columns: int, n_values: int) -> None:
    """Refuse a sparse matrix with far more columns than values: a damaged index, or an attack."""
    refuse_too_big(DOUBLE * n_columns)
    if n_columns > max(HARMLESS_COLUMNS, LARGEST_RATIO * n_values):
        raise DamagedFileError(
            f"it has a value in column {n_columns}, and only {n_values} values in all: check that index"
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.1f} MiB" if n_bytes < 10 * 2**30 else f"{n_bytes / 2**30:,.0f} GiB"
