"""The package itself: lazy, typed, honest about what it exports."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dsofs


def test_import_is_lazy():
    code = "import sys, dsofs.cli; print([m for m in ('numpy', 'scipy', 'sklearn', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_public_names():
    for name in dsofs.__all__:
        assert getattr(dsofs, name) is not None
    assert set(dir(dsofs)) == set(dsofs.__all__)
    with pytest.raises(AttributeError, match="module 'dsofs' has no attribute 'Nothing'"):
        dsofs.Nothing  # noqa: B018


TESTS = Path(__file__).parent
SOURCES = Path(dsofs.__file__).parent
NO_ROOM = {"reference"}  # of tests: independent computations that tests compare with
# Tests of several modules together, by name -> what they are about. Any other test file has the name of what it tests.
ACROSS_MODULES = {
    "array_api": "X of other array libraries in all estimators",
    "any_library": "all solvers on designs of any array library",
    "bad_input": "errors of all selectors",
    "benchmarks": "the scripts next to the package",
    "beyond_memory": "X on a disk or on a cluster in all estimators that read it in pieces",
    "browser": "pages in a real browser",
    "checks": "scikit-learn's checks of all estimators",
    "cluster": "commands on a Dask cluster",
    "commands": "the calls behind the commands",
    "contract": "what all methods promise",
    "damaged": "damaged files of all formats",
    "documentation": "the code blocks of README and docs",
    "examples": "the scripts of the gallery",
    "grids": "what is tuned of all methods",
    "hostile": "hostile files of all formats",
    "invariance": "what no selector's result depends on",
    "mutations": "the files that other tests damage",
    "names_and_labels": "names and labels from all formats",
    "optimum": "all solvers against independent optima",
    "package": "the package itself",
    "peers_bugs": "known mistakes of other packages",
    "permutation": "the permutation test from end to end",
    "refused_first": "what all selectors refuse before they read X",
    "sample_weight": "weights of samples in all estimators that take them",
    "select_report": "the report that `dsofs select` writes",
    "tall": "all solvers with more samples than features",
    "trust": "random problems through all options",
    "user_files": "all commands on files of users",
}


def all_test_files():
    """Test files by the folder they are in."""
    return [(path.stem.removeprefix("test_"), path.parent.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")]


def names_in(room):
    """The room itself, and its modules and packages."""
    return {room.name} | {path.stem for path in room.rglob("*") if path.suffix == ".py" or path.is_dir()}


def test_tests_mirror_the_sources():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("*.py")}
    assert [str(folder) for folder in folders if folder.name not in NO_ROOM and not (SOURCES / folder).is_dir()] == []
    strangers = [
        f"tests/{folder}/test_{name}.py"
        for name, folder in all_test_files()
        if name not in ACROSS_MODULES and name not in names_in(SOURCES / folder)
    ]
    assert strangers == [], "these have no counterpart in src/dsofs: rename them, or add them to ACROSS_MODULES"


def test_every_exception_is_needed():
    """A name that is gone, or that is now a module's, leaves the list."""
    needed = {name for name, folder in all_test_files() if name not in names_in(SOURCES / folder)}
    assert sorted(set(ACROSS_MODULES) - needed) == []


def test_the_architecture_page_names_what_exists():
    page = TESTS.parent / "docs" / "architecture.md"
    if not page.exists():
        pytest.skip("the docs are not part of a source distribution")
    text = page.read_text().replace("`src/dsofs/`", "")
    paths = re.findall(r"`([a-z0-9_/]+(?:\.py|/))`", text)
    assert [path for path in paths if not (SOURCES / path).exists() and not any(SOURCES.glob(f"*/{path}"))] == []
    rooms = {path.parent.name for path in SOURCES.glob("*/__init__.py")}
    assert sorted(room for room in rooms if f"`{room}/`" not in text) == []
    walk = re.findall(r"^\| \d+\. .*? \| (.*?) \| (.*?) \|$", text, re.M)  # functions, files
    walk += re.findall(r"`(\w+)`\s+\((`\S+\.py`)\)", text)
    assert len(walk) > 12
    for functions, files in walk:
        sources = "".join((SOURCES / path).read_text() for path in re.findall(r"`(\S+\.py)`", files))
        for name in re.findall(r"\w+", functions):
            assert re.search(rf"\b(def|class) {name}\b", sources), (name, files)


def test_a_class_is_known_by_its_name_alone():
    """No two classes of one name: a reader who meets one knows which it is."""
    files = Path(dsofs.__file__).parent.rglob("*.py")
    names = [name for file in files for name in re.findall(r"^class (\w+)", file.read_text("utf-8"), re.MULTILINE)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_only_the_command_line_draws_on_the_terminal():
    folder = Path(dsofs.__file__).parent
    drawing = {
        str(file.relative_to(folder).parts[0])
        for file in folder.rglob("*.py")
        if re.search(r"^\s*(from|import) rich\b", file.read_text("utf-8"), re.MULTILINE)
    }
    assert drawing == {"cli"}


FILES_OF_A_FIT = 21  # at most; fewer are welcome


def files_called_by(function):
    """The files of the package in which a function is called; the code of a module that runs on import is none."""
    files, before = set(), sys.getprofile()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and frame.f_code.co_name != "<module>" and path.is_relative_to(SOURCES):
            files.add(str(path.relative_to(SOURCES)))

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return sorted(files)


def test_a_reader_of_one_fit_opens_few_files():
    y = np.arange(100) % 3
    X = np.random.default_rng(0).normal(size=(100, 2000))
    X[:, :5] += y[:, None]
    selector = dsofs.DSOSelector(10).fit(X, y)  # once before, for what is imported on the way
    files = files_called_by(lambda: selector.fit(X, y))
    assert len(files) <= FILES_OF_A_FIT, files
