"""Class codes as the matrices that methods work with."""

from __future__ import annotations

import numpy as np

from dsofs.design.types import Floats, Ints


def indicators(codes: Ints, n_states: int) -> Floats:
    """One column of 0 / 1 per state."""
    return (codes[:, None] == np.arange(n_states)).astype(np.float64)


def one_versus_rest(codes: Ints, n_classes: int) -> Floats:
    """Y: one column of +1 / -1 per class; for two classes one column, +1 for the second."""
    Y = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    return Y[:, 1:] if n_classes == 2 else Y
