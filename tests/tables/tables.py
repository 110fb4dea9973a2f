"""One table in every format that is read. A writer takes a folder, X, class names y and column names, and returns
the file and what ``target`` must be."""

import gzip
import warnings
from functools import partial

import numpy as np
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file, make_classification


def small_problem(seed=0, n_samples=40, n_features=30):
    """Numbers of few digits, so that every format holds them exactly; names with blanks and commas; text labels."""
    X, codes = make_classification(n_samples, n_features, n_informative=6, n_redundant=0, random_state=seed)
    names = [f"gene {index}, probe" for index in range(n_features)]
    return X.round(4), np.array(["healthy", "ill"])[codes], names


def csv_lines(X, y, names, delimiter=",", target="label"):
    header = delimiter.join([*(f'"{name}"' for name in names), target])
    body = [delimiter.join([*map(repr, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    return "\n".join([header, *body, ""])


def write_text(folder, X, y, names, delimiter):
    path = folder / "table.txt"
    path.write_text(csv_lines(X, y, names, delimiter), encoding="utf-8")
    return path, "label"


def write_gzip(folder, X, y, names):
    path = folder / "table.dat"
    path.write_bytes(gzip.compress(csv_lines(X, y, names).encode()))
    return path, -1


def write_r_table(folder, X, y, names):
    """As R's write.table does: row names without a name of their own, texts quoted."""
    path = folder / "table"
    rows = [
        f'"s{i}"\t"{label}"\t' + "\t".join(map(repr, row))
        for i, (row, label) in enumerate(zip(X.tolist(), y, strict=True))
    ]
    path.write_text("\n".join(["\t".join(f'"{name}"' for name in ["class", *names]), *rows]), encoding="utf-8")
    return path, "class"


def write_headless(folder, X, y, names):
    path = folder / "table.csv"
    path.write_text("\r\n".join(csv_lines(X, y, names).splitlines()[1:]), encoding="utf-8")
    return path, "-1"


def write_npz(folder, X, y, names):
    path = folder / "table.bin"
    classes, codes = np.unique(y, return_inverse=True)
    with open(path, "wb") as file:
        np.savez_compressed(file, X=X, y=codes, target_names=classes, feature_names=names)
    return path, None


def write_npy(folder, X, y, names):
    path = folder / "table.npy"
    np.save(path, np.column_stack([X, y == "ill"]))
    return path, X.shape[1]


def write_sparse_npz(folder, X, y, names):
    path = folder / "table.npz"
    sparse.save_npz(path, sparse.csr_matrix(np.column_stack([y == "ill", X])))
    return path, 0


def write_mat5(folder, X, y, names):
    path = folder / "table.mat"
    savemat(path, {"X": X, "y": np.array(y, dtype=object)[:, None], "feature_names": np.array(names, dtype=object)})
    return path, "y"


def write_svmlight(folder, X, y, names):
    path = folder / "table.csv"
    dump_svmlight_file(X, (y == "ill") * 2 - 1, str(path), zero_based=False)
    return path, None


def write_arff(folder, X, y, names):
    path = folder / "table.arff"
    columns = [f"@ATTRIBUTE '{name}' NUMERIC" for name in names]
    lines = ["% a comment", "@RELATION test", *columns, "@attribute label {healthy, ill}", "@DATA"]
    lines += [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, "label"


def _arrow_table(X, y, names):
    import pyarrow

    columns = dict(zip(names, X.T, strict=True))
    return pyarrow.table({**columns, "label": pyarrow.array(y.tolist()).dictionary_encode()})


def write_parquet(folder, X, y, names):
    import pyarrow.parquet

    pyarrow.parquet.write_table(_arrow_table(X, y, names), folder / "table")
    return folder / "table", "label"


def write_feather(folder, X, y, names):
    import pyarrow.feather

    pyarrow.feather.write_feather(_arrow_table(X, y, names), str(folder / "table"))
    return folder / "table", "label"


def write_excel(folder, X, y, names):
    import openpyxl

    book = openpyxl.Workbook()
    for row in [[*names, "label"], *([*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True))]:
        book.active.append(row)
    with open(folder / "table", "wb") as file:
        book.save(file)
    return folder / "table", "label"


def write_mat73(folder, X, y, names):
    """As MATLAB does: column by column, texts in cells as references to codes."""
    import h5py

    path = folder / "table.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = X.T
        for name, texts in (("label", y), ("feature_names", names)):
            cells = file.create_dataset(name, (1, len(texts)), dtype=h5py.ref_dtype)
            cells.attrs["MATLAB_class"] = np.bytes_("cell")
            for index, text in enumerate(texts):
                code = file.create_dataset(f"#refs#/{name}{index}", data=np.array([[ord(c)] for c in text], dtype="u2"))
                cells[0, index] = code.ref
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))
    return path, "label"


def write_hdf5(folder, X, y, names):
    import h5py

    with h5py.File(folder / "table.h5", "w") as file:
        file["X"], file["y"], file["feature_names"] = X, y.tolist(), names
    return folder / "table.h5", "y"


def write_zarr(folder, X, y, names):
    import zarr

    group = zarr.open_group(str(folder / "table.zarr"), mode="w")
    group["X"], group["y"] = X, (y == "ill").astype(int)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*does not have a Zarr V3 specification")  # text, in some of its versions
        group["feature_names"] = np.array(names, dtype="U40")
    return folder / "table.zarr", "y"


def annotated(X, y, names, form):
    import anndata
    import pandas

    obs = pandas.DataFrame({"label": pandas.Categorical(y), "batch": 1}, index=[f"cell{i}" for i in range(len(y))])
    return anndata.AnnData(form(X), obs=obs, var=pandas.DataFrame(index=names))


def write_h5ad(folder, X, y, names, *, form=sparse.csr_matrix):
    annotated(X, y, names, form).write_h5ad(folder / "table.h5ad")
    return folder / "table.h5ad", "label"


def write_anndata_zarr(folder, X, y, names, *, form=sparse.csr_matrix):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about which version of Zarr will be written some day
        annotated(X, y, names, form).write_zarr(folder / "table.zarr")
    return folder / "table.zarr", "label"


CORE = {
    "CSV": partial(write_text, delimiter=","),
    "TSV": partial(write_text, delimiter="\t"),
    "semicolons": partial(write_text, delimiter=";"),
    "bars": partial(write_text, delimiter="|"),
    "blanks": partial(write_text, delimiter="  "),
    "gzipped CSV": write_gzip,
    "R": write_r_table,
    "no header": write_headless,
    "NPZ": write_npz,
    "NPY": write_npy,
    "sparse NPZ": write_sparse_npz,
    "MATLAB 5": write_mat5,
    "svmlight": write_svmlight,
    "ARFF": write_arff,
}
EXTRA = {
    "Parquet": (write_parquet, "pyarrow"),
    "Feather": (write_feather, "pyarrow"),
    "Excel": (write_excel, "openpyxl"),
    "MATLAB 7.3": (write_mat73, "h5py"),
    "HDF5": (write_hdf5, "h5py"),
    "Zarr": (write_zarr, "zarr"),
    "AnnData, sparse": (write_h5ad, "anndata"),
    "AnnData, dense": (partial(write_h5ad, form=np.array), "anndata"),
    "AnnData, CSC": (partial(write_h5ad, form=sparse.csc_matrix), "anndata"),
    "AnnData in Zarr": (write_anndata_zarr, "anndata"),
    "AnnData in Zarr, dense": (partial(write_anndata_zarr, form=np.array), "anndata"),
}
