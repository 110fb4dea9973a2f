"""Archives are read member by member, up to a limit, and never unpacked to disk."""

import shutil
import subprocess

import numpy as np
import pytest

from dsofs.datasets import DamagedFileError, archive
from dsofs.datasets.archive import read_members
from tests.datasets.writers import compress, folder_of, tar_of, zip_of

KINDS = {"a.zip": zip_of, "a.tar.gz": tar_of, "a.tgz": tar_of, "a": folder_of}


@pytest.mark.parametrize("name", KINDS)
def test_wanted_members_only(tmp_path, name):
    members = {"x/1.pgm": b"one", "2.pgm": b"two", "x/._1.pgm": b"made by a Mac", "README": b"text"}
    path = KINDS[name](tmp_path / name, members | {"x/y/3.pgm.Z": compress(b"three", 16)})
    assert read_members(path, ("*.pgm",)) == {"x/1.pgm": b"one", "2.pgm": b"two", "x/y/3.pgm": b"three"}


def test_a_plain_file_is_its_only_member(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"content")
    assert read_members(tmp_path / "a.mat", ("*.mat",)) == {"a.mat": b"content"}


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_nothing_is_written_whatever_the_members_are_called(tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    path = KINDS[name](inside / name, {"../evil.pgm": b"1", f"{tmp_path}/evil.pgm": b"2"})
    assert sorted(read_members(path, ("*.pgm",)).values()) == [b"1", b"2"]
    assert {entry.name for entry in tmp_path.rglob("*")} == {"inside", name}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("members", [{"1.pgm": bytes(1001)}, {f"{n}.pgm": bytes(300) for n in range(4)}])
def test_more_than_the_limit_is_refused(tmp_path, monkeypatch, name, members):
    monkeypatch.setattr(archive, "LIMIT", 1000)
    path = KINDS[name](tmp_path / name, members)
    with pytest.raises(DamagedFileError, match="more than 1000 bytes"):
        read_members(path, ("*.pgm",))


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
@pytest.mark.parametrize("part", [0, 0.5, 0.9])
def test_cut_short(tmp_path, name, part):
    path = KINDS[name](tmp_path / name, {f"{n}.pgm": bytes(range(256)) * (n + 1) for n in range(20)})
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(DamagedFileError, match="cut short or no archive"):
        read_members(path, ("*.pgm",))


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_web_page_is_no_archive(tmp_path, name):
    (tmp_path / name).write_text("<html>moved</html>")
    with pytest.raises(DamagedFileError, match="cut short or no archive"):
        read_members(tmp_path / name, ("*.pgm",))


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_changed_byte_is_noticed(tmp_path, name):
    path = KINDS[name](tmp_path / name, {"1.pgm": bytes(range(256))})
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match="cut short or no archive"):
        read_members(path, ("*.pgm",))


@pytest.mark.parametrize("max_bits", [10, 12, 16])
def test_what_compress_packed(tmp_path, max_bits):
    """Codes that grow, and a table that is emptied; gzip agrees that these are .Z files."""
    content = bytes(np.random.default_rng(0).choice(list(b"0123456789.,-\n"), 20_000).tolist())
    packed = compress(content, max_bits)
    folder = folder_of(tmp_path, {"a.data.Z": packed})
    assert read_members(folder, ("*.data",)) == {"a.data": content}
    if shutil.which("gzip"):
        assert subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True).stdout == content


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08 gzip", b"\x1f\x9d\x88..", b"\x1f\x9d\x90\xff\xff\xff"])
def test_what_compress_packed_is_damaged(tmp_path, content):
    with pytest.raises(DamagedFileError, match=r"a \.Z file that is damaged"):
        read_members(folder_of(tmp_path, {"a.data.Z": content}), ("*.data",))


def test_what_compress_packed_counts_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LIMIT", 999)
    with pytest.raises(DamagedFileError, match="more than 999 bytes"):
        read_members(folder_of(tmp_path, {"a.data.Z": compress(b"0" * 1000, 16)}), ("*.data",))
