"""Each call gives what its command writes, byte for byte; the clock stands still, and the calls say what was called."""

import shlex
from datetime import UTC, datetime

import numpy as np
import pytest

from dsofs import apply_selection, compare_table, select_table
from dsofs.tables.selection import Selection
from tests.cli.test_cli import run
from tests.tables.tables import csv_lines, small_problem


class Noon(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime(2020, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def still(monkeypatch):
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)
    monkeypatch.setattr("dsofs.examination.record.datetime", Noon)


@pytest.fixture
def table(tmp_path):
    X, y, names = small_problem()
    (tmp_path / "table.csv").write_text(csv_lines(X, y, names), encoding="utf-8")
    return tmp_path / "table.csv"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def command(*words):
    """Run a command that must succeed; how it says it was called."""
    result = run(*map(str, words))
    assert result.exit_code == 0, result.output
    return shlex.join(["dsofs", *map(str, words)])


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (("-k", 4, "--no-report"), {"k": 4, "report": False}),
        (("-k", 3, "--p", 0.5, "--C", "hard", "--seed", 3, "--resamples", 4, "--permutations", 3, "--n-jobs", 1),
         {"k": 3, "p": 0.5, "C": "hard", "random_state": 3, "n_resamples": 4, "n_permutations": 3, "n_jobs": 1}),
        (("--method", "f_test", "--drop", "0,1", "--no-report"), {"method": "f_test", "drop": [0, 1], "report": False}),
        (("-k", 4, "--tune", "--no-report"), {"k": 4, "tune": True, "report": False}),
    ],
)  # fmt: skip
def test_select_table_is_the_command_select(table, tmp_path, still, options, arguments):
    called = command("select", table, "--target", "label", *options, "--out", tmp_path / "command")
    found = select_table(table, "label", **arguments, out=tmp_path / "call", command=called)
    assert contents(tmp_path / "call") == contents(tmp_path / "command")
    assert sorted(found.files) == sorted(contents(tmp_path / "call"))
    assert found.selection.indices == Selection.load(found.files["selection.json"]).indices
    assert (found.findings is not None) == arguments.get("report", True)


def test_compare_table_is_the_command_compare(table, tmp_path, still):
    options = ("--methods", "dso,f_test", "-k", "3,5", "--quick", "--trials", 2, "--n-jobs", 1)
    called = command("compare", table, "--target", "label", *options, "--out", tmp_path / "command")
    found = compare_table(table, "label", methods=["dso", "f_test"], ks=[3, 5], quick=True, trials=2, n_jobs=1,
                          out=tmp_path / "call", command=called)  # fmt: skip
    assert contents(tmp_path / "call") == contents(tmp_path / "command")
    assert sorted(found.files) == ["report.html", "results.csv"]
    assert found.measured.accuracy.shape == (2, 2, 2)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npz"])
def test_apply_selection_is_the_command_apply(table, tmp_path, suffix):
    found = select_table(table, "label", k=3, report=False, out=tmp_path)
    small = tmp_path / f"command{suffix}"
    command("apply", found.files["selection.json"], table, "--out", small, "--keep", "label")
    applied = apply_selection(found.files["selection.json"], table, tmp_path / f"call{suffix}", keep=["label"])
    if suffix == ".npz":  # whose bytes hold the time
        with np.load(small) as by_command, np.load(applied.file) as by_call:
            assert set(by_command) == set(by_call)
            assert all((by_command[name] == by_call[name]).all() for name in by_call)
    else:
        assert applied.file.read_bytes() == small.read_bytes()
    assert list(applied.kept) == ["label"]
    np.testing.assert_array_equal(applied.X, found.selection.apply(table))


def test_nothing_is_written_where_no_folder_is_given(table):
    before = contents(table.parent)
    found = select_table(table, "label", k=2, report=False)
    compared = compare_table(table, "label", methods=["f_test"], ks=[2], quick=True, trials=2)
    applied = apply_selection(found.selection, table)
    assert (found.files, compared.files, applied.file) == ({}, {}, None)
    assert contents(table.parent) == before


def test_stages_are_reported(table):
    heard = []
    select_table(
        table, "label", k=2, n_resamples=3, n_permutations=2, n_jobs=1, progress=lambda *step: heard.append(step)
    )
    assert [step for step in heard if step[1] == step[2]] == [
        ("reading", 1, 1), ("selecting", 1, 1), ("resampling", 3, 3), ("shuffling labels", 2, 2),
    ]  # fmt: skip
    tables, cells = [], []
    compare_table(table, "label", methods=["f_test"], ks=[2], quick=True, trials=2, on_read=tables.append,
                  progress=cells.append)  # fmt: skip
    assert len(tables) == 1
    assert [(each.done, each.total) for each in cells] == [(done, 4) for done in range(5)]


@pytest.mark.parametrize(
    ("call", "arguments", "words"),
    [
        (select_table, {"k": 0}, "The 'k' parameter of select_table must be an int of at least 1. Got 0 instead."),
        (select_table, {"method": "best"}, "The 'method' parameter of select_table must be 'abess' or "),
        (select_table, {"C": "soft"}, "The 'C' parameter of select_table must be None or a float in the range"),
        (select_table, {"method": "mrmr", "p": 0.5}, "'p' is not a setting of the method mrmr"),
        (select_table, {"method": "rfs", "tune": True}, "'tune' chooses p for the method dso"),
        (compare_table, {"methods": "dso"}, "The 'methods' parameter of compare_table must be some of"),
        (compare_table, {"methods": ["best"]}, "The 'methods' parameter of compare_table must be some of"),
        (compare_table, {"ks": []}, "The 'ks' parameter of compare_table must be numbers of features"),
        (compare_table, {"impute": "mean"}, "The 'impute' parameter of compare_table must be 'none' or 'median'"),
    ],
)
def test_wrong_arguments_are_refused_before_the_file_is_read(call, arguments, words):
    with pytest.raises(ValueError, match=words):
        call("not there.csv", "label", **arguments)


def test_a_file_of_no_known_kind_is_not_written(table, tmp_path):
    found = select_table(table, "label", k=2, report=False)
    with pytest.raises(ValueError, match=r"The 'out' parameter of apply_selection must end with one of \.csv, "):
        apply_selection(found.selection, table, tmp_path / "small.xlsx")


def test_data_in_memory_have_another_call():
    for call in (select_table, compare_table):
        with pytest.raises(
            ValueError, match=r"'path' must be the path of a file\. Got a ndarray instead: for data in memory"
        ):
            call(np.eye(4), "y")


def test_a_text_is_no_list_of_columns(table):
    for name in ("drop", "keep", "covariates", "include", "never"):
        with pytest.raises(
            ValueError, match=rf"^'{name}' must be a list of columns\. Got 'gene' instead: write \['gene'\]"
        ):
            select_table(table, "label", **{name: "gene"})
    with pytest.raises(ValueError, match=r"^'drop' must be a list of columns"):
        compare_table(table, "label", drop="ab")
    selection = select_table(table, "label", k=2, report=False).selection
    with pytest.raises(ValueError, match=r"^'keep' must be a list of columns"):
        apply_selection(selection, table, keep="label")


@pytest.mark.parametrize("ks", [3, (), "3", [0]])
def test_numbers_of_features_are_a_list(table, ks):
    with pytest.raises(ValueError, match=r"The 'ks' parameter of compare_table must be numbers of features.* Got"):
        compare_table(table, "label", ks=ks)
