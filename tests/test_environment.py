import subprocess

import pytest

from dsofs.environment import CHECKOUT, code_version, environment


def test_an_installed_package_asks_no_other_program_what_it_is(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert code_version(tmp_path) == "release"


def test_a_checkout_is_named_by_its_commit():
    if not (CHECKOUT / ".git").exists():
        pytest.skip("this is no checkout")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert commit.stdout.startswith(code_version(CHECKOUT).rstrip("+"))
    assert environment()["commit"] != "release"
