"""Old addresses of names that have moved: they work for one more version, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def moved(old: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of the module ``old``, whose names live in the modules that ``homes`` gives."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        warnings.warn(
            f"{old}.{name} has moved and will not be found there in the next version: import it from {homes[name]}.",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(import_module(homes[name]), name)

    return find
