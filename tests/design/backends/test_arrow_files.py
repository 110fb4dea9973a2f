"""What is read of a dataset of Arrow, and what is refused."""

import numpy as np
import pytest

from dsofs import DSOSelector
from dsofs.design import Budget, moments
from dsofs.design.backends import in_chunks
from dsofs.design.backends.arrow_files import READER, ArrowFiles

pyarrow = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

COLUMN = 8 * 10 + 2  # bytes of a column in a row group of ten: its numbers, and a bit for each that says it is there


def stored(folder, **columns):
    parquet.write_table(pyarrow.table(columns), folder / "X.parquet", row_group_size=10)
    return dataset.dataset(folder / "X.parquet")


@pytest.fixture
def X(tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 60))
    return stored(tmp_path, **{f"f{column}": values[:, column] for column in range(60)})


def test_only_the_columns_and_row_groups_of_a_piece_are_read(X):
    files = in_chunks(X)
    assert isinstance(files, ArrowFiles)
    assert files.read(np.array([3, 5]), np.array([7, 40])).shape == (2, 2)
    assert files.bytes_read == COLUMN * 2


def test_pieces_are_no_larger_than_the_budget_allows(X, monkeypatch):
    sizes, read = [], ArrowFiles.read

    def noting(self, rows, columns):
        sizes.append(len(rows) * len(columns))
        return read(self, rows, columns)

    monkeypatch.setattr(ArrowFiles, "read", noting)
    files = ArrowFiles(X)
    block = 6 * (8 * 20 + READER)
    moments(files, budget=Budget(block=block, tall_block=block))
    assert sizes == [20 * 6] * 10
    assert files.bytes_read == COLUMN * 2 * 60


def test_names_of_the_schema_are_those_of_the_features(X):
    y = np.arange(20) % 2
    fitted = DSOSelector(5).fit(X, y)
    assert list(fitted.feature_names_in_) == X.schema.names
    other = X.replace_schema(pyarrow.schema([X.schema.field(place) for place in reversed(range(60))]))
    with pytest.raises(ValueError, match="same order"):
        fitted.transform(other)


def test_text_and_nulls_are_refused_by_name(tmp_path):
    y = [0, 1, 0, 1]
    numbers, colours, holes = [1.0, 2.0, 3.0, 5.0], ["red", "blue", "red", "red"], [1, None, 3, 4]
    with pytest.raises(ValueError, match=r"column 'colour' holds string values\. Encode it, or leave it out"):
        DSOSelector(1).fit(stored(tmp_path, size=numbers, colour=colours), y)
    with pytest.raises(ValueError, match=r"NaN: column 'age', row 1 .* Impute them or leave those columns out"):
        DSOSelector(1).fit(stored(tmp_path, size=numbers, age=holes), y)
