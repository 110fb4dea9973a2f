"""Files made to do harm: nothing in them is run, and bombs are refused before memory is taken."""

import gzip
import json
import pickle
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from dsofs.files import DamagedFileError
from dsofs.tables.readers import read_frame

MEASURE = """
import json, sys, time
from importlib import import_module
from pathlib import Path
from dsofs.tables.readers import FORMATS, read_frame
for format in FORMATS:  # loading a reader is not reading
    import_module("dsofs.tables.readers." + format.reader.split(":")[0])
for package in ("h5py", "zarr", "pyarrow.parquet", "pyarrow.feather", "sklearn.datasets"):
    try:
        import_module(package)
    except ModuleNotFoundError:
        pass
from dsofs.tables.readers import hdf5, matlab5  # in this process, whose memory is measured
hdf5.read, matlab5.read_variables = hdf5.read_here, matlab5.read_here
def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])
found = {}
for path in sys.argv[1:]:
    Path("/proc/self/clear_refs").write_text("5")
    before, clock, message = status("VmRSS"), time.process_time(), None
    try:
        read_frame(path)
    except ValueError as error:
        message = str(error)
    found[path] = (time.process_time() - clock, status("VmHWM") - before, message)
print(json.dumps(found))
"""


def packed_zeros(path, name, n_bytes, head=b""):
    """A zip archive with a member of many zeros, packed 1000:1."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w", force_zip64=True) as file:
        file.write(head)
        for _ in range(n_bytes // 2**20):
            file.write(bytes(2**20))
    return path


def npy_header(shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def npz_bomb(folder):
    return packed_zeros(folder / "bomb.npz", "X.npy", 512 * 2**20, npy_header((2**13, 2**13)))


def npz_that_lies(folder):
    np.savez(folder / "lies.npz", y=np.arange(3))
    with zipfile.ZipFile(folder / "lies.npz", "a") as archive:
        archive.writestr("X.npy", npy_header((2**30, 2**10)))
    return folder / "lies.npz"


def npy_that_lies(folder):
    (folder / "lies.npy").write_bytes(npy_header((2**30, 2**10)))
    return folder / "lies.npy"


def gzip_of(folder, name, piece):
    with gzip.open(folder / name, "wb") as file:
        for _ in range(512):
            file.write(piece * (2**20 // len(piece)))
    return folder / name


def gzip_bomb_of_rows(folder):
    return gzip_of(folder, "rows.csv.gz", b"1,2\n")


def gzip_bomb_of_one_line(folder):
    return gzip_of(folder, "line.csv.gz", b"1,")


def svmlight_index(folder):
    (folder / "index").write_text("1 1:1 2147483646:1\n-1 1:2\n", encoding="utf-8")
    return folder / "index"


def matlab_bomb(folder):
    """A matrix of 2**29 zeros: a packed variable in a variable, each with a tag of kind and size."""
    n_rows, n_columns = 2**14, 2**15
    parts = struct.pack("<IIII", 6, 8, 9, 0) + struct.pack("<IIii", 5, 8, n_rows, n_columns)
    parts += struct.pack("<HH4s", 1, 1, b"X") + struct.pack("<II", 2, n_rows * n_columns)
    packer = zlib.compressobj()
    packed = packer.compress(struct.pack("<II", 14, len(parts) + n_rows * n_columns) + parts)
    packed += b"".join(packer.compress(bytes(2**20)) for _ in range(n_rows * n_columns // 2**20)) + packer.flush()
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    (folder / "bomb.mat").write_bytes(header + struct.pack("<II", 15, len(packed)) + packed)
    return folder / "bomb.mat"


def excel_bomb(folder):
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    return packed_zeros(folder / "bomb.xlsx", "[Content_Types].xml", 512 * 2**20)


def hdf5_bomb(folder):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(folder / "bomb.h5", "w") as file:
        file.create_dataset("X", shape=(2**20, 2**20), dtype="f8", chunks=(1, 2**10))
        file["y"] = np.arange(3)
    return folder / "bomb.h5"


def feather_bomb(folder):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    feather = pytest.importorskip("pyarrow.feather")
    table = pyarrow.table({"a": np.zeros(2**25), "label": pyarrow.array(["u"] * 2**25).dictionary_encode()})
    feather.write_feather(table, str(folder / "bomb.feather"), compression="zstd")
    return folder / "bomb.feather"


def feather_bomb_in_one_batch(folder):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pyarrow.table({"a": np.zeros(2**26)})
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_file(str(folder / "one.feather"), table.schema, options=options) as file:
        file.write_table(table)
    return folder / "one.feather"


def parquet_bomb(folder):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"a": np.zeros(2**26)})
    parquet.write_table(table, folder / "bomb.parquet", use_dictionary=False, compression="zstd")
    return folder / "bomb.parquet"


def sparse_bomb(folder):
    arrays = {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 2**40], "format": b"csr"}
    np.savez(folder / "wide.npz", **arrays)
    return folder / "wide.npz"


def zarr_bomb(folder):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    group = zarr.open_group(str(folder / "bomb.zarr"), mode="w")
    group.create_array("X", shape=(2**20, 2**20), chunks=(2**10, 2**10), dtype="f8")
    return folder / "bomb.zarr"


BOMBS = (
    npz_bomb, npz_that_lies, npy_that_lies, gzip_bomb_of_rows, gzip_bomb_of_one_line, svmlight_index, matlab_bomb,
    excel_bomb, hdf5_bomb, feather_bomb, feather_bomb_in_one_batch, parquet_bomb, sparse_bomb, zarr_bomb,
)  # fmt: skip
SECONDS, BYTES = 2.0, 200 * 2**20


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is measured on Linux only")
def test_bombs_are_refused_before_memory_is_taken(tmp_path):
    paths = {bomb.__name__: str(bomb(tmp_path)) for bomb in BOMBS}
    run = subprocess.run([sys.executable, "-c", MEASURE, *paths.values()], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    for name, path in paths.items():
        seconds, peak, message = found[path]
        assert message is not None, f"{name} was read"
        assert "\n" not in message, name
        assert seconds < SECONDS, name
        assert peak < BYTES, name


class Alarm:
    """Leaves a trace when it is loaded."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def pickled_npy(folder, alarm):
    np.save(folder / "a.npy", np.array([alarm], dtype=object), allow_pickle=True)
    return folder / "a.npy"


def pickled_npz(folder, alarm):
    np.savez(folder / "a.npz", X=np.eye(3), y=np.array([alarm, 1, 2], dtype=object))
    return folder / "a.npz"


def plain_pickle(folder, alarm):
    (folder / "a.csv").write_bytes(pickle.dumps(alarm))
    return folder / "a.csv"


def zarr_with_a_pickle_codec(folder, alarm):
    """An array of numbers whose chunk is a pickle, by the word of its own metadata."""
    store = folder / "a.zarr"
    (store / "X").mkdir(parents=True)
    (store / ".zgroup").write_text('{"zarr_format": 2}', encoding="utf-8")
    metadata = {
        "zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "<f8", "compressor": {"id": "pickle"},
        "fill_value": 0, "order": "C", "filters": None,
    }  # fmt: skip
    (store / "X" / ".zarray").write_text(json.dumps(metadata), encoding="utf-8")
    (store / "X" / "0.0").write_bytes(pickle.dumps(alarm))
    return store


@pytest.mark.parametrize("write", [pickled_npy, pickled_npz, plain_pickle, zarr_with_a_pickle_codec])
def test_nothing_in_a_file_is_run(write, tmp_path):
    if write is zarr_with_a_pickle_codec:
        pytest.importorskip("zarr", reason="zarr is not installed")
    trace = tmp_path / "trace"
    path = write(tmp_path, Alarm(trace))
    with pytest.raises(DamagedFileError):
        read_frame(path)
    assert not trace.exists()


def test_links_to_other_files_are_not_followed(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = np.eye(4)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "X")
    with pytest.raises(DamagedFileError, match="link to another file"):
        read_frame(tmp_path / "a.h5")
