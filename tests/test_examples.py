"""Every script of the gallery runs without a warning and draws a picture."""

import importlib.util
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("plot_*.py"))

pytestmark = [
    pytest.mark.skipif(not EXAMPLES, reason="the examples are not part of a source distribution"),
    pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib"),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws(example, monkeypatch):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)  # which warns where there is no screen
    backend = mpl.get_backend()
    mpl.use("Agg")
    try:
        runpy.run_path(str(example), run_name="__main__")
        assert plt.get_fignums()
    finally:
        plt.close("all")
        mpl.use(backend)
