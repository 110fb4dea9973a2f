import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (loads the second BLAS)
from threadpoolctl import threadpool_info, threadpool_limits

from dsofs.design.budget import MEBIBYTE, Budget, in_parallel, pieces, single_threaded


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        yield


def test_one_thread_inside_and_restored_after():
    before = blas_threads()
    with single_threaded():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_restored_after_an_exception():
    before = blas_threads()
    with pytest.raises(KeyError), single_threaded():
        raise KeyError
    assert blas_threads() == before


def test_parts_are_done_once_each_in_as_many_threads_as_there_were():
    done, threads = [], set()
    first = threading.Barrier(2, timeout=10)

    def note(part):
        if part < 2:
            first.wait()  # for another thread
        done.append(part)
        threads.add(threading.get_ident())

    with single_threaded():
        in_parallel(note, range(20))
    assert sorted(done) == list(range(20))
    assert len(threads) == 2


def test_what_runs_in_parallel_starts_no_further_threads():
    threads = [set(), set()]

    def outer(part):
        in_parallel(lambda _: threads[part].add(threading.get_ident()), range(10))

    with single_threaded():
        in_parallel(outer, range(2))
    assert [len(its) for its in threads] == [1, 1]


@pytest.mark.parametrize("broken", [0, 5, 19])
def test_errors_in_threads_come_through_and_leave_nothing_behind(broken):
    def fail(part):
        if part == broken:
            raise KeyError(part)

    with single_threaded():
        with pytest.raises(KeyError, match=str(broken)):
            in_parallel(fail, range(20))
        in_parallel(fail, range(20, 40))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_has_threads_of_its_own():
    script = """
import os
from threadpoolctl import threadpool_limits
from dsofs.design.budget import in_parallel, single_threaded
import numpy as np, scipy.linalg
np.ones((2, 2)) @ np.ones((2, 2))

def work():
    done = []
    with single_threaded():
        in_parallel(done.append, range(20))
    return len(done)

with threadpool_limits(2, user_api="blas"):
    work()
    child = os.fork()
    if child == 0:
        os._exit(work())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "20"


def test_work_is_cut_alike_for_any_number_of_threads():
    assert pieces(100, 1.0) == [slice(0, 100)]
    parts = pieces(100, 1e12)
    assert (parts[0].start, parts[-1].stop) == (0, 100)
    assert [a.stop for a in parts[:-1]] == [b.start for b in parts[1:]]
    assert len(pieces(3, 1e12)) == 3
    assert len(pieces(100, 1e12, most=2)) == 2


def test_fits_that_overlap_leave_the_threads_as_they_were():
    """In a process of its own: whichever thread sets a limit first decides over it from then on."""
    script = """
import threading, numpy as np, scipy.linalg
from threadpoolctl import threadpool_info
from dsofs.design.budget import single_threaded

def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

before, (entered, left) = blas_threads(), (threading.Event(), threading.Event())

def first():
    with single_threaded():
        entered.wait(10)
    left.set()

def second():
    with single_threaded():
        entered.set()
        left.wait(10)

threads = [threading.Thread(target=first), threading.Thread(target=second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(10)
print(before == blas_threads(), max(before))
"""
    variables = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=variables, check=True)
    assert done.stdout.split()[0] == "True"


def test_limits_are_restored_after_fits_in_several_threads():
    before = blas_threads()
    inside = threading.Barrier(3, timeout=10)

    def hold():
        with single_threaded():
            inside.wait()

    workers = [threading.Thread(target=hold, daemon=True) for _ in range(2)]
    for worker in workers:
        worker.start()
    with single_threaded():
        inside.wait()
    for worker in workers:
        worker.join(timeout=10)
    assert blas_threads() == before


def test_a_block_holds_three_columns_per_sample_up_to_an_upper_bound():
    budget = Budget()
    assert budget.holds(2000, 3 * 2000)
    assert not budget.holds(2000, 3 * 2000 + 1)
    assert budget.holds(100, 32 * MEBIBYTE // 800)
    assert budget.largest_block(10_000, 20_000) == budget.tall_block


def test_a_memory_limit_bounds_the_blocks_of_many_samples():
    limit = 400 * MEBIBYTE
    assert Budget.within(limit).largest_block(5000, 20_000) <= limit // 8
