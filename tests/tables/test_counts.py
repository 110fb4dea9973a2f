"""Counts: what is made of them, in a selection, its resamples and other files; and when a table looks like them."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from dsofs import DSOSelector, apply_selection, select_table
from dsofs.report import examine
from dsofs.statistics.samples import Samples
from dsofs.tables.counts import TRANSFORMS, TfIdf, note_counts
from dsofs.tables.selection import Selection
from tests.cli.test_cli import run
from tests.tables.tables import csv_lines

ORACLES = {
    "log": lambda X: np.log(1 + X),
    "binary": lambda X: (X > 0) * 1.0,
    "tf-idf": lambda X: TfidfTransformer().fit_transform(X).toarray(),
}


def words(seed=0, m=60, n=30):
    """Texts of very different lengths; of two classes, each with words of its own. One is empty."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    rates = np.full((m, n), 0.3)
    rates[:, :3] += 0.5 * y[:, None]
    rates[:, 3:6] += 0.5 * (1 - y[:, None])
    X = rng.poisson(rates * rng.lognormal(size=(m, 1))).astype(float)
    X[0] = 0
    return X, y


@pytest.fixture
def table(tmp_path):
    X, y = words()
    names = [f"w{index}" for index in range(X.shape[1])]
    (tmp_path / "t.csv").write_text(csv_lines(X.astype(int), np.array(["no", "yes"])[y], names), encoding="utf-8")
    return tmp_path / "t.csv"


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_every_transform_is_its_formula_and_keeps_the_kind_of_matrix(name, kind):
    X, _ = words()
    found = TRANSFORMS[name]().fit_transform(kind(X))
    assert sparse.issparse(found) == sparse.issparse(kind(X))
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, ORACLES[name](X))


def test_factors_are_learnt_on_the_training_part():
    X, y = words()
    rows = np.arange(40), np.arange(40, 60)
    split = Samples(X, y, transformer=TfIdf()).split(*rows)
    expected = TfidfTransformer().fit(X[:40])
    for part, own in ((split.training, rows[0]), (split.test, rows[1])):
        np.testing.assert_allclose(part.X, expected.transform(X[own]).toarray())


@pytest.mark.parametrize("name", TRANSFORMS)
def test_selection_page_and_other_files(table, tmp_path, name):
    """Features are selected from the transform, and other files go through the one that was fitted."""
    X, y = words()
    out = tmp_path / "out"
    options = {"k": 4, "transform": name, "n_resamples": 3, "n_permutations": 0, "n_jobs": 1}
    found = select_table(table, "label", **options, out=out)
    transformed = ORACLES[name](X)
    assert found.selection.indices == np.argsort(DSOSelector(4).fit(transformed, y).ranking_)[:4].tolist()
    assert not [note for note in found.notes if note.kind == "counts"]
    loaded = Selection.load(out / "selection.json")
    assert loaded == found.selection
    np.testing.assert_allclose(apply_selection(loaded, table).X, transformed[:, loaded.indices])
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(table.read_text(encoding="utf-8").splitlines()[:21]), encoding="utf-8")
    np.testing.assert_allclose(loaded.apply(fewer), transformed[:20, loaded.indices])
    assert type(TRANSFORMS[name]()).__name__ in (out / "report.html").read_text(encoding="utf-8")
    again = examine(X, y, DSOSelector(4), transform=TRANSFORMS[name](), n_resamples=3, n_permutations=0)
    assert again.accuracy == found.findings.accuracy


def test_tf_idf_needs_all_columns_of_another_file(table, tmp_path):
    found = select_table(table, "label", k=2, transform="tf-idf", report=False)
    kept = found.selection.names
    (tmp_path / "few.csv").write_text(",".join(kept) + "\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks 28 of the columns that the length of a sample is taken over"):
        found.selection.apply(tmp_path / "few.csv")
    by_log = select_table(table, "label", k=2, transform="log", report=False).selection
    (tmp_path / "few.csv").write_text(",".join(by_log.names) + "\n1,2\n", encoding="utf-8")
    np.testing.assert_allclose(by_log.apply(tmp_path / "few.csv"), np.log([[2, 3]]))


def test_what_is_refused(table, tmp_path):
    with pytest.raises(ValueError, match="'transform' parameter of select_table must be"):
        select_table(table, "label", transform="sqrt")
    with pytest.raises(ValueError, match="leave out one of the two"):
        select_table(table, "label", transform="log", covariates=["w0"])
    (tmp_path / "n.csv").write_text("a,b,label\n" + "1,-2,x\n3,4,y\n" * 6, encoding="utf-8")
    with pytest.raises(ValueError, match="the table holds negative values"):
        select_table(tmp_path / "n.csv", "label", transform="log")
    good = json.loads(select_table(table, "label", k=2, transform="tf-idf", report=False).selection.to_json())
    for wrong in ({"name": "sqrt"}, {"factors": [1.0]}, {"features": [], "factors": [2.0]}):
        (tmp_path / "s.json").write_text(json.dumps(good | {"transform": good["transform"] | wrong}), encoding="utf-8")
        with pytest.raises(ValueError, match="is not a selection of dsofs: transform"):
            Selection.load(tmp_path / "s.json")
    del good["transform"]
    (tmp_path / "s.json").write_text(json.dumps(good), encoding="utf-8")
    assert Selection.load(tmp_path / "s.json").transform is None


def test_counts_are_noted_where_nothing_is_made_of_them(table, tmp_path):
    command = ("select", str(table), "--target", "label", "-k", "2", "--no-report", "--out", str(tmp_path / "out"))
    assert "--transform log, binary, tf-idf may select better features." in run(*command).stderr
    assert run(*command, "--transform", "tf-idf").stderr == ""
    X, _ = words()
    assert note_counts(sparse.csr_array(X))
    for other in (X + 1, X - 1, X / 2, (X > 0) * 1.0, np.zeros((3, 3)), sparse.csr_array((3, 3))):
        assert note_counts(other) == []
