"""The package itself: lazy, typed, honest about what it exports."""

import subprocess
import sys

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
