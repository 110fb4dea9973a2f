"""svmlight / libsvm: a label, then index:value pairs; what is not there is zero."""

from __future__ import annotations

import re

import numpy as np

from dsofs.files import DamagedFileError
from dsofs.tables.readers.frame import Frame
from dsofs.tables.readers.numbers import LARGEST_EXACT
from dsofs.tables.readers.source import InputFile, refuse_too_wide

NUMBER = rb"(?:[-+.\deE]+|[-+]?(?i:nan|inf))"
LABEL = NUMBER + rb"(?:[ \t]+qid:\d+)?"
NO_PAIR = rb"(?:(?:" + LABEL + rb")?[ \t]*(?:#[^\n]*)?\r?\n)*"  # samples of zeros, comments and empty lines
PAIRS = rb"(?:[ \t]+\d+:" + NUMBER + rb")+"
END = rb"[ \t]*(?:#|\r?\n|$)|[ \t]+[\d:][-+.\deEnaifNAIF:]*$"  # of a line, or of the beginning of a long one
FIRST_PAIRS = re.compile(NO_PAIR + rb"[ \t]*" + LABEL + PAIRS + rb"(?:" + END + rb")")


def matches(head: bytes) -> bool:
    """Whether the first line with more than a label is a label and pairs; of a long line the beginning is known."""
    return FIRST_PAIRS.match(head) is not None


def read(source: InputFile) -> Frame:
    """Columns are called by their index as it is written, so that a file that lacks the last ones fits another."""
    from sklearn.datasets import load_svmlight_file  # takes a second, and readers of other files do without

    with source.open() as stream:
        try:
            X, y = load_svmlight_file(stream, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise DamagedFileError(f"it is not an svmlight file, though it begins like one: {error}") from error
    refuse_too_wide(X.shape[1], X.nnz)
    start = 0 if (X.indices == 0).any() else 1  # most files count from 1
    X = X[:, start:].tocsr()
    columns = np.arange(X.shape[1])
    names = tuple(map(str, columns + start))
    labels = y.astype(np.int64) if (y == np.rint(y)).all() and (np.abs(y) < LARGEST_EXACT).all() else y
    return Frame("svmlight", X, columns, names=names, labels={"y": labels}, open_ended=True)
