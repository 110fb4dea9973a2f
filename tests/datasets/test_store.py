"""Downloads, from a server on this machine."""

import functools
import sys
import threading
from dataclasses import replace
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from dsofs.datasets import DatasetNotFoundError, describe_dataset, load_dataset
from dsofs.datasets.catalogue import CATALOGUE
from tests.datasets.writers import lines, mat, zip_of

pooch = pytest.importorskip("pooch")


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is served, its address, and an empty cache."""
    folder, cache = tmp_path / "site", tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("DSOFS_DATA", raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}", cache / "dsofs"
        server.shutdown()


@pytest.fixture
def semeion(site, monkeypatch):
    """SEMEION, small: three digits of two pixels, served as a zip archive."""
    folder, address, _ = site
    content = lines(np.hstack([[[0, 1], [1, 1], [1, 0]], np.eye(10)[[4, 0, 4]]]))
    packed = zip_of(folder / "semeion+handwritten+digit.zip", {"semeion.data": content})
    dataset = CATALOGUE["semeion"]
    source = replace(
        dataset.sources[0],
        url=f"{address}/semeion+handwritten+digit.zip",
        sha256={"semeion.data": sha256(content).hexdigest()},
    )
    monkeypatch.setitem(
        CATALOGUE,
        "semeion",
        replace(dataset, n_samples=3, n_features=2, n_classes=2, target_names=None, image=None, sources=(source,)),
    )
    return packed


def change(monkeypatch, name, **changes):
    monkeypatch.setitem(CATALOGUE, name, replace(CATALOGUE[name], **changes))


def test_a_download_is_shown_kept_and_not_repeated(site, semeion, capsys, caplog, monkeypatch):
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])
    _, address, cache = site
    found = sha256(semeion.read_bytes()).hexdigest()
    data = load_dataset("semeion")
    assert "100%" in capsys.readouterr().err
    assert found in caplog.text
    assert data.X.tolist() == [[0, 1], [1, 1], [1, 0]]
    assert data.target_names[data.y].tolist() == ["4", "0", "4"]
    assert f"Downloaded, url: {address}/semeion+handwritten+digit.zip" in data.DESCR
    assert f"Downloaded, sha256: {found}" in data.DESCR
    assert [path.name for path in cache.iterdir()] == ["semeion.npz"]
    semeion.unlink()
    again = load_dataset("semeion")
    assert np.array_equal(again.X, data.X)
    assert again.DESCR == data.DESCR == describe_dataset("semeion")


def test_another_hash_than_the_pinned_one_is_refused(site, semeion, monkeypatch):
    source = replace(CATALOGUE["semeion"].sources[0], sha256={"semeion.data": "0" * 64})
    change(monkeypatch, "semeion", sources=(source,))
    with pytest.raises(DatasetNotFoundError, match=f"SHA-256 of semeion.data is .* it was published with {'0' * 64}"):
        load_dataset("semeion")
    assert not site[2].exists()


def test_another_shape_than_that_of_table_1_is_refused(site, semeion, monkeypatch):
    change(monkeypatch, "semeion", n_samples=4)
    with pytest.raises(DatasetNotFoundError, match=r"is not SEMEION .* it holds X of 3 x 2"):
        load_dataset("semeion")
    assert not site[2].exists()


def test_a_file_cut_short_is_refused(site, semeion):
    semeion.write_bytes(semeion.read_bytes()[:-30])
    with pytest.raises(DatasetNotFoundError, match="cut short or no archive"):
        load_dataset("semeion")
    assert not site[2].exists()


def test_what_is_gone_says_where_to_get_it_and_where_to_put_it(site, semeion):
    semeion.unlink()
    with pytest.raises(DatasetNotFoundError) as error:
        load_dataset("semeion")
    for words in (
        "404",
        "Get it from https://archive.ics.uci.edu/dataset/178",
        f"Put one of these files into {site[2]}",
    ):
        assert words in str(error.value)


def test_a_server_that_does_not_answer(site, semeion, monkeypatch):
    source = replace(CATALOGUE["semeion"].sources[0], url="http://127.0.0.1:9/semeion.zip")
    change(monkeypatch, "semeion", sources=(source,))
    with pytest.raises(DatasetNotFoundError, match="could not be downloaded"):
        load_dataset("semeion")


def test_the_second_source_serves_where_the_first_does_not(site, monkeypatch):
    folder, address, _ = site
    (folder / "raw.xls").write_text("<html>Are you a robot?</html>")
    (folder / "lung.mat").write_bytes(mat(X=np.eye(3), Y=[[1], [2], [2]]))
    raw, asu = CATALOGUE["lung"].sources
    sources = (replace(raw, url=f"{address}/raw.xls"), replace(asu, url=f"{address}/lung.mat"))
    change(monkeypatch, "lung", n_samples=3, n_features=3, n_classes=2, sources=sources)
    assert f"{address}/lung.mat" in load_dataset("lung").DESCR


def test_without_pooch_the_error_names_the_extra(site, semeion, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DatasetNotFoundError, match=r"(?s)pip install pooch .*'.\[data\]'.*Get it from"):
        load_dataset("semeion")
