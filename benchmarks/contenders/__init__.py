"""Who races: one file per contender, in a folder per study.

``NAME`` says who it is, ``TASK`` what it computes, ``REQUIREMENTS`` what is installed for it in an environment of its
own (none: it runs in ours), and ``TAKES_SPARSE = False`` that X must be dense; ``prepare(X, y)`` returns what is timed.
Packages of its own are imported within it. X is standardised where it is dense, y holds classes 0, 1, ... If there is a
``describe(result)``, it returns numbers to record with the times.

What contenders share is a module beside the folders: ``contenders.<name>`` to them, who run without the project.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def contenders(study: str) -> list[ModuleType]:
    """The contenders of a study."""
    folder = import_module(f"{__name__}.{study}")
    return [import_module(f"{folder.__name__}.{module.name}") for module in iter_modules(folder.__path__)]
