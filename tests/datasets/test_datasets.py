"""Finding, checking and describing data sets."""

import os
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from dsofs.datasets import DamagedFileError, DatasetNotFoundError, describe_dataset, list_datasets, load_dataset
from dsofs.datasets.catalogue import CATALOGUE
from tests.datasets.writers import folder_of, lines, mat, pgm, zip_of

TABLE_1 = {  # samples, features, classes, as the paper has them
    "isolet": (7797, 617, 26),
    "semeion": (1593, 256, 10),
    "gisette": (7000, 5000, 2),
    "lung": (203, 3312, 5),
    "cll_sub_111": (111, 11340, 3),
    "tox_171": (171, 5748, 4),
    "umist": (575, 2576, 20),
    "ar": (130, 2400, 10),
    "orl": (400, 10304, 40),
}
STAND_INS = ("mnist_4v9", "brain_tumor_1", "leukemia_mll")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty user cache, and no folder in the environment."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DSOFS_DATA", raising=False)
    (tmp_path / "cache" / "dsofs").mkdir(parents=True)
    return tmp_path / "cache" / "dsofs"


@pytest.fixture
def small(monkeypatch):
    """Makes a data set of the catalogue small."""

    def shrink(name, n_samples, n_features, n_classes, **changes):
        dataset = replace(
            CATALOGUE[name],
            n_samples=n_samples,
            n_features=n_features,
            n_classes=n_classes,
            target_names=None,
            **changes,
        )
        monkeypatch.setitem(CATALOGUE, name, dataset)
        return dataset

    return shrink


def ready(folder, name, X, y, **names):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / f"{name}.npz", X=X, y=y, **names)


def test_the_catalogue_is_table_1():
    assert {n: (d.n_samples, d.n_features, d.n_classes) for n, d in CATALOGUE.items() if d.sources} == TABLE_1
    assert tuple(name for name, dataset in CATALOGUE.items() if dataset.is_stand_in) == STAND_INS


def real(name):
    if not os.environ.get("DSOFS_DATA"):
        pytest.skip("real data: set DSOFS_DATA to the folder of the data")
    try:
        return load_dataset(name, download=False)
    except DatasetNotFoundError:
        pytest.skip(f"real data: {name} is not in DSOFS_DATA")


@pytest.mark.parametrize("name", [*TABLE_1, *STAND_INS])
def test_real_data_have_the_shapes_of_table_1(name):
    data = real(name)
    dataset = CATALOGUE[name]
    assert data.X.shape == (dataset.n_samples, dataset.n_features) == (len(data.y), len(data.feature_names))
    assert data.X.dtype == np.float64
    assert np.array_equal(np.unique(data.y), np.arange(dataset.n_classes))
    assert len(set(data.target_names)) == dataset.n_classes
    assert len(set(data.feature_names)) == dataset.n_features


def semeion_as_published(folder, data):
    """With the blank at the end of each line and the line ends of the original."""
    digits = np.eye(10, dtype=int)[data.y]
    rows = [
        f"{' '.join(f'{pixel:.4f}' for pixel in x)} {' '.join(map(str, d))} \r\n"
        for x, d in zip(data.X, digits, strict=True)
    ]
    content = "".join(rows).encode()
    (source,) = CATALOGUE["semeion"].sources
    assert sha256(content).hexdigest() == source.sha256["semeion.data"]
    zip_of(folder / source.file_name, {"semeion.data": content})


def isolet_as_published(folder, data):
    table = np.column_stack([data.X, data.y + 1])
    parts = {"isolet1+2+3+4.data": table[:6238], "isolet5.data": table[6238:]}
    zip_of(folder / "isolet.zip", {name: lines(part, ", ", "%.4f") for name, part in parts.items()})


def orl_as_published(folder, data):
    faces = data.X.reshape(-1, 92, 112).transpose(0, 2, 1)
    members = {
        f"s{who + 1}/{n % 10 + 1}.pgm": pgm(face) for n, (face, who) in enumerate(zip(faces, data.y, strict=True))
    }
    zip_of(folder / "att_faces.zip", members)


def tox_171_as_published(folder, data):
    (folder / "TOX_171.mat").write_bytes(mat(X=data.X, Y=data.y[:, None] + 1))


AS_PUBLISHED = {
    "semeion": semeion_as_published,
    "isolet": isolet_as_published,
    "orl": orl_as_published,
    "tox_171": tox_171_as_published,
}


@pytest.mark.parametrize("name", AS_PUBLISHED)
def test_real_data_written_as_published_read_the_same(tmp_path, name):
    data = real(name)
    AS_PUBLISHED[name](tmp_path, data)
    again = load_dataset(name, data_dir=tmp_path, download=False)
    assert str(tmp_path) in again.DESCR
    assert np.array_equal(again.X, data.X)
    assert np.array_equal(again.y, data.y)


def test_single_precision_is_rounded_to_the_numbers_of_the_source(cache, small):
    small("tox_171", 2, 3, 2, decimals=2)
    X = np.array([[33922.68, 0.02, 5.5], [1.01, 7.0, 9.99]])
    ready(cache, "tox_171", X.astype(np.float32), [0, 1])
    assert np.array_equal(load_dataset("tox_171").X, X)


def test_the_folder_given_then_the_environment_then_the_cache(cache, small, tmp_path, monkeypatch):
    small("ar", 2, 4, 2, image=(2, 2))
    for number, folder in enumerate((cache, tmp_path / "environment", tmp_path / "argument")):
        ready(folder, "ar", np.full((2, 4), number), [0, 1])
    assert load_dataset("ar").X[0, 0] == 0
    monkeypatch.setenv("DSOFS_DATA", str(tmp_path / "environment"))
    assert load_dataset("ar").X[0, 0] == 1
    assert load_dataset("ar", data_dir=tmp_path / "argument").X[0, 0] == 2
    assert str(tmp_path / "argument" / "ar.npz") in load_dataset("ar", data_dir=tmp_path / "argument").DESCR


def test_a_folder_without_the_data_set_falls_back_to_the_cache(cache, small, tmp_path):
    small("ar", 2, 4, 2, image=(2, 2))
    ready(cache, "ar", np.eye(2, 4), [0, 1])
    (tmp_path / "empty").mkdir()
    assert np.array_equal(load_dataset("ar", data_dir=tmp_path / "empty").X, np.eye(2, 4))


def test_original_files_packed_unpacked_and_as_an_alternative(cache, small, tmp_path):
    small("orl", 2, 4, 2, image=(2, 2))
    zip_of(tmp_path / "att_faces.zip", {f"s{n}/1.pgm": pgm(np.full((2, 2), n)) for n in (1, 2)})
    small("umist", 2, 56 * 46, 2)
    folder_of(tmp_path / "umist", {f"cropped/1{who}/face/1.pgm": pgm(np.full((112, 92), 5)) for who in "ab"})
    small("lung", 2, 3, 2)
    (tmp_path / "lung.mat").write_bytes(mat(X=np.eye(2, 3), Y=[[4], [5]]))
    assert load_dataset("orl", data_dir=tmp_path).X[:, 0].tolist() == [1, 2]
    assert np.all(load_dataset("umist", data_dir=tmp_path).X == 5)
    assert load_dataset("lung", data_dir=tmp_path).target_names.tolist() == ["4", "5"]


def test_names_of_pixels_tell_where_they_are(cache, small):
    small("ar", 2, 6, 2, image=(3, 2))
    small("semeion", 2, 6, 2, image=(3, 2))
    for name in ("ar", "semeion"):
        ready(cache, name, np.zeros((2, 6)), [0, 1])
    assert load_dataset("ar").feature_names[:4] == ["pixel_0_0", "pixel_1_0", "pixel_2_0", "pixel_0_1"]
    assert load_dataset("semeion").feature_names[:4] == ["pixel_0_0", "pixel_0_1", "pixel_1_0", "pixel_1_1"]


def test_names_in_the_file_are_kept(cache, small):
    small("lung", 2, 2, 2)
    ready(cache, "lung", np.eye(2), [7, 9], target_names=["tumour", "normal"], feature_names=["g1", "g2"])
    data = load_dataset("lung")
    assert data.target_names[data.y].tolist() == ["tumour", "normal"]
    assert data.feature_names == ["g1", "g2"]


def test_stand_ins_are_listed_where_they_are_at_hand(cache, tmp_path):
    assert list_datasets() == list(TABLE_1)
    (tmp_path / "mnist_4v9.npz").touch()
    assert list_datasets(tmp_path) == [*TABLE_1, "mnist_4v9"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(3), "y": [0, 1, 1]}, r"is not AR \(2 samples x 3 features, 2 classes\): it holds X of 3 x 3"),
        ({"X": np.eye(2, 3), "y": [0, 0]}, "and 1 classes"),
        ({"X": np.eye(2, 3), "y": [0, 1, 1]}, "3 labels"),
        ({"X": np.full((2, 3), np.nan), "y": [0, 1]}, "finite numbers"),
        ({"X": np.full((2, 3), "a"), "y": [0, 1]}, "finite numbers"),
        ({"X": np.eye(2, 3), "y": [0, 1], "target_names": ["a"]}, "does not name each"),
        ({"X": np.eye(2, 3), "y": [0, 1], "feature_names": ["a"]}, "does not name each"),
        ({"X": np.eye(2, 3)}, "not an npz file with X and y"),
        ({"X": np.array([[None]]), "y": [0]}, "not an npz file with X and y"),
    ],
)
def test_ready_files_that_are_something_else(cache, small, arrays, message):
    small("ar", 2, 3, 2, image=None)
    np.savez(cache / "ar.npz", **arrays)
    with pytest.raises(DamagedFileError, match=message):
        load_dataset("ar")


@pytest.mark.parametrize("part", [0, 0.5, 0.95])
def test_ready_files_that_are_cut_short(cache, small, part):
    small("ar", 2, 300, 2, image=None)
    ready(cache, "ar", np.ones((2, 300)), [0, 1])
    content = (cache / "ar.npz").read_bytes()
    (cache / "ar.npz").write_bytes(content[: int(part * len(content))])
    with pytest.raises(DamagedFileError, match=r"ar\.npz is not an npz file"):
        load_dataset("ar")


def test_an_original_file_that_is_damaged_is_named(cache, tmp_path):
    (tmp_path / "TOX_171.mat").write_bytes(b"<html>")
    with pytest.raises(DamagedFileError, match=r"TOX_171\.mat could not be read as TOX-171: it is not a MATLAB file"):
        load_dataset("tox_171", data_dir=tmp_path)
    zip_of(tmp_path / "semeion+handwritten+digit.zip", {"semeion.data": lines(np.eye(10, 12, 2))})
    with pytest.raises(DamagedFileError, match=r"is not SEMEION .* it holds X of 10 x 2"):
        load_dataset("semeion", data_dir=tmp_path)


def test_what_cannot_be_had_says_where_to_get_it_and_where_to_put_it(cache, tmp_path):
    with pytest.raises(DatasetNotFoundError) as error:
        load_dataset("gisette", data_dir=tmp_path, download=False)
    for words in ("GISETTE is not available", "static/public/170/gisette.zip", f"into {tmp_path}", "DSOFS_DATA"):
        assert words in str(error.value)
    with pytest.raises(DatasetNotFoundError, match=r"read from brain_tumor_1\.npz \(X, y\) only"):
        load_dataset("brain_tumor_1")


def test_bad_parameters(cache, monkeypatch):
    with pytest.raises(ValueError, match=r"The 'name' parameter of load_dataset must be one of isolet.* Got 'iris'"):
        load_dataset("iris")
    with pytest.raises(NotADirectoryError, match=r"'data_dir' parameter must name a folder\. Got 'nowhere'"):
        load_dataset("ar", data_dir="nowhere")
    monkeypatch.setenv("DSOFS_DATA", "nowhere")
    with pytest.raises(NotADirectoryError, match="environment variable DSOFS_DATA must name a folder"):
        list_datasets()


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_description_is_complete(cache, name):
    text = describe_dataset(name)
    for words in (CATALOGUE[name].title, "samples x", "Source: http", "Licence: ", "Citation: ", "Put "):
        assert words in text
