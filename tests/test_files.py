import pytest

from dsofs.files import append_line, atomic_write, write_whole


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out.txt"
    with atomic_write(path) as file:
        file.write("first")
        assert not path.exists()
    assert path.read_text() == "first"
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as file:
        raise KeyboardInterrupt(file.write("half of the sec"))
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "none" / "out.txt", tmp_path / "folder"):
        with pytest.raises(OSError) as caught:  # noqa: PT011 - of any kind
            write_whole(path, "text")
        assert caught.value.filename == str(path)
        assert caught.value.filename2 is None


def test_bytes(tmp_path):
    with atomic_write(tmp_path / "b", "wb") as file:
        file.write(b"\x00\xff")
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"


def test_an_unfinished_line_does_not_swallow_the_next(tmp_path):
    path = tmp_path / "rows"
    append_line(path, "one")
    with open(path, "a") as file:
        file.write("cut sho")
    append_line(path, "two")
    assert path.read_text() == "one\ncut sho\ntwo\n"
