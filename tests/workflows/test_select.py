"""What the user knows, from the options to selector, page and files."""

import html
import json
from dataclasses import replace

import numpy as np
import pytest

from dsofs import DSOSelector, apply_selection, select_table
from dsofs.report import render
from dsofs.report.grade import Grade, grade
from dsofs.report.verdict import headline
from dsofs.tables.selection import Selection
from tests.cli.test_cli import run

QUICK = {"n_resamples": 4, "n_permutations": 2, "n_jobs": 1}


@pytest.fixture
def table(tmp_path):
    """A gene that follows the batch and one that follows the class, which agree in nine of ten samples."""
    rng = np.random.default_rng(1)
    batch = rng.integers(2, size=80)
    y = np.where(rng.random(80) < 0.95, batch, 1 - batch)
    X = rng.normal(size=(80, 12)).round(3)
    X[:, 0] += 5 * batch
    X[:, 1] += 2.5 * y
    header = ",".join([*(f"g{i}" for i in range(12)), "batch", "age", "w", "label"])
    rows = [f"{','.join(map(str, X[i]))},{'ab'[batch[i]]},{40 + i % 30},{1 + i % 3},c{y[i]}" for i in range(80)]
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    return tmp_path / "t.csv"


def test_a_proxy_of_the_batch_is_not_selected_beside_it(table):
    plain = select_table(table, "label", k=1, drop=["w", "batch", "age"], report=False)
    assert plain.selection.names == ["g0"]
    found = select_table(table, "label", k=1, drop=["w"], covariates=["batch", "age"], **QUICK)
    assert found.selection.names == ["g1"]
    assert found.findings.chosen[0].frequency > 0.5  # adjusted for in resamples too
    assert found.findings.covariates.names == ["batch", "age"]
    assert found.selection.data["n_features"] == 12
    assert "What the covariates predict" in render(found.findings)


def test_settings_reach_the_selector_and_the_record(table, tmp_path):
    (tmp_path / "costs.csv").write_text("g1,50\n", encoding="utf-8")
    given = {"include": ["g7", "g5"], "never": ["g0"], "costs": tmp_path / "costs.csv"}
    found = select_table(table, "label", k=3, drop=["w", "age", "batch"], report=False, out=tmp_path / "out", **given)
    assert found.selection.names[:2] == ["g7", "g5"]
    assert found.selector.penalty_factor_[0] == np.inf
    assert found.selector.penalty_factor_[1] == 50
    loaded = Selection.load(tmp_path / "out" / "selection.json")
    record = {"include": ["g7", "g5"], "never": ["g0"], "costs": {"g1": 50.0}}
    assert record.items() <= loaded.parameters.items()


@pytest.mark.parametrize("tune", [False, True])
def test_no_more_than_can_be_selected(table, tune):
    found = select_table(table, "label", k=20, drop=["w"], covariates=["batch", "age"], never=["g0"], report=False,
                         tune=tune)  # fmt: skip
    assert "K = 20 is more than the 11 features there are: all were selected." in [n.sentence for n in found.notes]
    assert sorted(found.selection.names) == sorted(f"g{i}" for i in range(1, 12))


def test_covariates_are_not_needed_to_apply(table, tmp_path):
    options = ["--covariates", "batch,age", "--drop", "w", "-k", "2", "--include", "g3", "--json", "--no-report"]
    result = run("select", str(table), "--target", "label", *options, "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["parameters"]["covariates"] == ["batch", "age"]
    (tmp_path / "new.csv").write_text("g1,g3,g0\n1,2,3\n4,5,6\n", encoding="utf-8")
    np.testing.assert_array_equal(
        apply_selection(tmp_path / "out" / "selection.json", tmp_path / "new.csv").X[:, 0], [2, 5]
    )


@pytest.mark.parametrize("option", [("--covariates", "age"), ("--include", "g1"), ("--never", "g1")])
def test_only_dso_takes_them(table, tmp_path, option):
    result = run("select", str(table), "--target", "label", "--method", "mrmr", *option, "--out", str(tmp_path / "o"))
    assert result.exit_code == 2
    assert f"'{option[0][2:]}' is for the method dso, and mrmr does not accept it" in result.output


def test_methods_without_weights_refuse_them(table):
    with pytest.raises(ValueError, match="The method relieff takes no weights"):
        select_table(table, "label", method="relieff", weight="w")


def test_weights_reach_the_fits(table):
    found = select_table(table, "label", k=3, weight="w", drop=["batch", "age"], **QUICK)
    assert found.selection.parameters["weight"] == "w"
    assert "w" not in found.selection.names
    X = np.loadtxt(table, delimiter=",", skiprows=1, usecols=range(12))
    y = np.loadtxt(table, delimiter=",", skiprows=1, usecols=15, dtype=str)
    expected = DSOSelector(3).fit(X, y, sample_weight=1 + np.arange(80) % 3)
    np.testing.assert_allclose(found.selector.coef_, expected.coef_)


@pytest.fixture
def patients(tmp_path):
    """Three samples of each of 20 patients, alike but for noise; which patients relapse has nothing to do with them."""
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(20, 60)), 3, axis=0) + 0.3 * rng.normal(size=(60, 60))
    header = ",".join([*(f"g{i}" for i in range(60)), "patient", "outcome"])
    rows = [f"{','.join(map(str, X[i].round(3)))},P{i // 3},{'ab'[i // 3 % 2]}" for i in range(60)]
    (tmp_path / "patients.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    return tmp_path / "patients.csv"


def test_repeated_ids_that_are_not_given_as_groups_cost_the_best_grade(patients):
    """Samples of a patient on both sides of a split make noise predict well."""
    leaking = select_table(patients, "outcome", k=5, n_resamples=6, n_permutations=0, n_jobs=1).findings
    assert leaking.accuracy.at_k > 0.7
    assert leaking.repeated_ids == ["patient"]
    assert headline(leaking).startswith("With care: ")
    assert "samples that may belong together were both learned and tested" in headline(leaking)
    assert "Several samples have the same patient." in in_html(leaking)
    assert grade(replace(leaking, repeated_ids=[])) is not Grade.REJECT  # the figures alone do not show it
    grouped = select_table(patients, "outcome", k=5, groups="patient", **QUICK).findings
    assert grouped.repeated_ids == []
    assert grade(grouped) is Grade.REJECT
    assert select_table(patients, "outcome", k=5, drop=["patient"], **QUICK).findings.repeated_ids == []


def test_samples_that_occur_twice_cost_the_best_grade(tmp_path):
    """Copies on both sides of a split make noise predict well."""
    X = np.random.default_rng(0).normal(size=(40, 300)).round(3)
    header = ",".join([*(f"g{i}" for i in range(300)), "y"])
    rows = [f"{','.join(map(str, row))},{'ab'[i % 2]}" for i, row in enumerate(X)]
    (tmp_path / "t.csv").write_text("\n".join([header, *rows, *rows]), encoding="utf-8")
    found = select_table(tmp_path / "t.csv", "y", k=5, n_resamples=6, n_permutations=0, n_jobs=1)
    assert found.findings.accuracy.at_k > 0.6
    assert "samples that may belong together were both learned and tested" in headline(found.findings)
    assert "Several samples have the same values in all features." in in_html(found.findings)
    assert [note.text.split(":")[0] for note in found.notes if note.kind == "copies"] == [
        "40 samples repeat the values of another one in all features, as sample 41 those of sample 1"
    ]


@pytest.mark.parametrize("values", [["x", "y", "z"], ["x1", "x2", "y", "z"]])
def test_a_category_that_gives_the_label_away_costs_the_best_grade(tmp_path, values):
    """Three classes: no single column of zeros and ones equals the label, and all of them together tell it."""
    rng = np.random.default_rng(0)
    classes = [value[0] for value in values]
    picks = np.tile(np.arange(len(values)), 60 // len(values))
    rows = [f"{','.join(map(str, rng.normal(size=5).round(2)))},{values[i]},{classes[i]}" for i in picks]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c,d,e,code,class", *rows]), encoding="utf-8")
    found = select_table(path, "class", k=1, **QUICK)
    away = "'code' gives the label 'class' away, since each value occurs in one class only"
    assert [note.text.partition(":")[0] for note in found.notes if note.kind == "leaking columns"] == [away]
    assert headline(found.findings).endswith("apart, but some may be the label under another name")


def test_a_category_that_tells_only_one_class_is_no_leak(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.2f},{'uv'[i % 4 == 0]},{'xy'[i % 2]}" for i in range(40)]  # v: always x; u: x or y
    (tmp_path / "t.csv").write_text("\n".join(["a,code,class", *rows]), encoding="utf-8")
    found = select_table(tmp_path / "t.csv", "class", k=1, report=False)
    assert "leaking columns" not in [note.kind for note in found.notes]


def in_html(findings):
    return html.unescape(render(findings))
