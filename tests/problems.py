"""Problems that the tests solve."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from dsofs.design import Block
from dsofs.problem import Problem


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def label_columns(y):
    """One column of +1 / -1 per class, a single one for two classes."""
    classes = np.unique(y)
    Y = np.where(y[:, None] == classes, 1.0, -1.0)
    return Y[:, 1:] if len(classes) == 2 else Y


def random_data(seed, m=40, n=120, c=3, *, informative=5, correlated=False):
    """m samples of n features, some of which tell the c classes apart."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % c)
    X = rng.normal(size=(m, n))
    if correlated:
        X += 2 * rng.normal(size=(m, 1)) + np.repeat(rng.normal(size=(m, n // 10 + 1)), 10, axis=1)[:, :n]
    X[:, :informative] += rng.normal(size=(c, informative))[y]
    return X, y


def random_problem(seed, m=40, n=120, c=3, *, p=1.0, bias=True, correlated=False, **options):
    X, y = random_data(seed, m, n, c, correlated=correlated)
    Z = standardised(X)
    if bias:
        Z = np.column_stack([Z, np.ones(m)])
    return Problem(Block(Z), label_columns(y), p, **options)


def separable_problem(seed, m, n, c, *, p=1.0, gap=0.3, **options):
    """m > n samples on the right side of c (one for c = 2) random hyperplanes, none of them close to one."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, 1 if c == 2 else c)) / np.sqrt(n)
    Z = rng.normal(size=(20 * m, n))
    Z = Z[(np.abs(Z @ W) > gap).all(axis=1)][:m]
    Z = np.column_stack([Z, np.ones(len(Z))])
    return Problem(Block(Z), np.where(Z[:, :-1] @ W > 0, 1.0, -1.0), p, **options)


def real_data(name, part=0.6, seed=0):
    """A stratified part of a real data set, or a skip that says what is missing."""
    folder = os.environ.get("DSOFS_DATA")
    if not folder:
        pytest.skip("real data: set DSOFS_DATA to the folder of the npz files")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"real data: {name}.npz is not in DSOFS_DATA")
    with np.load(path) as file:
        X, y = file["X"].astype(np.float64), file["y"]
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    rows = np.concatenate([index[: max(2, round(part * len(index)))] for index in chosen])
    return X[rows], y[rows]
