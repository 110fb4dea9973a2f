import pytest

from dsofs import optional
from dsofs.experiments import PAPER_QUICK, read_rows
from dsofs.reproduction import paper
from tests.cli.test_cli import run
from tests.problems import real_data


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No data at all."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DSOFS_DATA", raising=False)
    return tmp_path


def test_without_data_it_says_what_is_missing_and_where_to_get_it(nowhere):
    result = run("reproduce", "table2", "--quick", "--out", str(nowhere / "out"))
    assert result.exit_code == 2
    assert "These data sets are not at hand: semeion, isolet, tox_171, umist, ar, orl." in result.output
    assert "https://archive.ics.uci.edu/static/public/54/isolet.zip" in result.output
    assert not (nowhere / "out").exists()


def test_a_data_set_of_one_s_choice_is_asked_for_alone(nowhere):
    result = run("reproduce", "table2", "--data", "lung", "--out", str(nowhere / "out"))
    assert result.exit_code == 2
    assert "not at hand: lung." in result.output


def test_quick_table_and_going_on(tmp_path):
    real_data("ar")
    command = ("reproduce", "table2", "--quick", "--data", "ar", "--jobs", "1", "--out", str(tmp_path))
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert "Table 2, quick" in result.output
    text = (tmp_path / "table2_quick.md").read_text(encoding="utf-8")
    rows = [row for row in read_rows(tmp_path / "results.jsonl") if row.parameters]
    assert {(row.data, row.method, row.seed, row.k) for row in rows} == {
        ("ar", method, trial, 100) for method in paper.METHODS for trial in range(2)
    }
    assert {row.parameters["protocol"] for row in rows} == {PAPER_QUICK.name}
    before = (tmp_path / "results.jsonl").read_bytes()
    for again in (command, (*command, "--draw-only")):
        assert run(*again).exit_code == 0
        assert (tmp_path / "results.jsonl").read_bytes() == before
        assert (tmp_path / "table2_quick.md").read_text(encoding="utf-8") == text


def test_a_figure_without_matplotlib_names_the_extra(tmp_path, monkeypatch):
    def missing(package):
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(optional, "import_module", missing)
    result = run("reproduce", "figure2", "--draw-only", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "pip install matplotlib" in result.output


def test_drawing_from_nothing_says_what_was_not_run(tmp_path):
    result = run("reproduce", "table2", "--draw-only", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "not run: data not available" in (tmp_path / "table2.md").read_text(encoding="utf-8")
