"""select_panel: a gene panel for the cell types of an AnnData object, written back to it as scanpy's functions do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dsofs.design.linalg import dense
from dsofs.design.types import Bools, Ints
from dsofs.sc.cells import Cells
from dsofs.sc.choice import Panel, PanelTask, choose
from dsofs.sc.sheet import accuracy_sheet, on_target_fractions, predicted_in_folds, predicted_types, type_sheet
from dsofs.validation import broken_rules, indicators, integer, refuse

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
    include, exclude = _listed(include), _listed(exclude)
    params = {name: value for name, value in locals().items() if name not in ("adata", "copy") and value is not None}
    refuse(_wrong_object(adata, copy))
    refuse(_wrong_keys(adata, params))
    refuse(_wrong_genes(adata, params))
    types, codes = _levels(adata.obs[groupby])
    batch_names, batches = ([], None) if batch_key is None else _levels(adata.obs[batch_key])
    refuse(_wrong_batches(batch_names, batches, codes))
    adata = adata.copy() if copy else adata
    X = adata.X if layer is None else adata.layers[layer]
    task = PanelTask(
        X, codes, types, batches, n_genes, _positions(adata, include), _positions(adata, exclude), min_per_group
    )
    refuse(_wrong_task(task))
    panel = choose(task, task.codes >= 0)
    _warn_about(task, panel)
    _write(adata, key_added, panel, {"params": params, **_figures(task, panel, adata.var_names, batch_names)})
    return adata if copy else None


def _figures(task: PanelTask, panel: Panel, names: Sequence[str], batch_names: Sequence[str]) -> dict[str, Any]:
    """What goes to ``.uns``."""
    among = task.codes >= 0
    truth, n_types = task.codes[among], len(task.types)
    X = dense(Cells(task.X, among).of_genes(panel.genes))
    predicted = predicted_in_folds(X, truth) if task.batches is None else _held_out(task, among)
    means = indicators(truth, n_types).T @ X / np.bincount(truth, minlength=n_types)[:, None]
    if (means < 0).any():
        _warn(
            "genes of the panel have negative means, so 'on_target' means little. Give expression that is not centred."
        )
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


def _listed(names: Sequence[str] | None) -> Any:
    """A list, which an AnnData object can be written with; a string stays one, and is refused."""
    return names if names is None or isinstance(names, str) else list(names)


def _positions(adata: Any, names: Sequence[str] | None) -> Ints:
    return np.asarray(adata.var_names.get_indexer(list(names or ())), dtype=np.intp)


RULE = "parameter of select_panel must be"


def _wrong_object(adata: Any, copy: bool) -> Iterator[str]:
    """What is wrong with the object that is read, and written to."""
    if not all(hasattr(adata, name) for name in ("obs", "var", "uns", "layers")):
        yield f"select_panel needs an AnnData object. Got {type(adata).__name__}."
    if not adata.var_names.is_unique:
        yield "select_panel needs a different name for each gene: call adata.var_names_make_unique() first."
    if adata.isbacked and copy:
        yield f"The 'copy' {RULE} False for a backed object. Its file is not changed; only adata.var and adata.uns are."
    if adata.isbacked and adata.is_view:
        yield (
            "select_panel cannot write to a view of a backed object. Make the type of the other cells missing (NaN) "
            "instead, or call to_memory() on the view."
        )


def _wrong_keys(adata: Any, params: dict[str, Any]) -> Iterator[str]:
    """Names of columns and layers that do not exist."""
    places = {
        "groupby": (adata.obs, "adata.obs"),
        "batch_key": (adata.obs, "adata.obs"),
        "layer": (adata.layers, "adata.layers"),
    }
    for name, (place, words) in places.items():
        if name in params and (not isinstance(params[name], str) or params[name] not in place):
            yield f"The {name!r} {RULE} a key of {words}. Got {params[name]!r} instead."
    if not isinstance(params["key_added"], str):
        yield f"The 'key_added' {RULE} a string. Got {params['key_added']!r} instead."
    if "layer" not in params and adata.X is None:
        yield f"adata.X is None: the 'layer' {RULE} a key of adata.layers."


def _wrong_genes(adata: Any, params: dict[str, Any]) -> Iterator[str]:
    """Genes that do not exist, and numbers of genes that are no numbers."""
    yield from broken_rules({"n_genes": integer(1), "min_per_group": integer(0)}, params, "select_panel").values()
    for name in ("include", "exclude"):
        given = params.get(name, ())
        if isinstance(given, str):
            yield f"The {name!r} {RULE} a list of names in adata.var_names. Got {given!r} instead."
        unknown = [gene for gene in given if gene not in adata.var_names]
        if unknown:
            yield f"The {name!r} {RULE} a list of names in adata.var_names. These are not there: {_named(unknown)}."
    both = sorted(set(params.get("include", ())) & set(params.get("exclude", ())))
    if both:
        yield f"select_panel cannot both include and exclude a gene. Got {_named(both)} in both."


def _named(names: Sequence[str], most: int = 5) -> str:
    """The first few names."""
    more = f" (and {len(names) - most} more)" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def _wrong_batches(names: Sequence[str], batches: Ints | None, codes: Ints) -> Iterator[str]:
    """Batches that cannot be adjusted for, or held out."""
    if batches is None or not (codes >= 0).any():
        return
    among = codes >= 0
    batches, codes = batches[among], codes[among]
    start = "The 'batch_key' parameter of select_panel must"
    if batches.min() < 0:
        yield f"{start} give a batch to every cell that has a type. {np.sum(batches < 0)} of {len(codes)} have none."
    if len(np.unique(batches)) < 2:
        yield f"{start} name at least 2 batches. Got {[names[batch] for batch in np.unique(batches)]}."
    if len(np.unique(np.column_stack([batches, codes]), axis=0)) == len(np.unique(batches)):
        yield f"{start} not determine the type, but each batch holds cells of one type alone."
    fold = batches % MOST_FOLDS
    for number in np.unique(fold):
        if len(np.unique(codes[fold != number])) < 2:
            held_out = [names[batch] for batch in np.unique(batches[fold == number])]
            yield f"{start} leave cells of 2 types where a batch is held out, but there is one type without {held_out}."


def _wrong_task(task: PanelTask) -> Iterator[str]:
    """Parameters that contradict each other, or the data."""
    n_cells, n_genes = int(np.sum(task.codes >= 0)), task.X.shape[1]
    if len(task.types) < 2:
        yield f"select_panel needs cells of at least 2 types. Got {task.types}."
    if 2 * len(task.types) > n_cells:
        yield f"The 'groupby' {RULE} a column of types. Got one of {len(task.types)} values for {n_cells} cells."
    if len(np.unique(task.exclude)) == n_genes:
        yield f"The 'exclude' {RULE} a list that leaves genes to choose from. Got all {n_genes}."
    included = len(np.unique(task.include))
    needed = included + task.min_per_group * len(task.types)
    if needed > task.n_genes:
        yield (
            f"The 'n_genes' {RULE} at least {needed} for {included} included genes "
            f"and {task.min_per_group} of each of {len(task.types)} types. Got {task.n_genes} instead."
        )


def _warn_about(task: PanelTask, panel: Panel) -> None:
    if len(panel.genes) < task.n_genes:
        _warn(f"'n_genes' is {task.n_genes}, and there are {len(panel.genes)} genes to choose from: all are chosen.")
    few = [name for name, own in zip(task.types, panel.markers, strict=True) if len(own) < task.min_per_group]
    if few:
        _warn(f"fewer than {task.min_per_group} genes have a positive weight for {', '.join(few)}.")


def _warn(sentence: str) -> None:
    warnings.warn(f"select_panel: {sentence}", UserWarning, stacklevel=4)
