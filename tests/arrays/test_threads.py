import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (loads the second BLAS)
from threadpoolctl import threadpool_info, threadpool_limits

from dsofs.arrays.threads import all_threads, single_threaded


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
        with all_threads():
            assert blas_threads() == before
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_restored_after_an_exception():
    before = blas_threads()
    with pytest.raises(KeyError), single_threaded(), all_threads():
        raise KeyError
    assert blas_threads() == before


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
