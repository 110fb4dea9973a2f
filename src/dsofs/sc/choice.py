"""The choice of a panel: candidates, a fit on the cells that decide it, and the markers that each type must have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsofs.design.linalg import hstack
from dsofs.design.types import AnyArray, Bools, Floats, Ints
from dsofs.sc.cells import Cells, candidates, correlations
from dsofs.sc.working_set import CellFit, fit_cells
from dsofs.validation import indicators

CANDIDATES = 500  # genes that a fit chooses among, those most correlated with some type; or twice the panel
LARGEST = 10  # genes of largest weight are the markers of a type; or twice as many as it must have


@dataclass(frozen=True)
class PanelTask:
    """The matrix, the type and batch of each of its cells, and what is known of the genes."""

    X: AnyArray
    codes: Ints  # of types; -1: a cell without a type, which takes no part
    types: list[str]
    batches: Ints | None
    n_genes: int
    include: Ints
    exclude: Ints
    min_per_group: int


@dataclass(frozen=True)
class Panel:
    """What was chosen, and on how many cells."""

    order: Ints  # all candidates by rank, those of the panel first
    genes: Ints  # of the panel, by rank
    markers: list[Ints]  # of each type, positions in ``genes``
    n_cells: int
    n_cells_used: int
    share_with_margin: float


def choose(task: PanelTask, among: Bools) -> Panel:
    """The panel of some cells."""
    cells, codes = Cells(task.X, among), task.codes[among]
    genes = _candidates(task, cells, codes)
    X = cells.of_genes(genes)
    fit = _fit(task, X, codes, genes, among)
    largest = largest_weights(_weights(fit, X, len(task.types)), max(LARGEST, 2 * task.min_per_group))
    order = np.argsort(fit.selector.ranking_[: len(genes)])
    order = order[~np.isin(genes[order], task.exclude)]
    order = with_markers(order, largest, task.n_genes, task.min_per_group, len(task.include))
    first = order[: task.n_genes]
    markers = [np.flatnonzero(np.isin(first, own)) for own in largest]
    return Panel(genes[order], genes[first], markers, len(codes), len(fit.cells), fit.share_with_margin)


def _candidates(task: PanelTask, cells: Cells, codes: Ints) -> Ints:
    """The genes that take part in the fit, in increasing order."""
    most = max(CANDIDATES, 2 * task.n_genes)
    if cells.n_genes <= most:
        return np.arange(cells.n_genes)
    sums, squares = cells.moments(codes, len(task.types))
    if not np.isfinite(squares).all():
        raise ValueError("select_panel cannot work with NaN or infinity, and X contains some.")
    r = correlations(sums, squares, np.bincount(codes, minlength=len(task.types)))
    r[:, task.exclude] = 0.0
    return np.union1d(candidates(r, most), task.include)


def _fit(task: PanelTask, X: AnyArray, codes: Ints, genes: Ints, among: Bools) -> CellFit:
    """``genes``: the columns of X."""
    known: dict[str, Any] = {}
    if len(task.include):
        known["include"] = np.searchsorted(genes, task.include)
    if np.isin(task.exclude, genes).any():
        known["exclude"] = np.flatnonzero(np.isin(genes, task.exclude))
    if task.batches is not None:
        levels = indicators(task.batches[among], int(task.batches.max()) + 1)[:, 1:]
        known["penalty_factor"] = {len(genes) + level: 0.0 for level in range(levels.shape[1])}
        X = hstack([X, levels])
    return fit_cells(X, codes, min(task.n_genes, len(genes) - len(known.get("exclude", ()))), **known)


def _weights(fit: CellFit, X: AnyArray, n_types: int) -> Floats:
    """A row per type: the weight of each gene (column of X), in units of its standard deviation."""
    mean, square = (np.asarray(each.mean(axis=0)).ravel() for each in (X, X.astype(np.float64) ** 2))
    coef = fit.selector.coef_[:, : X.shape[1]] * np.sqrt(np.maximum(square - mean**2, 0.0))
    weights = np.zeros((n_types, X.shape[1]))
    weights[fit.selector.classes_] = coef if len(coef) > 1 else np.vstack([-coef, coef])
    return weights


def largest_weights(weights: Floats, count: int) -> list[Ints]:
    """For each type (row), its genes of positive weight, the largest first."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :count]
    return [own[row[own] > 0] for own, row in zip(order, weights, strict=True)]


def with_markers(order: Ints, largest: Sequence[Ints], n_genes: int, per_type: int, n_included: int) -> Ints:
    """The order in which the first ``n_genes`` hold the required markers of each type, if it has them.

    The markers of best rank come in, and the other genes of worst rank go; included genes, which are first, stay.
    """
    needed = [order[np.isin(order, own)][:per_type] for own in largest]
    required = np.isin(order, np.concatenate([order[:n_included], *needed]))
    others = np.flatnonzero(~required)[: max(0, n_genes - int(required.sum()))]
    inside = required.copy()
    inside[others] = True
    return np.concatenate([order[inside], order[~inside]])
