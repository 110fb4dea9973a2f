"""What libraries raise on damaged files: a dozen kinds each, MemoryError among them; the user gets one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dsofs.files import DamagedFileError


@contextmanager
def told_as_damage(cure: str, what: str = "it is cut short or damaged") -> Iterator[None]:
    """Turn whatever is raised while a file is read into a DamagedFileError that says what to do."""
    try:
        yield
    except DamagedFileError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DamagedFileError(f"{what} ({reason}): {cure}") from error
