import io
import signal
import subprocess
import sys
import time
from dataclasses import replace

import joblib
import numpy as np
import pytest
from rich.console import Console
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dsofs import METHODS
from dsofs.cli.messages import watched
from dsofs.experiments.cells import ALL_FEATURES, REFERENCE, Cell
from dsofs.experiments.protocols import CLEAN, CLEAN_QUICK
from dsofs.experiments.results import Row, read_rows
from dsofs.experiments.runner import CellsFailedError, Forecast, RunProgress, run
from dsofs.files import sole_writer
from dsofs.methods import Method
from dsofs.statistics.samples import Samples, train_test
from tests.problems import random_data

KS = (3, 7, 20)
DATA = {name: Samples(*random_data(seed, 50, 40, 3)) for seed, name in enumerate(("one", "two"))}
SMALL = {name: METHODS[name] for name in ("f_test", "lasso")} | REFERENCE


def experiment(out, data=DATA, methods=SMALL, **options):
    return run(out, data, methods, **({"protocol": CLEAN_QUICK, "ks": KS} | options))


def table(rows):
    """What must not depend on how a run came to its end."""
    return {row.key: (row.score, row.values.get("features"), row.values["chosen"]) for row in rows}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results file of a run that nothing interrupted."""
    out = tmp_path_factory.mktemp("whole") / "results.jsonl"
    experiment(out)
    return out


def test_every_cell_has_a_row_for_every_k(whole):
    rows = read_rows(whole)
    found = [(row.seed, row.data, row.method, row.k) for row in rows]
    selected = [(t, d, m, k) for t in range(2) for d in DATA for m in ("f_test", "lasso") for k in KS]
    assert sorted(found, key=str) == sorted([*selected, *((t, d, ALL_FEATURES, None) for t in range(2) for d in DATA)],
                                            key=str)  # fmt: skip
    for row in rows:
        assert 0 <= row.score <= 1
        assert row.parameters == {"protocol": "clean, quick"}
        assert {"balanced_accuracy", "macro_f1", "svm_seconds", "svm_capped", "cell_seconds"} <= set(row.values)
        assert ("features" in row.values) == (row.k == max(KS))
        assert row.versions["commit"]


def test_scores_are_those_of_the_selected_features(whole):
    """By hand: split, scale, rank, train."""
    for row in read_rows(whole):
        if row.method != "f_test":
            continue
        data = DATA[row.data]
        training, test = train_test(data, stratified=True, seed=row.seed)
        scaler = StandardScaler().fit(data.X[training])
        best = METHODS["f_test"](row.k).fit(data.X[training], data.y[training]).get_support()
        svm = SVC(kernel="linear").fit(scaler.transform(data.X[training])[:, best], data.y[training])
        assert row.score == svm.score(scaler.transform(data.X[test])[:, best], data.y[test])


def test_a_finished_run_computes_nothing(whole):
    before = whole.read_bytes()

    def never(k, seed=0):
        raise AssertionError("was run again")

    rows = experiment(whole, methods={name: Method(never) for name in SMALL})
    assert whole.read_bytes() == before
    assert table(rows) == table(read_rows(whole))


@pytest.mark.parametrize("part", [0.0, 0.13, 0.38, 0.52, 0.77, 0.999])
def test_a_file_cut_anywhere_is_completed(whole, part, tmp_path):
    """Between cells, between the rows of one, or inside a row."""
    content = whole.read_bytes()
    out = tmp_path / "results.jsonl"
    out.write_bytes(content[: int(part * len(content))])
    rows = experiment(out)
    assert table(rows) == table(read_rows(whole))
    assert len(read_rows(out)) == len(rows) == len(read_rows(whole))


def test_workers_and_wider_runs_agree(whole, tmp_path):
    out = tmp_path / "results.jsonl"
    experiment(out, ks=(7,), trials=1)
    rows = experiment(out, n_jobs=2)
    assert {row.key: row.score for row in rows} == {row.key: row.score for row in read_rows(whole)}
    assert len(read_rows(out)) == len(rows)


def test_protocols_share_a_file(tmp_path):
    out = tmp_path / "results.jsonl"
    tuned = replace(CLEAN, svm_Cs=(0.01, 1.0))
    experiment(out, trials=1)
    rows = experiment(out, protocol=tuned, trials=1)
    assert len(read_rows(out)) == 2 * len(rows)
    assert {row.values["chosen"]["svm_C"] for row in rows} <= {0.01, 1.0}
    assert all(row.values["tuning_accuracy"] > 0 for row in rows)
    assert all("lam" in row.values["chosen"] for row in rows if row.method == "lasso")


def test_a_protocol_may_tune_other_values(tmp_path):
    tuned = replace(CLEAN, name="other", svm_Cs=(1.0,), grids={"lasso": {"lam": (7.0, 8.0)}})
    rows = experiment(tmp_path / "results.jsonl", protocol=tuned, trials=1)
    assert {row.values["chosen"]["lam"] for row in rows if row.method == "lasso"} <= {7.0, 8.0}


def test_features_that_are_not_there_are_not_counted(tmp_path):
    rows = experiment(tmp_path / "results.jsonl", ks=(3, 41), trials=1)
    assert {row.k for row in rows} == {3, None}


def test_a_failure_is_told_and_harms_no_other_cell(tmp_path):
    out = tmp_path / "results.jsonl"

    def broken(k, seed=0):
        raise ValueError("out of order")

    with pytest.raises(
        CellsFailedError, match="2 of 8 cells failed:\none, broken, trial 0: ValueError: out of order"
    ) as caught:
        experiment(out, methods={"broken": Method(broken), **SMALL}, trials=1)
    assert len(caught.value.failures) == 2
    assert caught.value.failures[0] == "one, broken, trial 0: ValueError: out of order"
    assert {row.method for row in read_rows(out)} == set(SMALL)
    mended = experiment(out, methods={"broken": METHODS["f_test"], **SMALL}, trials=1)
    assert len(mended) == len(read_rows(out))


def test_an_svm_that_was_cut_short_says_so(tmp_path):
    rows = experiment(tmp_path / "results.jsonl", protocol=replace(CLEAN_QUICK, svm_max_iter=2), trials=1)
    assert all(row.values["svm_capped"] and row.values["svm_max_iter"] == 2 for row in rows)
    assert all(row.values["warnings"] == ["ConvergenceWarning"] for row in rows)


def test_the_time_needed_is_foretold(whole, tmp_path):
    fresh, known = io.StringIO(), io.StringIO()
    out = tmp_path / "results.jsonl"
    out.write_bytes(whole.read_bytes())
    with watched(Console(file=fresh, width=200)) as progress:
        experiment(tmp_path / "other.jsonl", progress=progress)
    with watched(Console(file=known, width=200)) as progress:
        experiment(out, trials=3, progress=progress)
    rough, sure = fresh.getvalue().splitlines()  # not a terminal: nothing else
    assert "for 11 cells on 1 worker; 10 of them are of a kind not measured yet: a rough guess." in rough
    assert "for 6 cells on 1 worker." in sure  # after the first trial
    assert "for 6 cells on 1 worker.\n" in known.getvalue()
    assert known.getvalue().count("\n") == 1


def test_what_is_not_measured_is_guessed_by_the_work():
    forecast = Forecast({("a", "x"): 10.0, ("b", "x"): 30.0, ("a", "y"): 100.0})
    assert forecast.progress([], 3, n_workers=1).seconds_left is None
    forecast.learn([Row("a", "x", trial, k=k, values={"cell_seconds": 2.0 + 2 * trial})
                    for trial in range(2) for k in KS])  # fmt: skip
    cells = [Cell("a", "x", 2, KS), Cell("b", "x", 0, KS), Cell("a", "y", 0, KS)]
    assert [forecast.seconds(cell) for cell in cells] == [3.0, 9.0, 30.0]
    assert forecast.progress(cells, 5, n_workers=2) == RunProgress(2, 5, 2, seconds_left=21.0, n_guessed=2)


def slow(k, seed=0):
    time.sleep(0.03)
    return METHODS["f_test"](k)


def slow_experiment(out, n_jobs):
    experiment(out, methods={"slow": Method(slow), **SMALL}, n_jobs=n_jobs, trials=4)


def process_of(out, n_jobs):
    code = f"from tests.experiments.test_runner import *; slow_experiment({str(out)!r}, {n_jobs})"
    return subprocess.Popen([sys.executable, "-c", code])


@pytest.mark.parametrize(("n_jobs", "kills_after"), [(1, (3, 11, 17)), (2, (15,))])
def test_killed_runs_go_on_and_end_with_the_same_table(n_jobs, kills_after, tmp_path):
    straight, out = tmp_path / "straight.jsonl", tmp_path / "killed.jsonl"
    slow_experiment(straight, n_jobs=1)
    expected = read_rows(straight)
    for rows_more in kills_after:
        goal = len(read_rows(out)) + rows_more
        process = process_of(out, n_jobs)
        while len(read_rows(out)) < goal and process.poll() is None:
            time.sleep(0.002)
        process.kill()
        assert process.wait(10) == -signal.SIGKILL
        assert goal <= len(read_rows(out)) < len(expected)
    slow_experiment(out, n_jobs)
    rows = read_rows(out)
    assert len(rows) == len(expected) == len({row.key for row in rows})
    assert table(rows) == table(expected)


def test_two_runs_do_not_write_to_one_file(tmp_path):
    out = tmp_path / "results.jsonl"
    with sole_writer(out), pytest.raises(BlockingIOError, match="Another run is writing to "):
        experiment(out)
    assert experiment(out)


def test_a_dask_cluster_runs_the_cells(whole, tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    with (
        distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None),
        joblib.parallel_config("dask"),
    ):
        rows = experiment(tmp_path / "results.jsonl")
    assert table(rows) == table(read_rows(whole))


def test_groups_are_respected(tmp_path):
    """A feature that tells the groups apart is worth nothing for new groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 4)
    y = rng.integers(0, 2, 30)[groups].astype(np.intp)
    X = rng.normal(size=(30, 25))[groups] + 0.01 * rng.normal(size=(120, 25))
    with_groups = experiment(tmp_path / "a.jsonl", {"d": Samples(X, y, groups)}, trials=5, ks=(20,))
    without = experiment(tmp_path / "b.jsonl", {"d": Samples(X, y)}, trials=5, ks=(20,))
    assert np.mean([row.score for row in without]) > 0.9
    assert np.mean([row.score for row in with_groups]) < 0.7
