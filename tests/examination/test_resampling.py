from joblib import Parallel, delayed

from dsofs import DSOSelector
from dsofs.examination.resampling import start_workers

# Evaluated by a worker, which loads nothing for it; it takes long enough for each worker to get one.
LOADED = "[__import__('time').sleep(0.3), 'dsofs.methods.dso.selector' in __import__('sys').modules][1]"
N_WORKERS = 3  # more than other tests ask for: at least one is new


def test_workers_are_ready_when_the_thread_has_ended():
    start_workers(DSOSelector(5), N_WORKERS).join()
    assert Parallel(n_jobs=N_WORKERS)(delayed(eval)(LOADED) for _ in range(N_WORKERS)) == [True] * N_WORKERS


def test_workers_that_cannot_start_are_left_to_the_resamples():
    """What cannot be sent to a process: a thread that fails would be reported as a warning, an error here."""
    start_workers(DSOSelector(feature_groups=(group for group in range(3))), N_WORKERS).join()
