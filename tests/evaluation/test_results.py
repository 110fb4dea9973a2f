import gzip

from dsofs.evaluation.results import Row, append_row, environment, read_rows


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
