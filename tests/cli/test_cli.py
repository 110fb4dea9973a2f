import subprocess
import sys

from click.testing import CliRunner

from dsofs import __version__
from dsofs.cli import COMMANDS, main


def run(*arguments):
    return CliRunner().invoke(main, arguments)


def test_help_lists_the_commands_without_loading_them():
    result = run("--help")
    assert result.exit_code == 0
    assert all(command in result.output for command in COMMANDS)
    code = (
        "import sys; from dsofs.cli import main; main(['-h'], standalone_mode=False); sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_version():
    assert run("--version").output == f"dsofs, version {__version__}\n"


def test_demo_shows_features_pixels_certificate_and_accuracy_and_writes_a_report(tmp_path):
    result = run("demo", "-k", "5", "--out", str(tmp_path / "report.html"))
    assert result.exit_code == 0
    for words in (
        "worst concave points",
        "conditions of a local optimum hold to",
        "Held-out accuracy",
        "with 5 features",
        "with all 64",
        "5 of 64 features tell 10 classes apart",
    ):
        assert words in " ".join(result.output.split())
    assert str(tmp_path / "report.html") in result.output
    assert "Where the chosen pixels lie" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_demo_below_one_and_bad_values(tmp_path):
    assert "of a local optimum hold to" in run("demo", "--p", "0.5", "--out", str(tmp_path / "report.html")).output
    assert run("demo", "--p", "2").exit_code == 2
    result = run("demo", "--out", str(tmp_path / "none" / "report.html"))
    assert result.exit_code == 2
    assert "--out must be in a folder that exists" in result.output
    assert "Breast cancer" not in result.output  # it is said before anything is computed
    assert run("nothing").exit_code == 2
