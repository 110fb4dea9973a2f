"""Files that once broke the library that reads them: each is refused in one sentence."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from dsofs.datasets.formats import parse_asu
from dsofs.files import DamagedFileError
from dsofs.tables.readers import read_frame
from tests.tables.tables import small_problem, write_feather

# What NumPy's parser of headers made of each: a TokenError, a SyntaxError, a TypeError, ...
HEADERS = [
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), ",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)\n)",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': ((2, 2), }",
    b"{'descr': '<f8', [1]: 2, 'shape': (2, 2), }",
    b"{'descr': '\xff', 'fortran_order': False, 'shape': (2, 2), }",
    b"{'descr': [('a', '<f8'), 3], 'fortran_order': False, 'shape': (2, 2), }",
    b"{'descr': '<U0', 'fortran_order': False, 'shape': (2, 99999999999), }",
    b"(" * 4000,
    b"\x00" * 60,
]


def refusal(path):
    with pytest.raises(DamagedFileError) as caught:
        read_frame(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("header", HEADERS)
def test_npy_header_damage(header, version, tmp_path):
    length = len(header).to_bytes(2 * version, "little")
    content = b"\x93NUMPY" + bytes([version, 0]) + length + header + bytes(64)
    (tmp_path / "a.npy").write_bytes(content)
    assert "a.npy" in refusal(tmp_path / "a.npy")


def test_npz_header_damage(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(4), y=np.arange(4))
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content.replace(b"(4, 4)", b"(4, 4("))
    refusal(tmp_path / "a.npz")


def damaged_mat(folder):
    """X claims to be complex, without a second part."""
    savemat(folder / "a.mat", {"X": np.eye(4), "Y": np.array([["u"], ["v"], ["u"], ["v"]], dtype=object)})
    content = bytearray((folder / "a.mat").read_bytes())
    array_flags = content.index(b"\x06\x00\x00\x00\x08\x00\x00\x00\x06")
    content[array_flags + 9] |= 0x08
    (folder / "a.mat").write_bytes(content)
    return folder / "a.mat"


def test_matlab_5_complex_flag(tmp_path):
    path = damaged_mat(tmp_path)
    assert "damaged" in refusal(path)
    with pytest.raises(DamagedFileError, match="damaged"):
        parse_asu({"a.mat": path.read_bytes()})


def test_matlab_5_that_is_complex_is_read_where_only_another_variable_is(tmp_path):
    savemat(tmp_path / "a.mat", {"X": np.eye(4), "y": np.arange(4), "z": np.eye(3) * 1j})
    assert loadmat(tmp_path / "a.mat")["z"].dtype.kind == "c"
    assert read_frame(tmp_path / "a.mat").numbers.shape == (4, 4)
    savemat(tmp_path / "a.mat", {"X": np.eye(4) * 1j, "y": np.arange(4)})
    assert "complex" in refusal(tmp_path / "a.mat")


def endless_hdf5(path):
    """The first text on the heap is an empty space of no bytes: whoever looks for the next one never moves on."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(path, "w") as file:
        file["X"], file["y"] = np.eye(4), ["a", "b", "a", "b"]
    content = bytearray(path.read_bytes())
    first = content.index(b"GCOL") + 16
    content[first : first + 16] = bytes(16)
    path.write_bytes(content)
    return path


def test_hdf5_heap_damage_does_not_loop_for_ever(tmp_path):
    assert "never ends" in refusal(endless_hdf5(tmp_path / "a.h5"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_ends_the_reading_of_hdf5(tmp_path):
    path = endless_hdf5(tmp_path / "a.h5")
    with open(path, "ab") as file:
        file.truncate(50 * 2**20)  # a large file may take long
    code = "import sys; from dsofs.tables.readers import read_frame; print(flush=True); read_frame(sys.argv[1])"
    process = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        process.stdout.readline()
        time.sleep(2)  # it may read by now; where it does not, the test is passed too
        process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.communicate()


def test_a_damaged_feather_file_is_not_called_too_large_for_memory(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path, _ = write_feather(tmp_path, *small_problem(n_samples=12, n_features=6))
    content = path.read_bytes()
    for place in range(8, len(content) - 10, 8):  # sizes and offsets are whole numbers of eight bytes
        path.write_bytes(content[: place + 6] + b"\x20" + content[place + 7 :])
        try:
            read_frame(path)
        except DamagedFileError as error:
            assert "of memory" not in str(error)  # noqa: PT017 - what is not refused is read
