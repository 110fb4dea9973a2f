import numpy as np
import pytest

from dsofs.design.backends.chunked import Piece, product
from dsofs.design.backends.dask_blocks import DaskArray, parts_within
from dsofs.design.budget import Budget

TINY = Budget(block=8)  # so that a piece is a block


def test_a_task_has_few_blocks_however_few_of_their_rows_it_needs():
    """A worker held all blocks at once where a few samples of each were asked for."""
    array = pytest.importorskip("dask.array")
    X = DaskArray(array.zeros((1000, 5), chunks=(100, 5)))
    rows = np.array([3, 4, 105, 350, 351, 399, 998])
    pieces = X.bands(rows, 2, TINY)
    assert [rows[piece].tolist() for piece in pieces] == [[3, 4], [105], [350, 351, 399], [998]]
    assert X.bands(np.arange(1000), 2, TINY) == [slice(k, k + 100) for k in range(0, 1000, 100)]


def test_parts_cover_the_index_in_order():
    pieces = [slice(0, 4), slice(4, 5), slice(5, 9)]
    assert parts_within(pieces, np.array([0, 3, 6])) == [slice(0, 2), slice(2, 3)]
    assert parts_within(pieces, np.arange(9)) == pieces
    assert parts_within(pieces, np.empty(0, dtype=np.intp)) == []


@pytest.mark.parametrize("rows", [np.arange(10, 30), np.array([11, 12, 29]), np.arange(40)])
def test_what_is_taken_from_blocks(rows):
    array = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(40, 6))
    blocks, columns, W = DaskArray(array.from_array(X, chunks=(15, 4))), np.array([0, 1, 5]), np.ones((3, 2))
    results, _ = blocks.run(product, [Piece(rows[piece], columns, (W,)) for piece in blocks.bands(rows, 3, TINY)])
    np.testing.assert_allclose(np.concatenate(results), X[np.ix_(rows, columns)] @ W)
