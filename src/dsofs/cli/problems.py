"""What can go wrong for a user: one line on stderr, and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

BAD_INPUT = 2
INTERRUPTED = 130  # as shells have it for Ctrl-C


class InputError(click.ClickException):
    """Data or options that cannot be used."""

    exit_code = BAD_INPUT


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Turn what the library refuses into one line that says what to do."""
    try:
        yield
    except MemoryError as error:
        raise InputError(_one_line(error) or "There is not enough memory: leave out samples or columns.") from error
    except (OSError, ValueError, ImportError) as error:
        raise InputError(_one_line(error)) from error


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{str(error.filename)!r}: {error.strerror}."
    return " ".join(str(error).split())
