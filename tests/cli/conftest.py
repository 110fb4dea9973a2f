"""The table that the tests of select and compare run on."""

import pytest

from tests.tables.tables import csv_lines, small_problem


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table.csv").write_text(csv_lines(*small_problem()), encoding="utf-8")
    return tmp_path / "table.csv"
