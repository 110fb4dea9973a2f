"""Names in messages: the first few of them, and the verb that fits their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

SHOWN = 5  # names listed in a message


def listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(map(repr, found[:SHOWN])) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def stand(names: Sequence[object] | np.ndarray) -> str:
    return "is" if len(names) == 1 else "are"


def has(names: Sequence[object]) -> str:
    return "has" if len(names) == 1 else "have"
