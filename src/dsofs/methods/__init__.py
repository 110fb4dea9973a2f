"""The methods that comparisons run over. One file each: its name is the method's, and ``make(k, seed)`` its selector.

A new method is a new file here; nothing else has to know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

Make = Callable[..., Any]


class Methods(Mapping[str, Make]):
    """Method -> the function ``make(k, seed=0)`` that returns a selector of k features; loaded when asked for."""

    def __getitem__(self, name: str) -> Make:
        if name not in list(self):
            raise KeyError(f"{name!r} is not a method. There are: {', '.join(self)}.")
        make = import_module(f"{__name__}.{name}").make
        assert callable(make)
        return make

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(module.name for module in iter_modules(__path__)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"METHODS({', '.join(self)})"


METHODS = Methods()
