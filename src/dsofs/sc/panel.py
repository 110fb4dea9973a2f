"""select_panel: a gene panel for the cell types of an AnnData object, written back to it as scanpy's functions do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dsofs.design.types import Bools, Ints
from dsofs.sc.cells import Cells, dense
from dsofs.sc.choice import Panel, PanelTask, choose
from dsofs.sc.sheet import accuracy_sheet, on_target_fractions, predicted_in_folds, predicted_types, type_sheet
from dsofs.validation import indicators

MOST_FOLDS = 10  # of batches held out; where there are more batches, several are held out together


def select_panel(
    adata: Any,
    groupby: str,
    n_genes: int,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    batch_key: str | None = None,
    layer: str | None = None,
    min_per_group: int = 0,
    key_added: str = "dsofs",
    copy: bool = False,
) -> Any:
    """Choose the genes that tell the cell types apart.

    Parameters
    ----------
    adata : AnnData
        Cells x genes, in memory (dense or sparse) or backed. Normalised and log-transformed expression is best; genes
        are standardised inside, and a sparse matrix stays sparse.
    groupby : str
        The column of ``adata.obs`` that holds the cell types. Cells without one take no part.
    n_genes : int
        The size of the panel.
    include, exclude : sequence of str or None, default=None
        Genes that are always, or never, in the panel. Included ones count in ``n_genes``.
    batch_key : str or None, default=None
        The column of ``adata.obs`` that holds the batch of each cell. Batches are adjusted for. The figures are then
        those of batches held out: the panel is chosen again without them, up to ten times.
    layer : str or None, default=None
        The layer to take in place of ``adata.X``.
    min_per_group : int, default=0
        The least number of markers of each type in the panel. The markers of a type are its ten genes of largest
        positive weight, or twice ``min_per_group`` if that is more.
    key_added : str, default="dsofs"
        The name under which results are stored.
    copy : bool, default=False
        Return a changed copy, and leave ``adata`` as it was.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. Results are in

        ``.var[key_added]`` : whether the gene is in the panel.

        ``.var[key_added + "_rank"]`` : 1 is best; NaN for genes that were no candidates.

        ``.uns[key_added]`` : a dict. ``params``; ``per_type``, a data frame with a row per type: number of cells,
        F-beta (0.5), on-target fraction of its markers, the type it is most often taken for, and its markers;
        ``accuracy``; ``batches``, a data frame with the accuracy for each batch held out; ``n_cells``; ``n_cells_used``
        in the last fit; ``share_with_margin``, the part of all cells that have half of the margin 1 for every type.
    """
    params = {name: value for name, value in locals().items() if name not in ("adata", "copy") and value is not None}
    for sentence in _wrong(adata, params):
        raise ValueError(sentence)
    adata = adata.copy() if copy else adata
    types, codes = _levels(adata.obs[groupby])
    batch_names, batches = ([], None) if batch_key is None else _levels(adata.obs[batch_key])
    X = adata.X if layer is None else adata.layers[layer]
    task = PanelTask(
        X, codes, types, batches, n_genes, _positions(adata, include), _positions(adata, exclude), min_per_group
    )
    for sentence in _wrong_task(task):
        raise ValueError(sentence)
    panel = choose(task, task.codes >= 0)
    _warn_about_markers(task, panel)
    _write(adata, key_added, panel, {"params": params, **_figures(task, panel, adata.var_names, batch_names)})
    return adata if copy else None


def _figures(task: PanelTask, panel: Panel, names: Sequence[str], batch_names: Sequence[str]) -> dict[str, Any]:
    """What goes to ``.uns``."""
    among = task.codes >= 0
    truth, n_types = task.codes[among], len(task.types)
    X = dense(Cells(task.X, among).of_genes(panel.genes))
    predicted = predicted_in_folds(X, truth) if task.batches is None else _held_out(task, among)
    means = indicators(truth, n_types).T @ X / np.bincount(truth, minlength=n_types)[:, None]
    genes = [str(names[gene]) for gene in panel.genes]
    right = predicted == truth
    figures: dict[str, Any] = {
        "per_type": type_sheet(task.types, truth, predicted, on_target_fractions(means), panel.markers, genes),
        "accuracy": float(right.mean()),
        "n_cells": panel.n_cells,
        "n_cells_used": panel.n_cells_used,
        "share_with_margin": panel.share_with_margin,
    }
    if task.batches is not None:
        figures["batches"] = accuracy_sheet(batch_names, task.batches[among], right)
    return figures


def _held_out(task: PanelTask, among: Bools) -> Ints:
    """The type of each cell, by a panel and a classifier that have not seen its batch."""
    assert task.batches is not None
    predicted, fold = np.empty(len(among), dtype=np.intp), task.batches % MOST_FOLDS
    for number in np.unique(fold[among]):
        train, test = among & (fold != number), among & (fold == number)
        genes = choose(task, train).genes
        X, unseen = (dense(Cells(task.X, part).of_genes(genes)) for part in (train, test))
        predicted[test] = predicted_types(X, task.codes[train], unseen)
    return predicted[among]


def _write(adata: Any, key: str, panel: Panel, results: dict[str, Any]) -> None:
    chosen, rank = np.zeros(adata.n_vars, dtype=bool), np.full(adata.n_vars, np.nan)
    chosen[panel.genes], rank[panel.order] = True, np.arange(1, len(panel.order) + 1)
    adata.var[key], adata.var[f"{key}_rank"] = chosen, rank
    adata.uns[key] = results


def _levels(column: Any) -> tuple[list[str], Ints]:
    """The names of the categories that occur, and the code of each cell; -1 where it is missing."""
    category = column.astype("category").cat.remove_unused_categories().cat
    return [str(name) for name in category.categories], np.asarray(category.codes, dtype=np.intp)


def _positions(adata: Any, names: Sequence[str] | None) -> Ints:
    return np.asarray(adata.var_names.get_indexer(list(names or ())), dtype=np.intp)


def _wrong(adata: Any, params: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the parameters."""
    rule = "parameter of select_panel must be"
    places = {
        "groupby": (adata.obs, "adata.obs"),
        "batch_key": (adata.obs, "adata.obs"),
        "layer": (adata.layers, "adata.layers"),
    }
    for name, (place, words) in places.items():
        if name in params and params[name] not in place:
            yield f"The {name!r} {rule} a key of {words}. Got {params[name]!r} instead."
    for name in ("include", "exclude"):
        given = params.get(name, ())
        if isinstance(given, str) or not set(given) <= set(adata.var_names):
            yield f"The {name!r} {rule} a list of names in adata.var_names. Got {given!r} instead."
    for name, least in (("n_genes", 1), ("min_per_group", 0)):
        if not isinstance(params[name], int | np.integer) or params[name] < least:
            yield f"The {name!r} {rule} an int of at least {least}. Got {params[name]!r} instead."


def _wrong_task(task: PanelTask) -> Iterator[str]:
    """Parameters that contradict each other."""
    if len(task.types) < 2:
        yield f"select_panel needs cells of at least 2 types. Got {task.types}."
    needed = len(task.include) + task.min_per_group * len(task.types)
    if needed > task.n_genes:
        yield (
            f"The 'n_genes' parameter of select_panel must be at least {needed} for {len(task.include)} included genes "
            f"and {task.min_per_group} of each of {len(task.types)} types. Got {task.n_genes} instead."
        )
    if task.batches is not None and not _can_be_held_out(task.batches[task.codes >= 0], task.codes[task.codes >= 0]):
        yield (
            "The 'batch_key' parameter of select_panel must give a batch to every cell, and at least 2 batches, such "
            "that 2 types are left where one is held out."
        )


def _can_be_held_out(batches: Ints, codes: Ints) -> bool:
    fold = batches % MOST_FOLDS
    return bool(batches.min() >= 0) and all(len(np.unique(codes[fold != number])) > 1 for number in np.unique(fold))


def _warn_about_markers(task: PanelTask, panel: Panel) -> None:
    few = [name for name, own in zip(task.types, panel.markers, strict=True) if len(own) < task.min_per_group]
    if few:
        warnings.warn(
            f"select_panel: fewer than {task.min_per_group} genes have a positive weight for {', '.join(few)}.",
            UserWarning,
            stacklevel=3,
        )
