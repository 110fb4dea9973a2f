"""One file per method: ``NAME`` and ``prepare(X, y)``, which returns what is timed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

Prepare = Callable[..., Callable[[], object]]


def all_methods() -> dict[str, Prepare]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {module.NAME: module.prepare for module in sorted(modules, key=lambda module: module.ORDER)}
