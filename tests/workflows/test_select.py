"""What the user knows, from the options to selector, page and files."""

import json

import numpy as np
import pytest

from dsofs import DSOSelector, apply_selection, select_table
from dsofs.report import render
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
