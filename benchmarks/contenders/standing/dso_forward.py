"""DSO with ``ranking="forward"``, which was the default before."""

from dsofs import DSOSelector


def make(k, seed=0):
    return DSOSelector(k, ranking="forward")
