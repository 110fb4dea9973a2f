import gzip

import pytest

from dsofs.environment import environment
from dsofs.experiments.results import Row, append_row, read_rows
from dsofs.files import append_line


def test_rows_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "results.jsonl"
    assert read_rows(path) == []
    rows = [Row("tox", "dso", 0, {"p": 0.5}, k=10, score=0.9, seconds=1.5), Row("tox", "dso", 1, values={"gap": 1e-3})]
    for row in rows:
        append_row(path, row)
    assert read_rows(path) == rows
    assert rows[0].versions == environment()


def test_a_line_cut_short_is_passed_over(tmp_path):
    path = tmp_path / "results.jsonl"
    append_row(path, Row("a", "dso", 0))
    with open(path, "a") as file:
        file.write('{"data": "b", "met')
    append_row(path, Row("c", "dso", 0))
    assert [row.data for row in read_rows(path)] == ["a", "c"]


def test_a_packed_file_holds_the_same_rows(tmp_path):
    path = tmp_path / "results.jsonl"
    append_row(path, Row("a", "dso", 0, values={"name": "Ä"}))
    packed = tmp_path / "results.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_rows(packed) == read_rows(path) != []


def test_the_key_tells_measurements_apart():
    row = Row("a", "dso", 0, {"p": 1, "C": None}, k=5, seconds=1.0)
    assert row.key == Row("a", "dso", 0, {"C": None, "p": 1}, k=5, seconds=9.0).key
    assert row.key != Row("a", "dso", 0, {"p": 1, "C": None}, k=6).key


@pytest.mark.parametrize(
    "line",
    ["3", "null", '["a"]', '{"data": "b"}', '{"data": "b", "method": "dso", "seed": 0, "colour": 1}',
     '{"data": ["b"], "method": "dso", "seed": 0}', '{"data": "b", "method": "dso", "seed": 0, "parameters": 1}'],
)  # fmt: skip
def test_a_line_that_is_no_row_is_refused_with_its_number(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    append_row(path, Row("a", "dso", 0))
    append_line(path, line)
    with pytest.raises(ValueError, match=r"Line 2 of '.*rows.jsonl' is not a row of results") as caught:
        read_rows(path)
    assert "\n" not in str(caught.value)


def test_rows_that_cannot_be_unpacked_are_refused(tmp_path):
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(b"{}" * 99)[:-12])
    with pytest.raises(ValueError, match=r"rows.jsonl.gz' is cut short"):
        read_rows(tmp_path / "rows.jsonl.gz")


def test_bytes_that_are_no_text_are_passed_over(tmp_path):
    append_row(tmp_path / "rows.jsonl", Row("a", "dso", 0))
    with open(tmp_path / "rows.jsonl", "ab") as file:
        file.write(b'{"data": "\xff\n')
    assert len(read_rows(tmp_path / "rows.jsonl")) == 1
