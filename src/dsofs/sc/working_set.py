"""A fit on the cells that decide it: some of every type first, then those whose margins it violates.

Cells with their margins have no part in the optimum. So a fit on a few cells that leaves the others outside the margin
equals a fit on all of them, up to slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsofs.design.types import AnyArray, Floats, Ints
from dsofs.methods.dso.selector import DSOSelector

ALL_CELLS = 10_000  # up to here all cells take part
FIRST_CELLS = 3_000  # of more than that, as evenly divided among the types as they allow
ADDED_CELLS = 1_000  # in each round after the first
ROUNDS = 3
KEPT = 0.5  # of the margin 1: a cell that has this much of it for every type is not added


@dataclass(frozen=True)
class CellFit:
    """A selector, the cells it was fitted on, and the share of all cells that have their margin in it."""

    selector: DSOSelector
    cells: Ints
    share_with_margin: float


def fit_cells(X: AnyArray, codes: Ints, n_genes: int, **known: Any) -> CellFit:
    """Every type has the same weight; ``known`` is passed to the selector."""
    cells = np.arange(len(codes)) if len(codes) <= ALL_CELLS else even_cells(codes, FIRST_CELLS)
    for turn in range(ROUNDS):
        selector = DSOSelector(n_genes, intercept_penalty=0.0, class_weight="balanced", **known)
        selector.fit(X[cells], codes[cells])
        margins = least_margins(selector, X, codes)
        worst = violating(margins, codes, cells, ADDED_CELLS)
        if not len(worst) or turn == ROUNDS - 1:
            break
        cells = np.union1d(cells, worst)
    return CellFit(selector, cells, float(np.mean(margins >= KEPT)))


def even_cells(codes: Ints, most: int) -> Ints:
    """A number of cells: one of each type, then a second, and so on, at random."""
    return np.sort(np.argsort(random_turns(codes), kind="stable")[:most])


def random_turns(codes: Ints) -> Ints:
    """The place of each cell among those of its type in a random order, which is always the same."""
    return turns(codes, np.random.default_rng(0).random(len(codes)))


def turns(codes: Ints, values: Floats) -> Ints:
    """The place of each cell among those of its type, by value: 0, 1, ..."""
    order = np.lexsort((values, codes))
    counts = np.bincount(codes)
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return place


def least_margins(selector: DSOSelector, X: AnyArray, codes: Ints) -> Floats:
    """min_j y_j (x'w_j + b_j) of each cell: how far it is on its side of the nearest of all types."""
    used = np.flatnonzero(np.any(selector.coef_ != 0, axis=0))
    values = np.asarray(X[:, used] @ selector.coef_[:, used].T) + selector.intercept_
    if values.shape[1] == 1:
        return np.asarray(np.where(codes == selector.classes_[1], values[:, 0], -values[:, 0]))
    return np.where(codes[:, None] == selector.classes_, values, -values).min(axis=1)


def violating(margins: Floats, codes: Ints, cells: Ints, most: int) -> Ints:
    """The other cells that lack their margin, the worst of each type first."""
    lacking = margins < KEPT
    lacking[cells] = False
    index = np.flatnonzero(lacking)
    place = turns(codes[index], margins[index])
    return np.sort(index[np.lexsort((margins[index], place))[:most]])
