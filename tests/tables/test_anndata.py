"""AnnData as the anndata package writes it, today and before, in HDF5 and in both versions of Zarr."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from dsofs.files import DamagedFileError
from dsofs.tables.labelled import read_labelled
from dsofs.tables.readers import read_frame

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

OBS = {
    "category": (pd.Categorical(["u", None, "v", "u"]), ["u", "", "v", "u"]),
    "coded": (pd.Categorical([1, 2, 1, 2]), ["1", "2", "1", "2"]),
    "text": (["u", "u", "v", "u"], ["u", "u", "v", "u"]),
    "names": (["p", "q", "r", "s"], ["p", "q", "r", "s"]),
    "nullable text": (pd.array(["p", None, "r", "s"], dtype="string"), ["p", "", "r", "s"]),
    "whole": ([1, 2, 3, 2**53 + 1], [1, 2, 3, 2**53 + 1]),
    "nullable whole": (pd.array([1, None, 3, 4], dtype="Int64"), [1.0, np.nan, 3.0, 4.0]),
    "truth": ([True, False, True, True], [True, False, True, True]),
    "nullable truth": (pd.array([True, None, True, False], dtype="boolean"), [1.0, np.nan, 1.0, 0.0]),
    "number": ([0.5, 1.5, 2.5, 3.5], [0.5, 1.5, 2.5, 3.5]),
}
X = np.arange(12.0).reshape(4, 3)


def written(path, form, *, as_zarr=None):
    obs = pd.DataFrame({name: values for name, (values, _) in OBS.items()}, index=[f"cell{i}" for i in range(4)])
    data = anndata.AnnData(form(X), obs=obs, var=pd.DataFrame(index=["g1", "g2", "g3"]))
    with warnings.catch_warnings(), anndata.settings.override(allow_write_nullable_strings=True):
        warnings.simplefilter("ignore")  # about which version of Zarr will be written some day
        if as_zarr is None:
            data.write_h5ad(path, convert_strings_to_categoricals=False)
            return path
        with anndata.settings.override(zarr_write_format=as_zarr):
            data.write_zarr(path, convert_strings_to_categoricals=False)
    return path


@pytest.mark.parametrize("as_zarr", [None, 2, 3])
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, sparse.csc_matrix])
def test_anndata_as_it_is_written_today(form, as_zarr, tmp_path):
    frame = read_frame(written(tmp_path / "a", form, as_zarr=as_zarr))
    assert frame.format == "AnnData"
    assert frame.names == ("g1", "g2", "g3")
    np.testing.assert_array_equal(frame.numbers.toarray() if sparse.issparse(frame.numbers) else frame.numbers, X)
    assert list(frame.labels) == list(OBS)
    for name, (_, expected) in OBS.items():
        np.testing.assert_array_equal(frame.labels[name], expected)


def legacy(path, codes):
    """A column of categories as anndata 0.7 wrote it: codes, and the categories in a group of their own."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["obs/type"], file["obs/__categories/type"] = codes, ["healthy", "ill"]
        file["var/_index"], file["obs/_index"] = ["g1", "g2", "g3"], ["c1", "c2", "c3", "c4"]
        file["obs"].attrs["column-order"] = ["type"]
        file["var"].attrs["_index"] = file["obs"].attrs["_index"] = "_index"
    return path


def test_categories_of_anndata_0_7(tmp_path):
    path = legacy(tmp_path / "a.h5ad", np.array([0, 1, -1, 0], dtype="i1"))
    assert read_frame(path).labels["type"].tolist() == ["healthy", "ill", "", "healthy"]


def test_codes_without_a_category_are_refused(tmp_path):
    with pytest.raises(DamagedFileError, match="codes of other than its 2 categories"):
        read_frame(legacy(tmp_path / "a.h5ad", np.array([0, 1, 2, 0], dtype="i1")))


def test_donors_with_several_cells_are_noted_unless_they_are_the_groups(tmp_path):
    obs = pd.DataFrame({"type": list("uv") * 12, "donor": [f"d{i // 6}" for i in range(24)], "sex": list("mf") * 12})
    obs.index = [f"cell{i}" for i in range(24)]
    data = anndata.AnnData(np.arange(72.0).reshape(24, 3) % 7, obs=obs, var=pd.DataFrame(index=["g1", "g2", "g3"]))
    data.write_h5ad(tmp_path / "a.h5ad")
    table = read_labelled(tmp_path / "a.h5ad", "type")
    assert table.repeated_ids == ("donor",)
    assert any("give it as --sample-groups 'donor'" in note.text for note in table.notes)
    grouped = read_labelled(tmp_path / "a.h5ad", "type", sample_groups="donor")
    assert grouped.repeated_ids == ()
    assert not any("--sample-groups" in note.text for note in grouped.notes)
