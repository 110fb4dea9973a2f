"""Every code block of README and docs runs, without a warning, and prints what the page shows."""

import importlib.util
import os
from pathlib import Path

import pytest

from tests.code_blocks import RUN, code_blocks, run_page

ROOT = Path(__file__).parent.parent
PAGES = sorted(ROOT.glob("*.md")) + sorted(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)
LANGUAGES = {*RUN, "text", "html"}

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the docs are not part of a source distribution")


def is_there(need):
    """A package, or an environment variable such as DSOFS_DATA."""
    return bool(os.environ.get(need)) or (need.islower() and importlib.util.find_spec(need) is not None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_what_it_is(page):
    unknown = [b.language for b in code_blocks(page.read_text("utf-8")) if b.language not in LANGUAGES]
    assert [language for language in unknown if not language.startswith("{")] == []


WITH_CODE = [page for page in PAGES if any(block.is_run for block in code_blocks(page.read_text("utf-8")))]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if run_page(page.read_text("utf-8"), page.name, is_there) == 0:
        pytest.skip("what its blocks need is not there")
