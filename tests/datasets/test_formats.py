"""Each parser, on small files of its format."""

import sys

import numpy as np
import pytest

from dsofs.datasets import DamagedFileError
from dsofs.datasets.formats import (
    faces_in_cells,
    faces_in_folders,
    parse_asu,
    parse_gisette,
    parse_isolet,
    parse_lung,
    parse_pgm,
    parse_semeion,
    resize,
)
from tests.datasets.writers import excel, lines, mat, pgm, pgm_text


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def images(rng, n, shape=(6, 4)):
    return rng.integers(0, 256, (n, *shape), dtype=np.uint8)


def test_isolet_stacks_its_two_files(rng):
    first, second = rng.normal(size=(5, 3)).round(4), rng.normal(size=(2, 3)).round(4)
    table = parse_isolet(
        {
            "isolet5.data": lines(np.column_stack([second, [26, 1]]), ", ", "%.4f"),
            "isolet1+2+3+4.data": lines(np.column_stack([first, [1, 2, 2, 1, 26]]), ", ", "%.4f"),
        }
    )
    assert np.array_equal(table.X, np.vstack([first, second]))
    assert table.y.tolist() == [0, 1, 1, 0, 2, 2, 0]
    assert table.target_names == ["1", "2", "26"]


def test_semeion_reads_the_digit_from_its_ten_columns(rng):
    pixels, digits = rng.integers(0, 2, (4, 16)), np.array([9, 0, 3, 3])
    table = parse_semeion({"semeion.data": lines(np.hstack([pixels, np.eye(10)[digits]]), form="%.4f")})
    assert np.array_equal(table.X, pixels)
    assert [table.target_names[code] for code in table.y] == ["9", "0", "3", "3"]
    with pytest.raises(DamagedFileError, match="do not name one digit"):
        parse_semeion({"semeion.data": lines(np.hstack([pixels, np.ones((4, 10))]))})


def test_gisette_stacks_training_and_validation(rng):
    train, valid = rng.integers(0, 999, (4, 3)), rng.integers(0, 999, (2, 3))
    members = {
        "GISETTE/gisette_train.data": lines(train),
        "GISETTE/gisette_train.labels": b"1\n-1\n-1\n1\n",
        "GISETTE/gisette_valid.data": lines(valid),
        "gisette_valid.labels": b"-1\n1\n",
    }
    table = parse_gisette(members)
    assert np.array_equal(table.X, np.vstack([train, valid]))
    assert table.y.tolist() == [1, 0, 0, 1, 0, 1]
    assert table.target_names == ["-1", "1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gisette_valid.labels": b"1\n-1\n"}, "3 samples and 4 labels"),
        ({"gisette_valid.data": b"1 2 3\n"}, "different numbers of columns"),
        ({"gisette_train.data": b"1 2\n3"}, "not a table of numbers"),
        ({"gisette_train.data": b"<html>"}, "not a table of numbers"),
        ({"gisette_train.data": b" \n"}, "empty"),
        ({"gisette_train.data": None}, "gisette_train.data is missing"),
    ],
)
def test_text_that_is_damaged(change, message):
    members = {"gisette_train.data": b"1 2\n3 4\n", "gisette_train.labels": b"1\n-1\n"}
    members |= {"gisette_valid.data": b"5 6\n", "gisette_valid.labels": b"1\n"}
    members |= change
    with pytest.raises(DamagedFileError, match=message):
        parse_gisette({name: content for name, content in members.items() if content is not None})


def test_asu(rng):
    X, Y = rng.normal(size=(5, 7)), np.array([[3], [1], [1], [2], [3]])
    table = parse_asu({"any.mat": mat(X=X, Y=Y)})
    assert np.array_equal(table.X, X)
    assert table.y.tolist() == [2, 0, 0, 1, 2]
    assert table.target_names == ["1", "2", "3"]


def test_mat_files_that_are_damaged(rng):
    whole = mat(X=rng.normal(size=(50, 70)), Y=np.ones((50, 1)))
    for content in (whole[: len(whole) // 2], b"<html>no such page</html>" * 20, b""):
        with pytest.raises(DamagedFileError, match="not a MATLAB file"):
            parse_asu({"any.mat": content})
    with pytest.raises(DamagedFileError, match="no variable Y"):
        parse_asu({"any.mat": mat(X=np.eye(2))})
    with pytest.raises(DamagedFileError, match=r"one \.mat file is needed, and there are 2"):
        parse_asu({"a.mat": whole, "b.mat": whole})


def test_faces_in_cells_equal_faces_in_folders(rng):
    faces = [images(rng, 3), images(rng, 2)]
    cells = np.empty((1, 2), dtype=object)
    cells[0, :] = [np.moveaxis(stack, 0, 2) for stack in faces]
    names = np.array([["1a", "1b"]], dtype=object)
    folders = {
        f"cropped/1{'ab'[who]}/face/{number}.pgm": pgm(image)
        for who, stack in enumerate(faces)
        for number, image in enumerate(stack)
    }
    from_cells = faces_in_cells((3, 2))({"umist_cropped.mat": mat(facedat=cells, dirnames=names)})
    from_folders = faces_in_folders("1[a-t]", (3, 2))(folders)
    assert np.array_equal(from_cells.X, from_folders.X)
    assert from_cells.y.tolist() == from_folders.y.tolist() == [0, 0, 0, 1, 1]
    assert from_cells.target_names == from_folders.target_names == ["1a", "1b"]
    with pytest.raises(DamagedFileError, match="not a list of image stacks"):
        faces_in_cells((3, 2))({"x.mat": mat(facedat=np.eye(2), dirnames=names)})


def test_faces_are_ordered_as_people_count_and_pixels_as_matlab_does(rng):
    faces = images(rng, 3)
    paths = ("orl_faces/s10/1.pgm", "orl_faces/s2/10.pgm", "orl_faces/s2/9.pgm")
    members = {path: pgm(face) for path, face in zip(paths, faces, strict=True)}
    table = faces_in_folders(r"s\d+")(members | {"README.pgm": b"not a person's"})
    assert table.target_names == ["s2", "s10"]
    assert table.y.tolist() == [0, 0, 1]
    assert np.array_equal(table.X, [face.ravel(order="F") for face in faces[[2, 1, 0]]])


def test_faces_that_are_damaged(rng):
    with pytest.raises(DamagedFileError, match=r"no images in folders named s\\d\+"):
        faces_in_folders(r"s\d+")({"x/1.pgm": pgm(images(rng, 1)[0])})
    with pytest.raises(DamagedFileError, match="differ in size"):
        faces_in_folders(r"s\d+")({f"s1/{n}.pgm": pgm(np.ones((n, 2))) for n in (2, 3)})


def test_pgm(rng):
    image = images(rng, 1)[0]
    for content in (pgm(image), pgm(image, comment=b"# a 6 x 4 image\n# of noise\n"), pgm_text(image)):
        assert np.array_equal(parse_pgm(content), image)
    deep = image.astype(int) * 200
    assert np.array_equal(parse_pgm(pgm(deep, white=65535)), deep)


def test_pgm_that_are_damaged(rng):
    image = images(rng, 1)[0]
    cut = (pgm(image)[:-1], pgm_text(image)[:-8], b"P2 1 1 255\nx\n", b"P5 1 1")
    for content in (*cut, b"", b"<html>", b"P5 100000 100000 255\n..."):
        with pytest.raises(DamagedFileError, match=r"not a \.pgm file, or is cut short"):
            parse_pgm(content)
    with pytest.raises(DamagedFileError, match="not grey"):
        parse_pgm(b"P6 1 1 255\n...")


def test_without_pillow_the_error_names_it_and_the_extra(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "PIL.Image")
    with pytest.raises(ImportError, match=r"pip install pillow .* pip install '.\[data\]'"):
        parse_pgm(pgm(images(rng, 1)[0]))


@pytest.mark.parametrize("size", [(56, 46), (30, 60), (112, 92), (150, 200)])
def test_resize_weighs_pixels_by_the_cubic_kernel_of_keys(rng, size):
    image = images(rng, 1, (112, 92))[0]
    down, across = (cubic_weights(n, m) for n, m in zip(image.shape, size, strict=True))
    expected = np.clip(down @ image @ across.T, 0, 255)
    resized = resize(image, size)
    assert resized.dtype == np.uint8
    assert np.abs(resized - expected).max() <= 0.5 + 1e-3


def cubic_weights(n, m):
    """m x n: how much each of n pixels in a row counts in each of m (a = -1/2)."""
    scale = n / m
    centre = (np.arange(m)[:, None] + 0.5) * scale - 0.5
    t = np.abs(np.arange(n) - centre) / max(scale, 1)
    near, far = 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
    weights = np.where(t < 1, near, np.where(t < 2, far, 0))
    return weights / weights.sum(axis=1, keepdims=True)


def lung_rows(X):
    header = ["probe set", "gene", "AD-1", "NL-7", "COID-2", "SQ-1", "SMCL-3", "AD-2"]
    return [header, *([f"{gene}_at", "a gene", *column] for gene, column in enumerate(X.T.tolist()))]


@pytest.mark.parametrize("kind", ["excel", "text"])
def test_lung_drops_genes_that_vary_by_less_than_50(kind):
    directions = np.array([1.0, -1, 1, -1, 1, -1])[:, None]  # with a standard deviation of sqrt(6 / 5)
    spreads = np.array([49.9, 50.1, 0, 800]) / np.sqrt(6 / 5)
    X = 1000 + directions * spreads
    rows = lung_rows(X)
    content = excel(rows) if kind == "excel" else "\r\n".join("\t".join(map(str, row)) for row in rows).encode()
    table = parse_lung({"raw.xls": content})
    assert np.allclose(table.X, X[:, [1, 3]])
    assert table.feature_names == ["1_at", "3_at"]
    assert [table.target_names[code] for code in table.y] == [
        "adenocarcinoma",
        "normal lung",
        "carcinoid",
        "squamous cell carcinoma",
        "small cell carcinoma",
        "adenocarcinoma",
    ]


def test_lung_that_is_damaged():
    rows = lung_rows(np.arange(12.0).reshape(6, 2))
    text = "\n".join("\t".join(map(str, row)) for row in rows)
    for content, message in (
        (b"", "not a table of probe set"),
        (b"<html>not here</html>", "not a table of probe set"),
        (text[:-6].encode(), "not a table of probe set"),
        (text.replace("11.0", "?").encode(), "not a number"),
        (text.replace("COID", "LIVER").encode(), "LIVER"),
        (excel(rows)[:600], "not an Excel file"),
    ):
        with pytest.raises(DamagedFileError, match=message):
            parse_lung({"raw.xls": content})
