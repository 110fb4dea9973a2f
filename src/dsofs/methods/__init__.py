"""The methods, one file or folder each: what it computes, its estimator, and how comparisons make and tune it.

Its name is the method's, ``make(k, seed)`` its selector, and ``GRID``, where there is one, what is tuned: a parameter
of ``make`` -> its values. A new method is a new file here; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

SHARED = "shared"  # not a method: code that several of them share


@dataclass(frozen=True)
class Method:
    """A method: ``make(k, seed=0, **parameters)`` returns its selector, and ``grid`` holds the values to tune."""

    make: Callable[..., Any]
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __call__(self, k: int | float | None, seed: int = 0, **parameters: Any) -> Any:
        """A selector of k features."""
        return self.make(k, seed=seed, **parameters)


class Methods(Mapping[str, Method]):
    """Name -> :class:`Method`; loaded when asked for."""

    def __getitem__(self, name: str) -> Method:
        if name not in list(self):
            raise KeyError(f"{name!r} is not a method. There are: {', '.join(self)}.")
        module = import_module(f"{__name__}.{name}")
        return Method(module.make, getattr(module, "GRID", {}))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({module.name for module in iter_modules(__path__)} - {SHARED}))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"METHODS({', '.join(self)})"


METHODS = Methods()
