"""Whatever becomes of a file on its way, it is read or refused in one sentence: no traceback, no hang, no death."""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("memory is limited on Linux only", allow_module_level=True)

from tests.tables.mutations import Worker, outcomes, writers

# Formats that are read in a process of their own take longer.
APART = ("MATLAB", "HDF5", "AnnData,")
FEW, MANY = 5, 40


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("form", writers())
def test_damaged_files_are_read_or_refused(form, worker):
    count = FEW if form.startswith(APART) else MANY
    bad = [found for found in outcomes(form, range(count), worker) if found[1] not in ("read", "refused")]
    assert bad == []
