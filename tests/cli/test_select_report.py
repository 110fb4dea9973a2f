"""dsofs select with its report: the same figures in every file."""

import csv
import json

import numpy as np

from dsofs import DSOSelector
from dsofs.report import examine
from dsofs.tables.selection import Selection
from tests.cli.test_cli import run
from tests.tables.tables import csv_lines, small_problem

QUICK = ("-k", "4", "--resamples", "3", "--permutations", "4", "--n-jobs", "1")


def select(path, *options):
    out = path.parent / "out"
    return run("select", str(path), "--target", "label", "--out", str(out), *QUICK, *options), out


def test_the_files_say_what_examine_finds(table):
    X, y, names = small_problem()
    result, out = select(table, "--seed", "3", "--json")
    assert result.exit_code == 0, result.output
    found = examine(X, y, DSOSelector(4), feature_names=names, n_resamples=3, n_permutations=4, random_state=3)
    rows = list(csv.DictReader((out / "selected.csv").read_text(encoding="utf-8").splitlines()))
    expected = [feature.frequency for feature in found.chosen]
    assert [float(row["frequency"]) for row in rows] == expected
    assert [f.frequency for f in Selection.load(out / "selection.json").features] == expected
    summary = json.loads(result.stdout)
    assert summary["examined"]["accuracy"] == found.accuracy.at_k
    assert summary["examined"]["p_value"] == found.permutation.p_value
    stages = ["reading", "selecting", "resampling", "shuffling labels", "describing", "drawing"]
    assert list(summary["seconds"]) == stages
    assert summary["files"]["report.html"] == str(out / "report.html")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "table.csv" in page
    assert "dsofs select" in page
    assert "--seed 3" in page


def test_what_is_printed(table):
    result, out = select(table)
    assert result.stderr.startswith("Examining: 3 resamples and 4 shuffled labellings, about ")
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["rank", "feature", "score"]
    assert lines[5] == f"Written: {out / 'selected.csv'}, {out / 'selection.json'}"
    assert lines[6].startswith("Do not use: 4 of 30 features")
    assert lines[7].startswith("Held-out accuracy")
    assert lines[8].startswith("Permutation test: p = ")
    assert "in at least half of 3 resamples" in lines[9]
    assert lines[-1] == f"Written: {out / 'report.html'}"


def test_the_answer_is_there_before_the_examination(table, monkeypatch):
    """The features are printed and written, and the report of another selection is gone, if Ctrl-C stops the rest."""
    _, out = select(table, "--seed", "1")
    assert (out / "report.html").exists()

    def interrupted(*_, **__):
        assert not (out / "report.html").exists()
        assert len((out / "selected.csv").read_text(encoding="utf-8").splitlines()) == 5
        raise KeyboardInterrupt

    monkeypatch.setattr("dsofs.workflows.select.examine", interrupted)
    result, _ = select(table)
    assert result.exit_code == 130
    assert result.stdout.splitlines()[0].split() == ["rank", "feature", "score"]
    assert sorted(path.name for path in out.iterdir()) == ["selected.csv", "selection.json"]


def test_numbers_that_the_time_allows_give_the_same_again(table, monkeypatch):
    """With the numbers that were chosen, another run finds the same."""
    out = table.parent / "out"
    words = ("select", str(table), "--target", "label", "-k", "4", "--n-jobs", "1", "--json", "--out", str(out))
    chosen = run(*words, "--time", "0.001")
    assert chosen.exit_code == 0, chosen.output
    assert "Examining: 5 resamples and no shuffled labellings" in chosen.stderr
    again = chosen.stderr.rpartition("To get the same figures again: ")[2].split()
    assert again == ["--resamples", "5", "--permutations", "0"]
    given = run(*words, *again)
    first, second = (json.loads(result.stdout) for result in (chosen, given))
    assert first["examined"] == second["examined"]
    assert first["selected"] == second["selected"]
    assert "5 resamples and no shuffled labellings, estimated" in (out / "report.html").read_text(encoding="utf-8")


def test_the_page_names_samples_by_their_ids(table):
    """A sample with a wrong label is found in the page by its ID, not by its row."""
    true = np.arange(60) % 2
    X = np.random.default_rng(2).normal(size=(60, 10)).round(3)
    X[:, :4] += 4 * true[:, None]
    given = np.array(["healthy", "ill"])[true]
    given[20], given[41] = "ill", "healthy"
    lines = csv_lines(X, given, [f"g{index}" for index in range(10)]).splitlines()
    body = [f"TUBE{index:03d},{line}" for index, line in enumerate(lines[1:])]
    table.write_text("\n".join([f"tube,{lines[0]}", *body]), encoding="utf-8")
    result, out = select(table, "--resamples", "20")
    assert result.exit_code == 0, result.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "TUBE020" in page
    assert "TUBE041" in page


def test_without_a_report(table):
    result, out = select(table, "--no-report", "--json")
    assert sorted(path.name for path in out.iterdir()) == ["selected.csv", "selection.json"]
    assert json.loads(result.stdout)["examined"] is None


def test_images(tmp_path):
    X, y, _ = small_problem()
    rows = X.shape[1]
    np.savez(tmp_path / "t.npz", X=X, y=y)
    out = tmp_path / "out"
    arguments = ("select", str(tmp_path / "t.npz"), "--out", str(out), *QUICK)
    result = run(*arguments, "--image-shape", f"{rows}x1")
    assert result.exit_code == 0, result.output
    assert "Where the chosen pixels lie" in (out / "report.html").read_text(encoding="utf-8")
    assert "is not of the form 8x8" in run(*arguments, "--image-shape", "8").output
    result = run(*arguments, "--image-shape", f"{rows}x2")
    assert result.exit_code == 2
    assert f"with {rows} pixels" in result.output


def test_tuning_and_groups_of_samples_go_together(tmp_path):
    X, y, names = small_problem()
    patients = [f"p{i // 2}" for i in range(len(y))]
    lines = csv_lines(X, y, names).splitlines()
    text = "\n".join([f"{lines[0]},patient", *(f"{line},{p}" for line, p in zip(lines[1:], patients, strict=True))])
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    result, out = select(tmp_path / "table.csv", "--tune", "--sample-groups", "patient")
    assert result.exit_code == 0, result.output
    assert (out / "report.html").exists()
