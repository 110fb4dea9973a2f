"""Packages that are not installed with dsofs itself."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

INSTALLED_AS = {"PIL": "pillow"}  # packages that pip knows by another name


def require(package: str, extra: str) -> ModuleType:
    """The package, or an error that says how to install it: alone, or with the extra that it belongs to.

    ``pip install 'dsofs[...]'`` would work only where dsofs is on an index.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        module = package.partition(".")[0]
        name = INSTALLED_AS.get(module, module)
        raise ImportError(
            f"{name} is not installed. Install it with: pip install {name} (or, in the folder of the source of dsofs, "
            f"everything of this extra: pip install '.[{extra}]')"
        ) from error
