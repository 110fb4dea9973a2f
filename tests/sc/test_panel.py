"""Panels of synthetic cells, whose markers are known."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dsofs.sc import choice, select_panel, working_set
from tests.sc.cells import anndata, synthetic

pd = pytest.importorskip("pandas")


def chosen(adata, key="dsofs"):
    return set(adata.var_names[adata.var[key]])


MARKERS = {f"g{i}" for i in range(8)}


def test_the_markers_are_chosen_and_written():
    adata = synthetic()
    assert select_panel(adata, groupby="type", n_genes=8) is None
    assert chosen(adata) == MARKERS
    assert sorted(adata.var["dsofs_rank"]) == list(range(1, 69))
    assert (adata.var["dsofs"] == (adata.var["dsofs_rank"] <= 8)).all()
    results = adata.uns["dsofs"]
    assert results["params"] == {"groupby": "type", "n_genes": 8, "min_per_group": 0, "key_added": "dsofs"}
    assert results["accuracy"] > 0.95
    assert results["n_cells"] == results["n_cells_used"] == 160
    assert results["share_with_margin"] > 0.9
    sheet = results["per_type"]
    assert list(sheet.index) == ["t0", "t1", "t2", "t3"]
    assert (sheet["f_beta"] > 0.9).all()
    assert (sheet["on_target"] > 0.5).all()
    assert set(sheet.loc["t1", "markers"].split(",")) >= {"g2", "g3"}


def test_a_copy_leaves_the_original_alone():
    adata = synthetic()
    panel = select_panel(adata, groupby="type", n_genes=4, key_added="panel", copy=True)
    assert panel.var["panel"].sum() == 4
    assert "panel" not in adata.var
    assert "panel" not in adata.uns


@pytest.mark.parametrize("form", ["dense", "csc", "layer", "integers", "dask"])
def test_the_panel_does_not_depend_on_the_form_of_X(form):
    adata, layer = synthetic(), None
    select_panel(adata, groupby="type", n_genes=6, key_added="sparse")
    if form == "dense":
        adata.X = adata.X.toarray()
    elif form == "csc":
        adata.X = adata.X.tocsc()
    elif form == "layer":
        adata.layers["log"], adata.X, layer = adata.X, sparse.csr_matrix(adata.shape), "log"
    elif form == "dask":
        adata.X = pytest.importorskip("dask.array").from_array(adata.X.toarray(), chunks=(30, 20))
    else:
        adata.X = sparse.csr_matrix(np.rint(np.expm1(adata.X.toarray())).astype(np.uint16))
        select_panel(adata, groupby="type", n_genes=6, key_added="sparse")
        adata.X = adata.X.astype(np.float64)
    select_panel(adata, groupby="type", n_genes=6, layer=layer)
    assert chosen(adata) == chosen(adata, "sparse")
    np.testing.assert_allclose(
        adata.uns["dsofs"]["per_type"]["on_target"], adata.uns["sparse"]["per_type"]["on_target"]
    )


def test_a_backed_object_is_read_in_blocks_and_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr("dsofs.sc.cells.BLOCK", 50)
    monkeypatch.setattr(choice, "CANDIDATES", 20)
    adata = synthetic()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    select_panel(adata, groupby="type", n_genes=6)
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    select_panel(backed, groupby="type", n_genes=6)
    assert (backed.var["dsofs_rank"].dropna() == adata.var["dsofs_rank"].dropna()).all()
    assert backed.var["dsofs_rank"].count() == 20
    backed.file.close()
    adata.write_h5ad(tmp_path / "panel.h5ad")
    again = anndata.read_h5ad(tmp_path / "panel.h5ad")
    assert again.uns["dsofs"]["per_type"].equals(adata.uns["dsofs"]["per_type"])


def test_genes_that_are_included_or_excluded():
    adata = synthetic()
    select_panel(adata, groupby="type", n_genes=7, include=["g30", "g20"], exclude=["g0", "g1"])
    assert adata.var.loc["g30", "dsofs_rank"] == 1
    assert adata.var.loc["g20", "dsofs_rank"] == 2
    assert not chosen(adata) & {"g0", "g1"}
    assert adata.var["dsofs"].sum() == 7
    assert adata.var.loc[["g0", "g1"], "dsofs_rank"].isna().all()


def test_every_type_gets_its_markers():
    adata = synthetic(n_types=6, seed=1)
    select_panel(adata, groupby="type", n_genes=12, min_per_group=2)
    assert (adata.uns["dsofs"]["per_type"]["n_markers"] >= 2).all()
    assert adata.var["dsofs"].sum() == 12


def test_batches_are_adjusted_for_and_held_out():
    adata = synthetic()
    select_panel(adata, groupby="type", n_genes=8, batch_key="batch")
    assert chosen(adata) == MARKERS
    batches = adata.uns["dsofs"]["batches"]
    assert list(batches.index) == ["b0", "b1"]
    assert (batches["n_cells"] == 80).all()
    assert (batches["accuracy"] > 0.9).all()


def test_two_types_a_rare_type_and_cells_without_one():
    adata = synthetic(n_types=3)
    types = np.array(adata.obs["type"], dtype=object)
    types[types == "t2"] = None
    types[-1] = "rare"
    adata.obs["type"] = types
    select_panel(adata, groupby="type", n_genes=6)
    sheet = adata.uns["dsofs"]["per_type"]
    assert sheet["n_cells"].to_dict() == {"rare": 1, "t0": 40, "t1": 40}
    assert adata.uns["dsofs"]["n_cells"] == 81
    assert sheet.loc["rare", "f_beta"] == 0
    assert sheet.loc["rare", "nearest"] in ("t0", "t1")
    two = adata[adata.obs["type"].isin(["t0", "t1"])].copy()
    select_panel(two, groupby="type", n_genes=4)
    assert chosen(two) <= {"g0", "g1", "g2", "g3"}
    assert set(two.uns["dsofs"]["per_type"].loc["t0", "markers"].split(",")) <= {"g0", "g1"}


def test_a_hundred_types_of_which_some_are_rare():
    adata = synthetic(n_types=100, per_type=4, n_noise=0)
    adata = adata[3:].copy()  # one cell is left of the first type
    select_panel(adata, groupby="type", n_genes=110, min_per_group=1)
    sheet = adata.uns["dsofs"]["per_type"]
    assert len(sheet) == 100
    assert (sheet["n_markers"] >= 1).all()
    assert sheet["n_cells"].min() == 1


def test_many_cells_are_fitted_by_a_working_set(monkeypatch):
    adata = synthetic(per_type=100)
    select_panel(adata, groupby="type", n_genes=8, key_added="all")
    monkeypatch.setattr(working_set, "ALL_CELLS", 100)
    monkeypatch.setattr(working_set, "FIRST_CELLS", 80)
    monkeypatch.setattr(working_set, "ADDED_CELLS", 40)
    select_panel(adata, groupby="type", n_genes=8)
    assert chosen(adata) == chosen(adata, "all")
    assert 80 <= adata.uns["dsofs"]["n_cells_used"] <= 160
    assert adata.uns["dsofs"]["share_with_margin"] > 0.8


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"groupby": "kind"}, "The 'groupby' parameter of select_panel must be a key of adata.obs. Got 'kind'"),
        ({"batch_key": "lane"}, "The 'batch_key' parameter of select_panel must be a key of adata.obs. Got 'lane'"),
        ({"layer": "raw"}, "The 'layer' parameter of select_panel must be a key of adata.layers. Got 'raw'"),
        ({"groupby": ["type"]}, r"The 'groupby' parameter .* must be a key of adata.obs. Got \['type'\] instead"),
        ({"key_added": 3}, "The 'key_added' parameter of select_panel must be a string. Got 3 instead"),
        ({"include": ["g1", "G", "H"]}, "a list of names in adata.var_names. These are not there: 'G', 'H'."),
        ({"exclude": [f"x{i}" for i in range(9)]}, r"not there: 'x0', 'x1', 'x2', 'x3', 'x4' \(and 4 more\)"),
        ({"exclude": "g1"}, "The 'exclude' parameter of select_panel must be a list of names in adata.var_names"),
        ({"include": ["g1", "g2"], "exclude": ["g2"]}, "cannot both include and exclude a gene. Got 'g2' in both"),
        ({"exclude": [f"g{i}" for i in range(68)]}, "a list that leaves genes to choose from. Got all 68"),
        ({"n_genes": True}, "The 'n_genes' parameter of select_panel must be an int of at least 1. Got True"),
        ({"n_genes": 8.0}, "The 'n_genes' parameter of select_panel must be an int of at least 1. Got 8.0"),
        ({"n_genes": 0}, "The 'n_genes' parameter of select_panel must be an int of at least 1. Got 0"),
        ({"min_per_group": -1}, "The 'min_per_group' parameter of select_panel must be an int of at least 0. Got -1"),
        ({"min_per_group": 3}, "must be at least 12 for 0 included genes and 3 of each of 4 types. Got 8 instead"),
        ({"groupby": "one"}, "select_panel needs cells of at least 2 types"),
        ({"groupby": "cell"}, "must be a column of types. Got one of 160 values for 160 cells"),
        ({"groupby": "pair"}, "must be a column of types. Got one of 100 values for 160 cells"),
        ({"groupby": "nothing"}, r"select_panel needs cells of at least 2 types. Got \[\]"),
        ({"batch_key": "half"}, r"cells of 2 types where a batch is held out, but .* one type without \['others'\]"),
        ({"batch_key": "one"}, r"must name at least 2 batches. Got \['same'\]"),
        ({"batch_key": "some"}, "must give a batch to every cell that has a type. 40 of 160 have none"),
        ({"batch_key": "type"}, "must not determine the type, but each batch holds cells of one type alone"),
    ],
)
def test_what_is_wrong_is_refused(changed, message):
    adata = synthetic()
    is_first = adata.obs["type"] == "t0"
    adata.obs["one"], adata.obs["nothing"], adata.obs["cell"] = "same", None, np.linspace(0, 1, adata.n_obs)
    adata.obs["pair"] = np.arange(adata.n_obs) % 100
    adata.obs["half"], adata.obs["some"] = np.where(is_first, "t0", "others"), adata.obs["batch"].where(~is_first)
    with pytest.raises(ValueError, match=message):
        select_panel(adata, **{"groupby": "type", "n_genes": 8} | changed)


@pytest.mark.parametrize("most", [20, 1000])
def test_numbers_that_are_missing_are_refused(monkeypatch, most):
    monkeypatch.setattr(choice, "CANDIDATES", most)
    adata = synthetic()
    adata.X.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        select_panel(adata, groupby="type", n_genes=8)


def test_more_genes_than_there_are():
    adata = synthetic(n_noise=2)
    with (
        pytest.warns(UserWarning, match="'n_genes' is 40, and there are 10 genes to choose from: all are chosen"),
        pytest.warns(UserWarning, match="fewer than 5 genes have a positive weight for"),
    ):
        select_panel(adata, groupby="type", n_genes=40, min_per_group=5)
    assert adata.var["dsofs"].all()


def test_expression_that_is_centred_has_no_target():
    adata = synthetic()
    adata.X = adata.X.toarray() - adata.X.toarray().mean(axis=0)
    with pytest.warns(UserWarning, match="negative means, so 'on_target' means little. Give expression that is not"):
        select_panel(adata, groupby="type", n_genes=8)


@pytest.mark.parametrize("kind", ["categorical", "boolean", "integers", "floats", "string"])
def test_types_of_any_kind(kind):
    adata = synthetic(n_types=2)
    number = np.repeat([0, 1], 40)
    columns = {
        "categorical": pd.Categorical(adata.obs["type"], categories=["t1", "unused", "t0"]),
        "boolean": number == 1,
        "integers": number,
        "floats": np.where(np.arange(80) < 3, np.nan, number),
        "string": pd.array(["t0"] * 40 + ["t1"] * 38 + [pd.NA] * 2, dtype="string"),
    }
    adata.obs["kind"] = columns[kind]
    select_panel(adata, groupby="kind", n_genes=4)
    assert chosen(adata) == {"g0", "g1", "g2", "g3"}
    names = {
        "categorical": ["t1", "t0"],
        "boolean": ["False", "True"],
        "integers": ["0", "1"],
        "floats": ["0.0", "1.0"],
    }
    sheet = adata.uns["dsofs"]["per_type"]
    assert list(sheet.index) == names.get(kind, ["t0", "t1"])
    assert sheet["n_cells"].sum() == adata.uns["dsofs"]["n_cells"] == adata.obs["kind"].notna().sum()


@pytest.mark.parametrize("make", [list, tuple, set, np.array, pd.Index, iter])
def test_names_in_any_collection(make, tmp_path):
    adata = synthetic()
    select_panel(adata, groupby="type", n_genes=8, include=make(["g20"]), exclude=make(["g0"]))
    assert "g20" in chosen(adata)
    assert "g0" not in chosen(adata)
    adata.write_h5ad(tmp_path / "panel.h5ad")
    assert list(anndata.read_h5ad(tmp_path / "panel.h5ad").uns["dsofs"]["params"]["include"]) == ["g20"]


def test_objects_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(ValueError, match="needs an AnnData object"):
        select_panel(np.zeros((3, 3)), groupby="type", n_genes=2)
    adata = synthetic()
    with pytest.raises(ValueError, match="is None: the 'layer' parameter"):
        select_panel(anndata.AnnData(obs=adata.obs, var=adata.var), groupby="type", n_genes=2)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match="The 'copy' parameter of select_panel must be False for a backed object"):
        select_panel(backed, groupby="type", n_genes=2, copy=True)
    with pytest.raises(ValueError, match="cannot write to a view of a backed object"):
        select_panel(backed[:100], groupby="type", n_genes=2)
    backed.file.close()
    adata.var_names = ["same"] * adata.n_vars
    with pytest.raises(ValueError, match=r"call adata.var_names_make_unique\(\) first"):
        select_panel(adata, groupby="type", n_genes=2)


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_forms_on_disk(form, tmp_path):
    adata = synthetic()
    adata.X = adata.X.toarray() if form == "dense" else adata.X.asformat(form)
    adata.layers["log"] = adata.X.copy()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    if form == "csc":
        with pytest.raises(ValueError, match="write X in CSR form, not in CSC form"):
            select_panel(backed, groupby="type", n_genes=8)
    else:
        select_panel(backed, groupby="type", n_genes=8)
        select_panel(backed, groupby="type", n_genes=8, layer="log", key_added="layer")
        assert chosen(backed) == chosen(backed, "layer") == MARKERS
    backed.file.close()


def test_the_example_on_real_cells_runs(capsys, monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "gene_panels.md"
    folder = Path(os.environ.get("DSOFS_DATA", ".")) / "more"
    if not page.exists() or not (folder / "sc_citeseq_cbmc.npz").exists():
        pytest.skip("needs the docs, and the CITE-seq cells in the folder DSOFS_DATA")
    first, real = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(folder)
    found = {}
    exec(first + real, found)  # the page is ours
    assert found["cells"].var["dsofs"].sum() == 50
    assert (found["figures"]["n_markers"] >= 2).all()
    assert "93.6% of the cells" in capsys.readouterr().out
