"""What the commands do, as calls from Python; here, what refuses their arguments before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dsofs.methods import METHODS
from dsofs.validation import Rule, options

METHOD = options(*METHODS)


def check_arguments(owner: str, rules: Mapping[str, Rule], given: Mapping[str, Any]) -> None:
    """Raise ValueError for the first argument that breaks its rule."""
    for name, rule in rules.items():
        if not rule.test(given[name]):
            raise ValueError(f"The {name!r} parameter of {owner} must be {rule.words}. Got {given[name]!r} instead.")
