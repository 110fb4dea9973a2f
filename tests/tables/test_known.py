"""What the user knows of the columns, from the names given to the columns of X."""

import numpy as np
import pytest

from dsofs.tables.labelled import read_labelled

LINES = """\
gene 1,gene 2,colour,patient_id,age,batch,plate,w,label
{}
"""


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.normal():.3f},{rng.normal():.3f},{['red', 'green'][i % 2]},{100 - i},{20 + 3 * i % 50},"
        f"{'abc'[i % 3]},{i % 4},{1 + i % 2},{['ill', 'well'][i // 10]}"
        for i in range(20)
    ]
    (tmp_path / "t.csv").write_text(LINES.format("\n".join(rows)), encoding="utf-8")
    return tmp_path / "t.csv"


def test_covariates_stand_after_the_features(table):
    found = read_labelled(table, "label", covariates=["batch", "age"], weight="w")
    assert not {"batch", "age", "w"} & {feature.column for feature in found.features}
    n = len(found.features)
    assert found.known.covariates == {"batch": [n, n + 1, n + 2], "age": [n + 3]}
    assert found.known.covariate_names == ["batch=a", "batch=b", "batch=c", "age"]
    np.testing.assert_array_equal(found.X[:, n:-1], np.tile(np.eye(3), (7, 1))[:20])
    np.testing.assert_array_equal(found.X[:, -1], [20 + 3 * i % 50 for i in range(20)])
    np.testing.assert_array_equal(found.known.sample_weight, [1, 2] * 10)
    assert list(found.feature_groups[n:]) == ["covariate batch"] * 3 + ["covariate age"]
    assert found.known.record == {"covariates": ["batch", "age"], "weight": "w"}


def test_whole_numbers_may_be_codes(table):
    notes = [note.sentence for note in read_labelled(table, "label", covariates=["plate", "age"]).notes]
    assert [note for note in notes if "'plate' holds 4 whole numbers and is adjusted for as a number" in note]
    assert not [note for note in notes if "'age' holds" in note]


def test_columns_become_features(table, tmp_path):
    (tmp_path / "costs.csv").write_text("feature,factor\ncolour,2.5\ngene 2,3\n", encoding="utf-8")
    given = {"include": ["patient_id", "gene 2"], "never": ["colour"], "costs": tmp_path / "costs.csv"}
    found = read_labelled(table, "label", **given)
    names = found.names
    assert found.known.include == [names.index("patient_id"), names.index("gene 2")]  # though it looks like an ID
    assert [names[index] for index in found.known.never] == ["colour=green", "colour=red"]
    assert {names[i]: cost for i, cost in found.known.costs.items()} == {
        "colour=green": 2.5, "colour=red": 2.5, "gene 2": 3.0,
    }  # fmt: skip
    assert found.known.record["costs"] == {"colour": 2.5, "gene 2": 3.0}
    read_labelled(table, "label", never=["patient_id"])  # which is not a feature anyway


def test_arrays_beside_the_matrix_are_covariates_too(tmp_path):
    rng = np.random.default_rng(0)
    site = np.array(["a", "b"] * 10)
    np.savez(tmp_path / "t.npz", X=rng.normal(size=(20, 3)), y=np.arange(20) // 10, site=site, w=np.full(20, 2.0))
    found = read_labelled(tmp_path / "t.npz", "y", covariates=["site"], weight="w")
    assert found.known.covariates == {"site": [3, 4]}
    assert found.X.shape == (20, 5)
    assert (found.known.sample_weight == 2).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"covariates": ["label"]}, "Column 'label' is both the label and 'covariates': choose one."),
        ({"covariates": ["agee"]}, "There is no column 'agee' for 'covariates'; did you mean 'age'"),
        ({"covariates": ["age"], "include": ["age"]}, "Column 'age' is both 'covariates' and 'include'"),
        ({"include": ["age"], "never": ["age"]}, "Column 'age' is both 'include' and 'never'"),
        ({"include": ["age"], "drop": ["age"]}, "Column 'age' is both 'drop' and 'include'"),
        ({"include": ["batch"], "sample_groups": "batch"}, "'include' names 'batch', which is not among the features."),
        ({"weight": "batch"}, "The 'weight' 'batch' must hold numbers, and holds text"),
        ({"weight": "plate"}, "The 'weight' 'plate' must hold numbers above 0. Got 0 in sample 1"),
    ],
)
def test_refused(table, given, words):
    with pytest.raises(ValueError, match=words):
        read_labelled(table, "label", **given)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gene 7,2", "The file of 'costs' names 'gene 7', which is not among the features."),
        ("gene 1,-2", "must give a number above 0 for each feature. Got '-2' for 'gene 1'"),
        ("gene 1,0", "Got '0' for 'gene 1': to adjust for a column, see --covariates"),
        ("gene 1,much", "Got 'much' for 'gene 1'"),
        ("gene 1", "must have lines 'feature,factor'"),
    ],
)
def test_costs_that_are_refused(table, tmp_path, line, words):
    (tmp_path / "costs.csv").write_text(f"feature,factor\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        read_labelled(table, "label", costs=tmp_path / "costs.csv")


def test_missing_covariates_are_refused_or_filled(table):
    lines = table.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].replace(",20,a,", ",,,")
    table.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match="The covariate 'age' is missing in 1 of 20 samples"):
        read_labelled(table, "label", covariates=["age", "batch"])
    found = read_labelled(table, "label", covariates=["age", "batch"], impute="median")
    assert np.isfinite(found.X).all()
    assert (found.X[:, -3:].sum(axis=1) == 1).all()
