"""Names in charts stand where they can be read."""

import re
from dataclasses import replace

import pytest

from dsofs.report.charts import accuracy_picture
from tests.report.examples import ordinary


@pytest.mark.parametrize(("chosen", "advised"), [(20, 30), (30, 20), (5, 6), (2, 3), (1, 50), (50, 1)])
def test_names_of_numbers_do_not_stand_on_the_line_of_the_other(chosen, advised):
    ks = [1, 2, 3, 5, 6, 10, 20, 30, 50]
    curve = replace(ordinary().accuracy, ks=ks, mean=[0.5] * 9, deviation=[0.1] * 9, k=chosen, one_se_k=advised)
    picture = str(accuracy_picture(curve, advised=True))
    lines = {kind: float(re.search(rf'<line x1="([\d.]+)"[^>]*class="{kind}"', picture)[1])
             for kind in ("chosen", "advised")}  # fmt: skip
    for kind, other in (("chosen", "advised"), ("advised", "chosen")):
        x, attributes, name = re.search(rf'<text x="([\d.]+)"([^>]*)>({kind}: \d+)</text>', picture).groups()
        length = 7 * len(name)
        left = float(x) - length if 'text-anchor="end"' in attributes else float(x)
        assert not left < lines[other] < left + length
        assert left > 0
        assert left + length < 505
