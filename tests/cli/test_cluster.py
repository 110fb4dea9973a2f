"""Commands on a Dask cluster of two processes."""

import logging
import os
import signal
import subprocess
import sys
import time

import pytest

from dsofs import optional
from dsofs.cli import options
from dsofs.experiments import read_rows
from tests.cli.test_cli import run as cli
from tests.problems import real_data

QUICK = ("--methods", "dso,f_test", "-k", "3,5", "--quick", "--trials", "2")


@pytest.fixture(scope="module")
def scheduler():
    """The address of a cluster's scheduler."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(**options) as local:
        yield local.scheduler_address


def measured(folder, name="rows.jsonl"):
    """What must not depend on where a cell was run."""
    values = ("features", "chosen", "balanced_accuracy", "warnings", "status")
    rows = [row for row in read_rows(folder / name) if row.score is not None]
    return {row.key: (row.score, *(row.values.get(value) for value in values)) for row in rows}


def compare(table, out, *options):
    return ("compare", str(table), "--target", "label", "--out", str(out), *QUICK, *options)


def test_compare_on_a_cluster_is_compare(table, scheduler, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    assert cli(*compare(table, here)).exit_code == 0
    result = cli(*compare(table, there, "--scheduler", scheduler))
    assert result.exit_code == 0, result.output
    assert "on 2 workers" in result.stderr
    assert measured(there) == measured(here)
    rows = (there / "rows.jsonl").read_bytes()
    assert cli(*compare(table, there, "--scheduler", scheduler)).exit_code == 0
    assert (there / "rows.jsonl").read_bytes() == rows  # nothing was run again


def test_reproduce_on_a_cluster_is_reproduce(scheduler, tmp_path):
    real_data("ar")
    for out, where in (("here", ("--n-jobs", "1")), ("there", ("--scheduler", scheduler))):
        command = ("reproduce", "figure1", "--quick", "--data", "ar", "--trials", "1", "--out", str(tmp_path / out))
        result = cli(*command, *where)
        assert result.exit_code == 0, result.output
    name = "results.jsonl"
    assert measured(tmp_path / "there", name) == measured(tmp_path / "here", name)


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_command_that_was_stopped_continues(table, scheduler, sent, code, tmp_path):
    out, rows = tmp_path / "out", tmp_path / "out" / "rows.jsonl"
    command = compare(table, out, "--scheduler", scheduler, "--trials", "10")
    process = subprocess.Popen([sys.executable, "-m", "dsofs", *command], stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (rows.exists() and rows.stat().st_size):
        time.sleep(0.01)
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    before = measured(out)
    assert 0 < len(before) < 10 * 5
    result = cli(*command)
    assert result.exit_code == 0, result.output
    assert len(measured(out)) == 10 * 5
    assert before.items() <= measured(out).items()
    assert len(read_rows(rows)) == 10 * 5 + 1  # none twice, and what was asked


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "no.such.host.invalid:8786", "carrier pigeon", "ftp://a:1"])
def test_an_address_without_a_scheduler(table, address, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setattr(options, "CLUSTER_PATIENCE", 0.5)
    result = cli(*compare(table, tmp_path / "out", "--scheduler", address))
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        f"Error: No Dask scheduler answers at {address!r}: start one with 'dask scheduler'."
    )
    assert not (tmp_path / "out").exists()


def test_without_dask_the_command_says_how_to_install_it(table, tmp_path, monkeypatch):
    def missing(package):
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(optional, "import_module", missing)
    result = cli(*compare(table, tmp_path / "out", "--scheduler", "tcp://127.0.0.1:8786"))
    assert result.exit_code == 2
    assert "distributed is not installed. Install it with: pip install distributed" in result.stderr
