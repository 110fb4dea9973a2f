"""Old addresses and old names of arguments: they work for one more version, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


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


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose keywords have new names; ``names`` are old="new"."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                new = names[old]
                warnings.warn(
                    f"The {old!r} parameter of {function.__name__} is now {new!r}; the old name will be removed in the "
                    "next version.",
                    FutureWarning,
                    stacklevel=2,
                )
                if new in kwargs:
                    raise TypeError(f"{function.__name__}() got both {old!r} and {new!r}.")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
