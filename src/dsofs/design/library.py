"""Arrays of any array-API library: to the host and back, and the few operations that libraries spell differently."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array, to_device

from dsofs.design.types import AnyArray, Floats, Ints


def to_numpy(array: AnyArray) -> Floats:
    """The array on the host, as NumPy float64 that can be written to."""
    return np.require(on_host(array), np.float64, "W")


def on_host(array: AnyArray) -> np.ndarray:
    """The array as a NumPy array of its own type, wherever it is."""
    if is_numpy_array(array):
        return np.asarray(array)
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError):  # on a device that NumPy cannot read
        return np.from_dlpack(to_device(array, "cpu"))


def like(X: AnyArray, host: np.ndarray) -> AnyArray:
    """Numbers of the host in the library, dtype and device of X."""
    if is_numpy_array(X):
        return host
    return array_namespace(X).asarray(host, dtype=X.dtype, device=device(X))


def take(X: AnyArray, index: Ints, axis: int) -> AnyArray:
    """The rows (axis 0) or columns (axis 1) ``index`` of X."""
    if is_numpy_array(X):
        return X.take(index, axis)  # at once: on small data the way through the namespace takes longer than the rest
    xp = array_namespace(X)
    return xp.take(X, xp.asarray(index, device=device(X)), axis=axis)


def widest_float(X: AnyArray) -> Any:
    """float64, or float32 on devices without it."""
    xp = array_namespace(X)
    floats = xp.__array_namespace_info__().dtypes(device=device(X), kind="real floating")
    return floats.get("float64", xp.float32)
