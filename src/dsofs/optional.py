"""Packages that are not installed with dsofs itself."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def require(package: str, extra: str) -> ModuleType:
    """The package, or an error that names the extra to install."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise ImportError(f"{package} is not installed. Install it with: pip install 'dsofs[{extra}]'") from error
