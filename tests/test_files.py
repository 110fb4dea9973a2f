import pytest

from dsofs.files import append_line, atomic_write, write_together, write_whole


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out.txt"
    with atomic_write(path) as file:
        file.write(b"first")
        assert not path.exists()
    assert path.read_text() == "first"
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as file:
        raise KeyboardInterrupt(file.write(b"half of the sec"))
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "none" / "out.txt", tmp_path / "folder"):
        with pytest.raises(OSError) as caught:  # noqa: PT011 - of any kind
            write_whole(path, "text")
        assert caught.value.filename == str(path)
        assert caught.value.filename2 is None


def test_an_unfinished_line_does_not_swallow_the_next(tmp_path):
    path = tmp_path / "rows"
    append_line(path, "one")
    with open(path, "a") as file:
        file.write("cut sho")
    append_line(path, "two")
    assert path.read_text() == "one\ncut sho\ntwo\n"


def test_a_full_disk_is_said_with_the_name_of_the_file_and_leaves_files_that_belong_together(tmp_path):
    resource = pytest.importorskip("resource", reason="a limit on the size of files, as on Unix")
    first, second = tmp_path / "selected.csv", tmp_path / "selection.json"
    write_together({first: "old", second: "old"})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="large") as caught:
            write_together({first: "new", second: "new" * 100})
        with pytest.raises(OSError, match="large") as appended:
            append_line(tmp_path / "rows.jsonl", "row" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(second)
    assert appended.value.filename == str(tmp_path / "rows.jsonl")
    assert (first.read_text(), second.read_text()) == ("old", "old")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "selected.csv", "selection.json"]


def test_files_that_belong_together_are_written_all_or_none(tmp_path):
    (tmp_path / "selection.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_together({tmp_path / "selected.csv": "new", tmp_path / "selection.json": "new"})
    assert not (tmp_path / "selected.csv").exists()


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file here"), atomic_write(tmp_path / "out.txt"):
        (tmp_path / "no such file here").read_text()
