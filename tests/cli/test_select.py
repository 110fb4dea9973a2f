import csv
import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO

import numpy as np
import pytest

from dsofs import METHODS, DSOSelector, DSOSelectorCV
from dsofs.tables.columns import values_of
from dsofs.tables.readers import read_frame
from dsofs.tables.selection import Selection
from dsofs.tables.writers import csv_text
from tests.cli.test_cli import run
from tests.tables.tables import CORE, EXTRA, csv_lines, small_problem


def select(path, *options, target="label"):
    """Without the report, which has tests of its own."""
    out = path.parent / "out"
    return run("select", str(path), "--target", target, "--out", str(out), "--no-report", *options), out


def test_writes_what_the_selector_finds(table):
    X, y, names = small_problem()
    result, out = select(table, "-k", "5", "--json")
    assert result.exit_code == 0, result.output
    selector = DSOSelector(5).fit(X, y)
    best = np.argsort(selector.ranking_)[:5]
    rows = list(csv.DictReader((out / "selected.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["feature"] for row in rows] == [names[index] for index in best]
    assert [float(row["score"]) for row in rows] == selector.scores_[best].tolist()
    assert Selection.load(out / "selection.json").indices == best.tolist()
    summary = json.loads(result.stdout)
    assert [feature["index"] for feature in summary["selected"]] == best.tolist()
    assert summary["status"] == "converged"
    assert sorted(path.name for path in out.iterdir()) == ["selected.csv", "selection.json"]


def test_every_method(table):
    for method in METHODS:
        result, out = select(table, "-k", "3", "--method", method)
        if "is not installed" in result.output:
            continue
        assert result.exit_code == 0, (method, result.output)
        selection = Selection.load(out / "selection.json")
        assert len(selection.features) == 3
        assert selection.method == method


def test_settings_reach_the_selector(table):
    X, y, _ = small_problem()
    _, out = select(table, "-k", "4", "--p", "0.5", "--C", "2")
    expected = DSOSelector(4, p=0.5, C=2.0).fit(X, y)
    assert sorted(Selection.load(out / "selection.json").indices) == np.flatnonzero(expected.get_support()).tolist()
    result, out = select(table, "-k", "4", "--tune", "--n-jobs", "1")
    assert result.exit_code == 0, result.output
    tuned = DSOSelectorCV(4).fit(X, y)
    assert Selection.load(out / "selection.json").parameters["p"] == tuned.best_p_
    assert sorted(Selection.load(out / "selection.json").indices) == np.flatnonzero(tuned.get_support()).tolist()


@pytest.mark.parametrize("tune", [False, True])
def test_words_for_the_cost_of_slack(table, tune):
    for given, C in (((), "auto"), (("--C", "auto"), "auto"), (("--C", "hard"), None)):
        result, out = select(table, "-k", "4", *given, *["--tune"] * tune)
        assert result.exit_code == 0, result.output
        assert Selection.load(out / "selection.json").parameters["C"] == C
    for wrong in ("0", "-1", "nan", "inf", "soft"):
        result, _ = select(table, "--C", wrong)
        assert result.exit_code == 2
        assert "nor one of the words auto and hard" in result.output


def test_options_that_do_not_go_together(table):
    for options, words in (
        (("--method", "mrmr", "--p", "0.5"), "'p' is not a setting of the method mrmr"),
        (("--tune", "--p", "0.5"), "'tune' chooses p"),
        (("--method", "rfs", "--tune"), "'tune' chooses p"),
        (("--p", "2"), "0<x<2"),
        (("--method", "none"), "'none' is not one of"),
    ):
        result, out = select(table, *options)
        assert result.exit_code == 2
        assert words in result.output
        assert not out.exists()


def test_more_features_than_there_are_is_said_once_and_the_list_is_cut(tmp_path):
    X, y, names = small_problem(n_features=80)
    path = tmp_path / "t.csv"
    path.write_text(csv_lines(X, y, names), encoding="utf-8")
    result, out = select(path, "-k", "30000")
    assert result.exit_code == 0, result.output
    assert result.stderr == "Note: k = 30,000 is more than the 80 features there are: all were selected.\n"
    listed = result.stdout.splitlines()
    assert len(listed) == 53  # a header, 50 features, how many more there are, and where
    assert listed[51] == "and 30 more in selected.csv"
    assert len(Selection.load(out / "selection.json").features) == 80


def test_a_stale_report_is_removed(table):
    _, out = select(table, "-k", "2")
    (out / "report.html").write_text("of another selection", encoding="utf-8")
    (out / "mine.txt").write_text("something else", encoding="utf-8")
    result, out = select(table, "-k", "3")
    assert result.exit_code == 0, result.output
    assert "Note: report.html of an earlier selection was removed from" in result.stderr
    assert sorted(path.name for path in out.iterdir()) == ["mine.txt", "selected.csv", "selection.json"]


@pytest.mark.parametrize("command", ["select", "compare"])
def test_no_cores_are_refused_by_the_option(table, command):
    result = run(command, str(table), "--target", "label", "--out", str(table.parent / "out"), "--n-jobs", "0")
    assert result.exit_code == 2
    assert "Invalid value for '--n-jobs': it must be 1 or more, or below 0" in result.stderr
    assert not (table.parent / "out").exists()


def test_a_group_counts_as_one_and_all_its_columns_are_listed(tmp_path, monkeypatch):
    """Of a selector that selects whole groups, all columns are in every file, with the name of their group."""
    path = tmp_path / "t.csv"
    rows = [f"{index * 7 % 10},{'rst'[index % 3]},{index * 3 % 7},{'uv'[index % 3 == 0]}" for index in range(24)]
    path.write_text("\n".join(["a,colour,b,label", *rows]), encoding="utf-8")
    groups = np.array([0, 1, 1, 1, 2])
    monkeypatch.setattr(
        DSOSelector,
        "_get_support_mask",
        lambda self: np.isin(groups, np.unique(groups[self.ranking_ <= self.n_features_to_select])),
    )
    result, out = select(path, "-k", "1", "--json")
    assert result.exit_code == 0, result.output
    selected = list(csv.DictReader((out / "selected.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["feature"] for row in selected} == {"colour=r", "colour=s", "colour=t"}
    assert [(row["rank"], row["group"]) for row in selected] == [("1", "colour"), ("2", "colour"), ("3", "colour")]
    assert [feature.group for feature in Selection.load(out / "selection.json").features] == ["colour"] * 3
    assert [feature["group"] for feature in json.loads(result.stdout)["selected"]] == ["colour"] * 3
    assert Selection.load(out / "selection.json").apply(path).sum(axis=1).tolist() == [1] * 24
    result, _ = select(path, "-k", "9")
    assert "k = 9 is more than the 3 features and groups of features there are: all were selected" in result.stderr
    result, _ = select(path, "-k", "2", "--method", "f_test")
    assert (
        "does not handle groups: features that belong together are ranked one by one, and k counts each"
        in result.stderr
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_name_that_is_not_utf_8(table):
    path = table.rename(os.fsdecode(os.fsencode(table) + b"\xff"))
    out = path.parent / "out"
    options = ("--resamples", "2", "--permutations", "0", "-k", "2", "--n-jobs", "1")
    result = run("select", str(path), "--target", "label", "--out", str(out), *options)
    assert result.exit_code == 0, result.output
    assert Selection.load(out / "selection.json").data["file"] == "table.csv\ufffd"
    assert "table.csv\ufffd" in (out / "report.html").read_text(encoding="utf-8")


def test_messages_go_to_stderr_and_into_the_summary(tmp_path):
    X, y, names = small_problem()
    path = tmp_path / "t.csv"
    path.write_text(csv_lines(np.column_stack([X, np.ones(len(X)), y == "ill"]), y, [*names, "flat", "copy"]), "utf-8")
    result, _ = select(path, "--json", "-k", "1")
    summary = json.loads(result.stdout)
    assert {note["kind"] for note in summary["notes"]} >= {"constant columns", "leaking columns"}
    assert summary["selected"][0]["name"] == "copy"
    assert "'copy' gives the label 'label' away, since each value occurs in one class only" in result.stderr


BROKEN = {
    "truncated": (lambda text: text[: len(text) * 2 // 3].encode(), "cut short"),
    "delimiter": (lambda text: text.replace(",", "~").encode(), "line 2 has 1 cells: put commas"),
    "mixed": (
        lambda text: text.replace(text.split("\n")[3].split(",")[0], "oops", 1).encode(),
        "mixes numbers and text",
    ),
    "empty": (lambda text: b"", "it is empty"),
    "binary": (lambda text: bytes(range(256)) * 40, "binary file of unknown format"),
    "duplicate": (lambda text: text.replace('"gene 1, probe"', "label", 1).encode(), "2 columns are called 'label'"),
    "no target": (lambda text: text.replace("label", "klass").encode(), "There is no column 'label'"),
    "missing": (lambda text: text.replace(text.split("\n")[3].split(",")[0], "", 1).encode(), "--impute"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_get_one_line_and_exit_code_2(kind, table):
    damage, words = BROKEN[kind]
    table.write_bytes(damage(table.read_text(encoding="utf-8")))
    result, out = select(table)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert isinstance(result.exception, SystemExit)
    assert not out.exists()


def test_files_that_are_not_there(tmp_path):
    result, _ = select(tmp_path / "none.csv")
    assert result.exit_code == 2
    assert "does not exist" in result.output


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("form", [*CORE, *EXTRA])
def test_select_then_apply_in_every_format(form, tmp_path):
    write = CORE.get(form)
    if write is None:
        write, package = EXTRA[form]
        pytest.importorskip(package, reason=f"{package} is not installed")
    X, y, names = small_problem()
    path, target = write(tmp_path, X, y, names)
    options = [] if target is None else ["--target", str(target)]
    result = run("select", str(path), *options, "-k", "4", "--no-report", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    chosen = Selection.load(tmp_path / "out" / "selection.json").indices
    result = run("apply", str(tmp_path / "out" / "selection.json"), str(path), "--out", str(tmp_path / "small.npz"))
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(tmp_path / "small.npz")["X"], X[:, chosen])
    assert chosen == np.argsort(DSOSelector(4).fit(X, y).ranking_)[:4].tolist()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npz"])
def test_apply_writes_every_format(suffix, table):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, y, _ = small_problem()
    _, out = select(table, "-k", "3")
    selection, target = Selection.load(out / "selection.json"), table.parent / f"small{suffix}"
    result = run("apply", str(out / "selection.json"), str(table), "--out", str(target), "--keep", "label")
    assert result.exit_code == 0, result.output
    frame = read_frame(target)
    np.testing.assert_array_equal(frame.numbers, X[:, selection.indices])
    label = frame.labels["label"] if suffix == ".npz" else frame.text[0]
    assert label.tolist() == y.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npz"])
@pytest.mark.parametrize("header", ["tube", "patient_id", ""])
def test_apply_writes_the_ids_of_the_samples_first(suffix, header, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, y, names = small_problem()
    ids = [f"{'' if header == 'patient_id' else 't'}{900 - 7 * index}" for index in range(len(y))]
    lines = csv_lines(X, y, names).splitlines()
    body = [f"{name},{line}" for name, line in zip(ids, lines[1:], strict=True)]
    path, small = tmp_path / "t.csv", tmp_path / f"small{suffix}"
    path.write_text("\n".join([f"{header},{lines[0]}", *body]), encoding="utf-8")
    _, out = select(path, "-k", "2")
    keep = ("--keep", f"label,{header}" if header else "label")
    result = run("apply", str(out / "selection.json"), str(path), "--out", str(small), *keep)
    assert result.exit_code == 0, result.output
    frame = read_frame(small)
    if suffix == ".npz":
        found, columns = frame.labels["sample_names"], ["label", "sample_names"]
        assert sorted(frame.labels) == columns
    else:
        found = values_of(frame, 0)
        assert frame.names[:2] == (header or "sample", "label")
    assert [f"{name:g}" if isinstance(name, float) else name for name in found.tolist()] == ids


KEPT = "label,age,sign,a,file,b\n" + "".join(
    f"{'uv'[i % 2]},{'' if i == 3 else 7 + i % 3},{'+-'[i % 2]},{i % 2 + i / 100},{i % 4},{i % 3}\n" for i in range(12)
)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_apply_keeps_columns_as_they_are(suffix, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path, small = tmp_path / "t.csv", tmp_path / f"small{suffix}"
    path.write_text(KEPT, encoding="utf-8")
    result, out = select(path, "-k", "1", "--drop", "age,sign,file,b")
    assert result.exit_code == 0, result.output
    result = run(
        "apply", str(out / "selection.json"), str(path), "--out", str(small), "--keep", "label,age,sign,a,file"
    )
    assert result.exit_code == 0, result.output
    frame = read_frame(small)
    assert frame.names == ("label", "age", "sign", "file", "a")
    assert frame.text[2].tolist() == ["+", "-"] * 6
    assert np.flatnonzero(np.isnan(frame.numbers[:, 0])).tolist() == [3]
    if suffix == ".csv":
        lines = small.read_text(encoding="utf-8").splitlines()
        assert lines[1] == '"u",7,"+",0,0.0'
        assert lines[4] == '"v","","-",3,1.03'


def test_apply_refuses_names_that_an_npz_file_cannot_keep(tmp_path):
    (tmp_path / "t.csv").write_text(KEPT, encoding="utf-8")
    _, out = select(tmp_path / "t.csv", "-k", "1", "--drop", "age,sign,file,b")
    arguments = (str(out / "selection.json"), str(tmp_path / "t.csv"), "--out", str(tmp_path / "small.npz"))
    result = run("apply", *arguments, "--keep", "file")
    assert result.exit_code == 2
    assert "cannot keep a column called 'file'" in result.output


def test_apply_refuses(table):
    _, out = select(table, "-k", "3")
    json_file, small = str(out / "selection.json"), str(table.parent / "small.csv")
    for arguments, words in (
        ((json_file, str(table), "--out", small + ".doc"), "must end with one of .csv"),
        ((str(table), str(table), "--out", small), "is not a selection of dsofs"),
        ((json_file, json_file, "--out", small), "cannot be used"),
        ((json_file, str(table), "--out", small, "--keep", "nothing"), "no column 'nothing' for 'keep'"),
        ((json_file, str(table), "--out", "/nowhere/small.csv"), "'/nowhere/small.csv': No such file"),
    ):
        result = run("apply", *arguments)
        assert result.exit_code == 2, result.output
        assert words in result.output
    assert not (table.parent / "small.csv").exists()


def test_csv_export_runs_nothing_in_a_spreadsheet():
    hostile = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "plain", 'a"b,c']
    assert csv_text(["-", "+"], [["=", "@"]]) == '"-","+"\n"=","@"\n'  # a sign alone is no formula
    header, row = csv.reader(StringIO(csv_text(hostile, [[*hostile[:-1], -1.5]]), newline=""))
    assert header == ["'" + text for text in hostile[:6]] + hostile[6:]
    assert row[:6] == header[:6]
    assert row[-1] == "-1.5"  # a number is a number


def test_hostile_names_are_quoted_in_selected_csv(tmp_path):
    X, y, names = small_problem()
    path = tmp_path / "t.csv"
    path.write_text(csv_lines(X, y, [f"=cmd|' /C calc'!A{i}" for i in range(len(names))]), encoding="utf-8")
    _, out = select(path, "-k", "2")
    rows = list(csv.reader((out / "selected.csv").read_text(encoding="utf-8").splitlines()))
    assert all(row[1].startswith("'=cmd") for row in rows[1:])


def test_names_do_not_steer_the_terminal(tmp_path):
    X, y, names = small_problem()
    path = tmp_path / "t.csv"
    path.write_text(csv_lines(X, y, [f"\x1b[31m{name}" for name in names]), encoding="utf-8")
    result, _ = select(path, "-k", "2")
    assert "\x1b" not in result.output
    assert r"\x1b[31mgene" in result.output


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="what a process has loaded is told on Linux only")
def test_ctrl_c_leaves_nothing_and_exits_with_130(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3000)), np.arange(200) % 20
    np.savez(tmp_path / "big.npz", X=X, y=y)
    command = [
        sys.executable,
        "-m",
        "dsofs",
        "select",
        str(tmp_path / "big.npz"),
        "--tune",
        "--out",
        str(tmp_path / "o"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    before, loaded = b"", b""
    while b"sklearn" not in loaded or loaded.count(b".so") != before.count(b".so"):  # it still imports
        assert process.poll() is None
        time.sleep(0.5)
        before, loaded = loaded, _maps(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert not (tmp_path / "o").exists()


def _maps(pid):
    with open(f"/proc/{pid}/maps", "rb") as file:
        return file.read()
