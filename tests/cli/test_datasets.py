import json

import numpy as np
import pytest

from dsofs.datasets.catalogue import CATALOGUE
from tests.cli.test_cli import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one ready file, which is not read to list it; nothing in the environment or the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("DSOFS_DATA", raising=False)
    np.savez(tmp_path / "orl.npz", X=np.eye(2), y=[0, 1])
    return tmp_path


def test_table(folder):
    result = run("datasets", "--data-dir", str(folder))
    rows = {line.split()[0]: line for line in result.output.splitlines()}
    assert result.exit_code == 0
    assert list(rows)[1:] == [name for name, dataset in CATALOGUE.items() if not dataset.is_stand_in]
    assert all(words in rows["orl"] for words in ("400 x 10304", "40", str(folder / "orl.npz"), "AT&T"))
    assert rows["isolet"].split() == ["isolet", "7797", "x", "617", "26", "no", "UCI", "CC", "BY", "4.0"]


def test_json(folder):
    rows = {row["name"]: row for row in json.loads(run("datasets", "--json", "--data-dir", str(folder)).output)}
    assert rows["orl"]["path"] == str(folder / "orl.npz")
    assert rows["gisette"] == {
        "name": "gisette",
        "n_samples": 7000,
        "n_features": 5000,
        "n_classes": 2,
        "path": None,
        "source": "UCI",
        "url": "https://archive.ics.uci.edu/dataset/170/gisette",
        "licence": "CC BY 4.0",
    }


def test_one_data_set(folder):
    result = run("datasets", "umist", "--data-dir", str(folder))
    for words in ("575 samples x 2576 features, 20 classes", "bicubic", "Get it from", f"into {folder}"):
        assert words in result.output
    assert f"Read from: {folder / 'orl.npz'}" in run("datasets", "orl", "--data-dir", str(folder)).output
    assert json.loads(run("datasets", "orl", "--json").output)["DESCR"].startswith("ORL")


def test_bad_values(folder, monkeypatch):
    assert run("datasets", "iris").exit_code == 2
    assert run("datasets", "--data-dir", str(folder / "none")).exit_code == 2
    (folder / "ar.npz").write_bytes(b"PK half of a file")
    result = run("datasets", "ar", "--data-dir", str(folder))
    assert result.exit_code == 2
    assert "Error:" in result.output
    assert "not an npz file" in result.output
    monkeypatch.setenv("DSOFS_DATA", str(folder / "none"))
    assert "DSOFS_DATA must name a folder" in run("datasets").output
