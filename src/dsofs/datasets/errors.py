"""What can go wrong with a data set."""

from __future__ import annotations


class DatasetNotFoundError(FileNotFoundError):
    """The data set is not at hand and could not be downloaded; says where to get it and where to put it."""


class DamagedFileError(ValueError):
    """A file is cut short, or does not hold what its name promises."""
