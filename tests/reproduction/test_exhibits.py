import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from dsofs.experiments import CLEAN, PAPER, Row, append_row
from dsofs.reproduction.exhibits import EXHIBITS, draw, needed
from dsofs.reproduction.experiments import FEW_KS, PICTURED, all_methods, by_p, comparison
from dsofs.reproduction.paper import PS
from dsofs.reproduction.tables import Results
from tests.reproduction.test_standing import results
from tests.reproduction.test_tables import facts

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
from dsofs.reproduction.figures import cliques


def whole():
    """Rows for every exhibit."""
    rng = np.random.default_rng(0)
    rows = [facts("tox_171"), facts("digits", shape=[8, 8], order="C", mean=rng.random(64).tolist(), n_features=64)]
    rows += [facts("umist", shape=[56, 46], order="F", mean=rng.random(2576).tolist(), n_features=2576)]
    rows += results().rows
    for trial in range(2):
        for method in PICTURED:
            values = {"balanced_accuracy": 0.9, "macro_f1": 0.9, "cell_seconds": 2.0, "n_features": 64,
                      "features": rng.permutation(64)[:20].tolist()}  # fmt: skip
            rows.append(Row("digits", method, trial, {"protocol": CLEAN.name}, 20, 0.9, 1.0, values))
        for method in ("dso", "rfs", *map(by_p, PS)):
            rows += [Row("umist", method, trial, {"protocol": PAPER.name}, k, k / 200, 1.0) for k in FEW_KS]
    return rows


def drawn(rows, folder, exhibits=EXHIBITS):
    for row in rows:
        append_row(folder / "results.jsonl", row)
    return {path.name: path.read_text() for path, _ in draw(folder / "results.jsonl", exhibits, folder, quick=False)}


def test_drawing_again_changes_no_byte(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    files = drawn(whole(), tmp_path / "one")
    assert files == drawn(whole(), tmp_path / "two")
    assert {name.split(".")[0] for name in files} == set(EXHIBITS)


def test_figures_are_whole_and_say_what_they_show(tmp_path):
    files = drawn(whole(), tmp_path)
    words = {name: {text.text for text in ElementTree.fromstring(content).iter("{http://www.w3.org/2000/svg}text")}
             for name, content in files.items() if name.endswith("svg")}  # fmt: skip
    assert {f"p = {p:g}" for p in PS} <= words["figure1.svg"]
    assert {"UMIST", "GISETTE", "not run: data not available", "DSO-FS", "RFS"} <= words["figure2.svg"]
    assert {"SEMEION", "F-test", "all features"} <= words["standing.svg"]
    assert {"k = 10, 4 data sets", "critical difference 1.66"} <= words["significance.svg"]
    assert {"DSO-FS: 10 of digits", "DSO-FS: 100 of UMIST"} <= words["pixels.svg"]


def test_nothing_to_draw_from_is_no_error(tmp_path):
    files = drawn([], tmp_path)
    assert "not run: data not available" in files["table2.md"]


def test_quick_rows_are_kept_apart():
    assert Results(whole(), quick=True).paper == []
    assert Results(whole()).paper


def test_bars_join_what_does_not_differ():
    ranks = np.array([1.0, 2.0, 2.5, 4.0, 4.2])
    assert cliques(ranks, 1.6) == [(1.0, 2.5), (2.5, 4.0), (4.0, 4.2)]
    assert cliques(ranks, 10) == [(1.0, 4.2)]
    assert cliques(ranks, 0.1) == []


def test_an_experiment_behind_several_exhibits_is_run_once():
    data = ("ar", "umist")
    quick = needed(["table2", "figure2", "figure1"], data, quick=True)
    assert [(each.protocol.name, each.ks) for each in quick] == [("paper, quick", FEW_KS)] * 2
    assert [each.ks for each in needed(["table2"], data, quick=True)] == [(100,)]
    assert [each.protocol for each in needed(EXHIBITS, data, quick=False)] == [PAPER, PAPER, CLEAN, CLEAN]


def test_less_is_run_on_large_sets():
    small, medium, large = all_methods(("ar", "isolet", "orl", "mnist_4v9")).parts()
    assert (small.data, medium.data, large.data) == (("ar",), ("orl",), ("isolet", "mnist_4v9"))
    assert (large.trials, large.ks) == (3, FEW_KS)
    assert "l1_svm" not in small.protocol.grids
    assert max(large.protocol.grids["l1_svm"]["C"]) < max(medium.protocol.grids["l1_svm"]["C"]) < 1
    assert (medium.trials, medium.ks) == (small.trials, small.ks)
    assert small.trials is None
    assert small.ks == tuple(range(10, 101, 10))
    (only,) = comparison(("isolet",)).quick((100,)).parts()
    assert (only.trials, only.ks, only.protocol.tuned) == (2, (100,), False)
    assert [part.trials for part in replace(all_methods(("ar", "isolet")), trials=7).parts()] == [7, 7]
