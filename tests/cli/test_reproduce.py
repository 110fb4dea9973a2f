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
    assert "These data sets are not available: semeion, isolet, tox_171, umist, ar, orl." in result.output
    assert "https://archive.ics.uci.edu/static/public/54/isolet.zip" in result.output
    assert not (nowhere / "out").exists()


def test_a_data_set_of_one_s_choice_is_asked_for_alone(nowhere):
    result = run("reproduce", "table2", "--data", "lung", "--out", str(nowhere / "out"))
    assert result.exit_code == 2
    assert "not available: lung." in result.output


def test_several_data_sets_and_one_that_there_is_not(nowhere):
    for names in (("--data", "lung,ar"), ("--data", "lung", "--data", "ar")):
        assert "not available: lung, ar." in run("reproduce", "table2", *names, "--out", str(nowhere / "out")).output
    result = run("reproduce", "table2", "--data", "lung,iris", "--out", str(nowhere / "out"))
    assert result.exit_code == 2
    assert "--data must be some of" in result.output


@pytest.mark.parametrize("old", [("--jobs", "1"), ("--jobs=1",)])
def test_the_old_spelling_of_an_option_works_with_a_warning(tmp_path, old):
    new = run("reproduce", "table2", "--draw-only", "--out", str(tmp_path), "--n-jobs", "1")
    result = run("reproduce", "table2", "--draw-only", "--out", str(tmp_path), *old)
    assert (result.exit_code, result.stdout) == (0, new.stdout)
    assert result.stderr == "Warning: --jobs is now --n-jobs; the old spelling will be removed in the next version.\n"
    assert "--jobs" not in run("reproduce", "--help").output.replace("--n-jobs", "")


def test_quick_table_and_going_on(tmp_path):
    real_data("ar")
    command = ("reproduce", "table2", "--quick", "--data", "ar", "--n-jobs", "1", "--out", str(tmp_path))
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
    result = run("reproduce", "table2", "--draw-only", "--out", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert f"There is no folder {str(tmp_path / 'none')!r} with results to draw: leave out --draw-only" in result.output
