"""The benchmarks' contenders, the way they are raced, and the tables drawn from rows."""

from __future__ import annotations

import time
from functools import partial
from importlib.util import find_spec
from itertools import product
from types import ModuleType

import numpy as np
import pytest

from dsofs import DSOSelector
from dsofs.design import Block
from dsofs.experiments.results import Row
from dsofs.problem import Problem
from dsofs.reproduction.figures import svg
from dsofs.solvers import solve
from dsofs.solvers.qp.pivoting import solve_qp
from dsofs.validation import one_versus_rest

pytest.importorskip("benchmarks", reason="benchmarks are part of the repository only")

from benchmarks import charts, harness, peers, run, standing, standing_choice, standing_summary, standing_tables
from benchmarks.arena import fit, interleaved, start, stop
from benchmarks.contenders import alternation, contenders
from benchmarks.contenders.speed import cvxpy_clarabel
from benchmarks.data import synthetic
from benchmarks.roofline import metered

ALL = [*contenders(run.STUDY), *contenders(peers.STUDY)]
SMALL = [10, 20, 2]
PATIENCE = 120.0  # seconds for a process to start on a busy machine


@pytest.mark.parametrize("contender", ALL, ids=lambda module: module.__name__.removeprefix("benchmarks.contenders."))
def test_a_contender_says_who_it_is(contender):
    assert contender.NAME
    assert contender.TASK
    assert contender.__doc__
    assert all("==" in requirement or requirement == "setuptools" for requirement in contender.REQUIREMENTS)
    assert callable(contender.prepare)


def test_names_are_unique_within_what_is_compared():
    speed = [module.NAME for module in run.entrants()]
    assert len(set(speed)) == len(speed)
    assert speed[0] == run.OURS
    for rivals in peers.tasks().values():
        assert rivals[0].NAME == peers.OURS
        assert len({module.NAME for module in rivals}) == len(rivals)


@pytest.mark.parametrize("classes", [2, 3])
def test_cvxpy_is_given_the_problem_of_dso(classes):
    pytest.importorskip("cvxpy")
    X, y = synthetic(classes, 30, 60, classes)
    optimum = cvxpy_clarabel.prepare(X, y)()
    assert DSOSelector(p=1.0, C=None).fit(X, y).objective_ == pytest.approx(optimum, rel=2e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_alternation_rests_where_ours_does(classes):
    def multipliers(P, t):
        ones = np.ones((len(t), 1))
        return solve_qp(P, ones, t[:, None]).B[:, 0]

    X, y = synthetic(classes, 20, 60, classes)
    Z, Y = np.column_stack([X, np.ones(len(X))]), one_versus_rest(y, classes)
    objective, steps = alternation.alternate(Z, Y, partial(alternation.by_multipliers, multipliers))
    ours = solve(Problem(Block(Z), Y, 1.0), "alternating", max_iter=1000)
    assert objective == pytest.approx(ours.objective, rel=1e-6)
    assert steps == pytest.approx(ours.n_iter, abs=2)


def contender_file(folder, name: str, job: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = str(folder / f"{name}.py")
    module.NAME, module.REQUIREMENTS = name, ()
    (folder / f"{name}.py").write_text(
        f"import time\n\ndef prepare(X, y):\n    return lambda: {job}\n\n"
        "def describe(result):\n    return {'came out': result}\n"
    )
    return module


def test_a_race_has_first_fits_rounds_and_failures(tmp_path):
    rivals = [contender_file(tmp_path, name, job) for name, job in {"quick": "len(X)", "broken": "1 / 0"}.items()]
    X, y = synthetic(0, 6, 10, 2)
    answers = [(number, module.NAME, answer) for number, module, answer in interleaved(rivals, X, y, 2, PATIENCE)]
    assert [(number, name) for number, name, _ in answers] == [(0, "quick"), (0, "broken"), (1, "quick"), (2, "quick")]
    first, broken, *_ = (answer for _, _, answer in answers)
    assert first["came out"] == 6
    assert first["start"] > 0
    assert 0 < first["seconds"] < PATIENCE
    assert broken["error"] == "ZeroDivisionError: division by zero"


def test_a_fit_is_ended_at_the_limit(tmp_path):
    data = tmp_path / "data.npz"
    np.savez(data, X=np.eye(2), y=np.arange(2))
    worker, _ = start(contender_file(tmp_path, "endless", "time.sleep(600)"), data, PATIENCE)
    try:
        assert fit(worker, 0.2, enough=0) == {"limit": 0.2}
    finally:
        stop(worker)


def rows() -> list[Row]:
    """Ours takes 1 s in round 0 and 0.5 s then; one contender is ended, one fails, one is spared."""
    made = [Row("ar", run.OURS, n, seconds=1.0 if n == 0 else 0.5, values={"shape": SMALL}) for n in range(3)]
    made.append(Row("ar", "FastCan", 0, seconds=2.0, values={"shape": SMALL, "extra": 2.0**21, "cpu": 3.0}))
    made.append(Row("ar", "SVM-RFE", 0, values={"shape": SMALL, "limit": 60.0}))
    made.append(Row("ar", "MultiTaskLasso", 0, values={"shape": SMALL, "error": "no memory"}))
    made.append(Row("ar", "MultiTaskLassoCV", 0, values={"shape": SMALL, "spared": "smaller"}))
    return made


def test_tables_are_drawn_from_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    harness.keep(run.STUDY, rows())
    run.draw(run.STUDY)
    table = (tmp_path / "speed.md").read_text().splitlines()
    cells = {line.split(" | ")[1]: line.split(" | ")[3:8] for line in table if line.startswith("| ar 10x20x2")}
    assert cells[run.OURS][:3] == ["1", "0.5", "1 x"]
    assert cells["FastCan"] == ["2", "2", "4 x", "3", "2"]
    assert cells["SVM-RFE"][1:3] == ["> 60", "> 120 x"]
    assert cells["MultiTaskLasso"][1] == "failed: no memory"
    assert cells["MultiTaskLassoCV"][1] == "not run: too slow on smaller"
    short = (tmp_path / "speed_readme.md").read_text()
    assert "| **dso p=1** | **0.5 s** |" in short
    assert "| SVM-RFE | > 120 x |" in short
    assert "| MultiTaskLasso | - |" in short


def test_a_run_goes_on_with_what_is_not_settled():
    assert {row.method for row in run.settled(rows(), rounds=2)} == {"SVM-RFE", "MultiTaskLasso", "MultiTaskLassoCV"}
    complete = [Row("ar", module.NAME, 2, seconds=0.1, values={"shape": SMALL}) for module in run.entrants()]
    assert run.settled(complete, rounds=2) == complete


def test_only_larger_data_are_spared():
    assert run.too_slow_on(rows(), "SVM-RFE", [10, 30, 2], limit=60) == "ar"
    assert run.too_slow_on(rows(), "SVM-RFE", [9, 30, 2], limit=60) is None
    assert run.too_slow_on(rows(), "SVM-RFE", [10, 30, 2], limit=90) is None
    assert run.too_slow_on(rows(), "FastCan", [10, 30, 2], limit=60) is None


def judgements(accuracies: dict[tuple[str, str], float]) -> list[Row]:
    """Rows of the standing with one accuracy at all k, and a selection for each."""
    made = []
    for (data, method), accuracy in accuracies.items():
        same = [accuracy] * len(standing.KS)
        for seed in range(2):
            made.append(Row(data, method, seed, {}, seconds=1.0, values={"features": [*range(100)], "n_features": 200}))
            values = {"accuracy": same, "balanced_accuracy": same}
            made.append(Row(data, method, seed, {"judge": "svm"}, values=values))
    return made


def test_the_standing_is_a_mean_over_kinds(tmp_path, monkeypatch):
    """Two sets of faces count as much as one of speech; what did not end is listed."""
    monkeypatch.setattr(standing_tables, "FOLDER", tmp_path)
    accuracies = {("ar", "dso"): 0.7, ("orl", "dso"): 0.9, ("isolet", "dso"): 0.6}
    late = Row("ar", "relieff", 0, values={"failed": standing.TIMED_OUT})
    standing_tables.draw([*judgements(accuracies), late], standing.KINDS, standing.KS)
    text = (tmp_path / "standing.md").read_text()
    assert "| DSO-FS | **70.00** |" in text
    assert "3 data sets of 2 kinds, 2 splits" in text
    assert "| DSO-FS | 1.000 |" in text  # stability
    assert "| ar | 0 | selection | timed out |" in text


def test_the_summary_says_where_ours_is_not_first(tmp_path, monkeypatch):
    """Better on faces, worse on speech; the default of before is no rival."""
    for module in (standing_tables, standing_summary):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    methods = ("dso", "mrmr", "fastcan", "dso_forward")
    made = dict(zip(product(("ar", "isolet"), methods), (0.8, 0.7, 0.6, 0.9, 0.6, 0.9, 0.5, 0.5), strict=True))
    standing_summary.draw_summary(judgements(made), standing.KINDS, standing.KS)
    text = (tmp_path / "summary.md").read_text()
    assert "| mRMR | **80.0** | **80.0** | **80.0** | **80.0** | **80.0** | -10.0 [-30.0, 10.0] |" in text
    assert "| speech | 60.0 | mRMR | 30.0 |" in text
    assert "first on the other 1 kinds" in text
    assert "<svg" in (tmp_path / "critical_difference.svg").read_text()


def test_a_variant_is_chosen_without_the_kind_that_it_is_tested_on():
    """The first is best on faces by far, the second a little on speech and text."""
    data = ["ar", "isolet", "cora_os"]
    values = np.repeat(np.array([[90.0, 50], [60, 61], [70, 71]])[:, :, None], len(standing.KS), axis=2)
    assert standing_choice.chosen_without_each_kind(values, data, standing_choice.by_mean) == [1, 0, 0]
    assert standing_choice.chosen_without_each_kind(values, data, standing_choice.by_rank)[0] == 1


def test_work_of_the_standing_is_ended_at_the_limit(monkeypatch):
    expected = [Row("ar", "dso", 0)]
    assert standing.within_limit(partial(list, expected), expected) == expected
    (row,) = standing.within_limit(partial(int, "many"), expected)
    assert row.values["failed"].startswith("ValueError: invalid literal")
    monkeypatch.setattr(standing, "LIMIT", 0.2)
    assert standing.within_limit(partial(time.sleep, 60), expected)[0].values == {"failed": standing.TIMED_OUT}


def test_the_standing_is_over_34_data_sets_and_every_contender_selects():
    assert len(standing.DATA) == len(set(standing.DATA)) == 34
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 20)) + y[:, None]
    for module in contenders("standing"):
        if find_spec(getattr(module, "REQUIRES", "numpy")):
            ranking = module.make(5, seed=0).fit(X, y).ranking_
            assert sorted(ranking) == list(range(1, 21)), module.__name__


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="charts need matplotlib")
@pytest.mark.parametrize("draw", charts.CHARTS.values(), ids=charts.CHARTS)
def test_a_chart_is_drawn_from_the_rows_that_are_kept(draw):
    assert svg(draw()).startswith("<?xml")


@pytest.mark.parametrize("shape", [(40, 60, 3), (300, 20, 2)])
@pytest.mark.parametrize("settings", [{}, {"p": 1.0, "C": None}, {"intercept_penalty": 0.0}])
def test_the_work_of_every_phase_can_be_counted(shape, settings):
    X, y = synthetic(0, *shape)
    with metered() as meter:
        counted = DSOSelector(**settings).fit(X, y)
    np.testing.assert_array_equal(counted.ranking_, DSOSelector(**settings).fit(X, y).ranking_)
    assert {"standardising", "Newton", "ranking"} <= set(meter.phases)
    assert sum(work.multiplications for work in meter.phases.values()) > 0
