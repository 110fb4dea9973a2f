"""Runs the code blocks of a page one after the other, in the folder it is called from; needs nothing but dsofs.

``python``, ``pycon`` (with its output) and ``console`` (lines ``$ dsofs ...``, with their output) are run, ``text`` is
not. Output may hold ``...`` for what differs from run to run. A comment before a block says what it needs, or why it is
not run: ``<!-- needs: torch -->``, ``<!-- not run: takes hours -->``.

    python -W error tests/code_blocks.py README.md     # in an empty folder, as CI does with the wheel alone
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

FENCE = re.compile(
    r"^(?:<!-- (?P<rule>needs|not run): (?P<what>.*?) -->\n)?"
    r"(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.M | re.S,
)
OUTPUT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class CodeBlock:
    """One fence of a page: its language, and the comment before it."""

    language: str
    code: str
    rule: str | None
    what: str | None

    @property
    def needs(self) -> str | None:
        return self.what if self.rule == "needs" else None

    @property
    def is_run(self) -> bool:
        return self.language in RUN and self.rule != "not run"


def code_blocks(text: str) -> Iterator[CodeBlock]:
    for found in FENCE.finditer(text):
        yield CodeBlock(found["language"].strip(), dedent(found["code"]), found["rule"], found["what"])


def run_page(text: str, name: str, has: Callable[[str], bool] = lambda _: True) -> int:
    """Run all blocks in one namespace; how many were run. ``has`` says whether what a block needs is there."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    blocks = [block for block in code_blocks(text) if block.is_run and (block.needs is None or has(block.needs))]
    for block in blocks:
        RUN[block.language](block.code, name, namespace)
    return len(blocks)


def run_python(code: str, name: str, namespace: dict[str, Any]) -> None:
    exec(compile(code, name, "exec"), namespace)


def run_pycon(code: str, name: str, namespace: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(code, namespace, name, name, 0)
    test.globs = namespace  # the parser takes a copy
    doctest.DebugRunner(optionflags=OUTPUT).run(test, clear_globs=False)


def run_console(code: str, name: str, _: dict[str, Any]) -> None:
    """Each command, and what it prints compared with what the page shows, if it shows anything."""
    for part in re.split(r"^\$ ", code, flags=re.M)[1:]:
        command, shown = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", part, re.S).groups()  # type: ignore[union-attr]
        program, *words = shlex.split(command, comments=True)
        assert program == "dsofs", f"{name} runs {program!r}, which is no command of ours"
        environment = os.environ | {"COLUMNS": "200", "PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": "1"}
        ran = subprocess.run([sys.executable, "-m", "dsofs", *words], env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        printed = ran.stdout
        assert ran.returncode == 0, f"{name}: {command}\n{printed}"
        if shown.strip():
            same = doctest.OutputChecker().check_output(shown.strip() + "\n", printed.strip() + "\n", OUTPUT)
            assert same, f"{name}: {command}\nshown:\n{shown}\nprinted:\n{printed}"


RUN = {"python": run_python, "pycon": run_pycon, "console": run_console}

if __name__ == "__main__":
    for page in sys.argv[1:]:
        text = Path(page).read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            print(f"{page}: {run_page(text, page)} blocks run")
