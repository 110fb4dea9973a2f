"""The data that benchmarks run on: 60 % of each real set, standardised, and synthetic shapes."""

from __future__ import annotations

import os
from pathlib import Path

import click
import numpy as np
from sklearn.model_selection import train_test_split

TALL = ("semeion", "mnist_4v9", "isolet")
WIDE = ("ar", "tox_171", "umist", "leukemia_mll", "brain_tumor_1", "orl")


def available(names: tuple[str, ...] = WIDE) -> list[str]:
    folder = os.environ.get("DSOFS_DATA")
    return [name for name in names if folder and (Path(folder) / f"{name}.npz").exists()]


def needed(names: tuple[str, ...]) -> list[str]:
    """Those at hand, for a study that is nothing without them."""
    found = available(names)
    if not found:
        raise click.UsageError(f"Set DSOFS_DATA to a folder with at least one of {', '.join(names)} (.npz).")
    return found


def load(name: str, seed: int = 0, part: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """A stratified part of a real data set, standardised, without constant columns."""
    with np.load(Path(os.environ["DSOFS_DATA"]) / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    if part < 1:
        X, _, y, _ = train_test_split(X, y, train_size=part, random_state=seed, stratify=y)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def synthetic(seed: int, m: int, n: int, c: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten features tell the classes apart, the others are noise; standardised."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % c)
    X = rng.normal(size=(m, n))
    X[:, :10] += rng.normal(size=(c, 10))[y]
    return (X - X.mean(axis=0)) / X.std(axis=0), y
