from joblib import Parallel, delayed

from dsofs import DSOSelector
from dsofs.examination import resampling
from dsofs.examination.resampling import start_workers

# Evaluated by a worker, which loads nothing for it; it takes long enough for each worker to get one.
LOADED = "[__import__('time').sleep(0.3), 'dsofs.methods.dso.selector' in __import__('sys').modules][1]"
N_WORKERS = 3  # more than other tests ask for: at least one is new


def test_workers_are_ready_when_the_thread_has_ended():
    start_workers(DSOSelector(5), N_WORKERS).join()
    ready = Parallel(n_jobs=N_WORKERS)(delayed(eval)(LOADED) for _ in range(N_WORKERS))
    assert sum(ready) >= N_WORKERS - 1  # the system decides which of them gets the last job


def test_workers_that_cannot_start_are_left_to_the_resamples(monkeypatch):
    """A thread that fails would be reported as a warning, which is an error here."""
    monkeypatch.setattr(resampling, "Parallel", None)
    start_workers(DSOSelector(5), N_WORKERS).join()
