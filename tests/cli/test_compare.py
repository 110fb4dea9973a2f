import csv
import hashlib
import json
import sys

import numpy as np
import pytest

from dsofs import METHODS
from dsofs.experiments import CLEAN, REFERENCE, read_rows, run
from dsofs.experiments.side_by_side import side_by_side
from dsofs.files import sole_writer
from dsofs.methods.shared.scored import ScoreSelector
from dsofs.report import render_comparison
from dsofs.statistics import Samples
from tests.cli.test_cli import run as cli
from tests.tables.tables import csv_lines, small_problem

QUICK = ("--methods", "dso,f_test", "-k", "3,5", "--quick", "--trials", "2")


def compare(path, *options):
    out = path.parent / "out"
    return cli("compare", str(path), "--target", "label", "--out", str(out), *options), out


def test_results_are_those_of_the_runner(table, tmp_path):
    result, out = compare(table, *QUICK, "--json")
    assert result.exit_code == 0, result.output
    X, y, _ = small_problem()
    samples = Samples(X, np.unique(y, return_inverse=True)[1])
    methods = {name: METHODS[name] for name in ("dso", "f_test")} | REFERENCE
    expected = run(tmp_path / "e.jsonl", {"t": samples}, methods, protocol=CLEAN.untuned("q"), ks=(3, 5), trials=2)
    lines = list(csv.DictReader((out / "results.csv").read_text(encoding="utf-8").splitlines()))
    assert [(line["method"], line["k"]) for line in lines] == [
        ("dso", "3"), ("dso", "5"), ("f_test", "3"), ("f_test", "5"), ("all_features", "all"),
    ]  # fmt: skip
    for line in lines:
        scores = [row.score for row in expected if (row.method, str(row.k or "all")) == (line["method"], line["k"])]
        assert float(line["accuracy"]) == pytest.approx(np.mean(scores))
    assert len(json.loads(result.stdout)["results"]) == len(lines)


def test_goes_on_where_it_stopped(table):
    result, out = compare(table, *QUICK)
    assert "no selection" in result.stdout
    rows = (out / "rows.jsonl").read_text(encoding="utf-8")
    compare(table, *QUICK)
    assert (out / "rows.jsonl").read_text(encoding="utf-8") == rows
    result, _ = compare(table, *QUICK[:-1], "3")
    assert result.exit_code == 0, result.output
    assert (out / "rows.jsonl").read_text(encoding="utf-8").startswith(rows)


def test_compare_does_not_overwrite_another_comparison(table):
    """The results of other data, settings or methods were overwritten without a word."""
    result, out = compare(table, *QUICK)
    assert result.exit_code == 0, result.output
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    other = table.parent / "other.csv"
    other.write_text(csv_lines(*small_problem(seed=1)), encoding="utf-8")
    for path, options, words in (
        (other, QUICK, "of 'table.csv' with another content, label, choice of features or groups"),
        (table, (*QUICK, "--drop", "0"), "another content, label, choice of features or groups"),
        (table, (*QUICK, "--impute", "median"), "under the protocol 'clean, quick'"),
        (table, ("--methods", "dso", *QUICK[2:]), "of more than is asked for now (dso, f_test; k = 3, 5; 2 trials)"),
    ):
        result, _ = compare(path, *options)
        assert result.exit_code == 2
        assert words in result.stderr
        assert "give another 'out'" in result.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_compare_says_at_the_start_that_a_package_is_missing(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastcan", None)
    result, out = compare(table, "--methods", "dso,fastcan", *QUICK[2:])
    assert result.exit_code == 2
    assert "fastcan is not installed. Install it with: pip install fastcan" in result.stderr
    assert not out.exists()  # nothing was run


def test_fits_that_fail_are_told_of(table, monkeypatch):
    def broken(Z, codes, k, random_state):
        raise ValueError("out of order")

    monkeypatch.setattr("dsofs.methods.f_test.make", lambda k, seed=0: ScoreSelector(k, score_func=broken))
    table = table.rename(table.parent / "a, b.csv")
    result, _ = compare(table, *QUICK)
    assert result.exit_code == 1
    assert "2 fits failed, the first: f_test, trial 0: ValueError: out of order" in result.output


def test_two_runs_at_once_are_refused_in_one_line(table):
    (table.parent / "out").mkdir()
    with sole_writer(table.parent / "out" / "rows.jsonl"):
        result, _ = compare(table, *QUICK)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: Another run is writing to ")


def test_tunes_for_each_k(table):
    result, out = compare(table, "--methods", "dso", "-k", "3", "--trials", "1")
    assert result.exit_code == 0, result.output
    row = next(row for row in read_rows(out / "rows.jsonl") if row.method == "dso")
    assert row.parameters["protocol"] == "clean, tuned for each k"
    assert set(row.values["chosen"]) == {"p", "svm_C"}


@pytest.mark.parametrize("impute", ["median", "most-frequent", "knn"])
def test_gaps_are_filled_inside_the_splits(table, impute):
    X, y, names = small_problem()
    X[::3, 0] = np.nan
    table.write_text(csv_lines(X, y, names), encoding="utf-8")
    assert compare(table, *QUICK)[0].exit_code == 2
    result, out = compare(table, *QUICK, "--impute", impute)
    assert result.exit_code == 0, result.output
    assert side_by_side(out / "rows.jsonl").asked.protocol == f"clean, quick, {impute} imputed"


def test_categories_groups_and_samples_that_belong_together(table):
    rows = [f"{i % 7},{'rst'[i % 3]},p{i // 2},{'uv'[i // 2 % 2]}" for i in range(40)]
    table.write_text("\n".join(["a,c,who,label", *rows]), encoding="utf-8")
    result, _ = compare(table, "--methods", "dso", "-k", "2", "--quick", "--trials", "1", "--sample-groups", "who")
    assert result.exit_code == 0, result.output


def test_what_cannot_be_compared(table):
    for options, words in (
        (("--methods", "dso,best"), "--methods must be some of"),
        (("-k", "ten"), "-k must be numbers"),
        (("-k", "0"), "-k must be numbers"),
        (("-k", "31"), "There are only 30 features"),
    ):
        result, out = compare(table, *options)
        assert result.exit_code == 2
        assert words in result.output
        assert not out.exists()


def test_the_report_is_drawn_from_the_rows_and_names_are_escaped(tmp_path):
    X, y, names = small_problem()
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    path.write_text(csv_lines(X, [f"<b>{label}</b>" for label in y], names), encoding="utf-8")
    result, out = compare(path, *QUICK, "--json")
    assert result.exit_code == 0, result.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page == render_comparison(side_by_side(out / "rows.jsonl"))
    assert str(out / "report.html") in json.loads(result.stdout)["files"]
    assert "&lt;img src=x onerror=alert(1)&gt;.csv" in page
    assert "&lt;b&gt;ill&lt;/b&gt;" in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "dsofs compare" in page
    assert hashlib.sha256(path.read_bytes()).hexdigest() in page
