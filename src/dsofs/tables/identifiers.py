"""Columns that say which sample it is, or when it was taken, and not what it is like: IDs of samples, dates."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from dsofs.design.linalg import dense
from dsofs.design.types import Floats, Ints
from dsofs.tables.columns import as_written, is_nameless, numbers_among, unique_names
from dsofs.tables.readers import Frame, Note

FEW = 10  # values that a real category may have, even if its column is named like an ID
# Samples of each category that make it more than a name: with fewer, the 60 % that a resample selects from hold fewer
# than two, and the weight of a category only memorises one sample.
SAMPLES_PER_CATEGORY = 3
IN_ORDER = 12  # samples: random numbers rise over this many samples in one of 12! = 479,001,600 columns

YES_OR_NO = 2  # values that a category named like a person may have: patient or control
# Share of samples whose ID another sample has too: fewer can hardly change an accuracy by more than 5 points.
LITTLE_REPEATED = 0.05

PERSON = r"(?:patient|subject|donor|participant|individual|proband)s?"
OWNER = rf"(?:samples?|specimens?|{PERSON})"
NUMBERED = r"(?:ids?|names?|number|num|no|nr|codes?|keys?|barcodes?)"
NAMED_LIKE_ID = re.compile(
    rf"(?:.*[_\W])?(?:id|ids|identifier|uuid|guid|barcode|accession|{OWNER})"
    rf"|(?:.*[_\W])?(?:{OWNER}|case|cell|obs|row)[_\W]*{NUMBERED}\W*"
    rf"|ids?[_\W]*{OWNER}|index",
    re.IGNORECASE,
)
NAMED_LIKE_PERSON = re.compile(rf"(?:.*[_\W])?{PERSON}(?:[_\W]*{NUMBERED}\W*)?|ids?[_\W]*{PERSON}", re.IGNORECASE)
NAMED_LIKE_BATCH = re.compile(
    rf"(?:.*[_\W])?(?:batch|batches|plate|lane|flow_?cell|scanner|run|operator|technician)(?:[_\W]*{NUMBERED}\W*)?",
    re.IGNORECASE,
)
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:z|[ap]\.?m\.?|[-+]\d{2}:?\d{2})?"
DATE_OR_TIME = re.compile(
    r"(?:(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})|\d{4}-(?:0[1-9]|1[0-2])"
    rf"|\d{{1,2}}[-. ]*{MONTH}[-, ]*(?:\d{{4}}|\d{{2}})|{MONTH}[- ]*\d{{1,2}},?[- ]+\d{{4}})(?:[t ]\s*{TIME})?|{TIME})",
    re.IGNORECASE,
)
# Of a name: as _v2 in P07_v2, -01A in TCGA-A1-A0SB-01A, b in 12b.
LAST_PART = re.compile(r"(?:[_\W]+[^_\W]+|(?<=\d)[A-Za-z])$")
HEAD = 12  # samples that are enough to see, for most columns, that numbers are not whole, or repeat
ROW_NAMES = "the row names"  # what a column without a name, or the format itself, calls the samples


@dataclass(frozen=True)
class SampleIds:
    """IDs of the samples, and the column they stand in."""

    values: np.ndarray  # text
    name: str | None = None  # of the column; None: row names
    column: int | None = None  # of the file; None where the format keeps them apart
    certain: bool = True  # whether they can be little else: text, row names, or a column called such as patient_id
    counts_rows: bool = False  # 0, 1, 2, ... or 1, 2, 3, ...: no more than the position

    @property
    def title(self) -> str:
        return ROW_NAMES if self.name is None else repr(self.name)

    @property
    def repeated(self) -> list[str]:
        values, counts = np.unique(self.values, return_counts=True)
        return [str(value) for value in values[(counts > 1) & (values != "")]]


def is_named_like_id(name: str) -> bool:
    return NAMED_LIKE_ID.fullmatch(name.strip()) is not None


def is_named_like_person(name: str) -> bool:
    """Whether a column seems to say whose sample it is, of which a person may have several."""
    return NAMED_LIKE_PERSON.fullmatch(name.strip()) is not None


def is_named_like_batch(name: str) -> bool:
    """Whether a column seems to say how a sample was measured, and not what it is like."""
    return NAMED_LIKE_BATCH.fullmatch(name.strip()) is not None


def as_text(values: np.ndarray) -> np.ndarray | None:
    """Texts, and whole numbers as text, with an empty one for what is missing; None where numbers are not whole."""
    if values.dtype.kind in "OU":
        return np.char.strip(values.astype(str))
    numbers = values.astype(np.float64)
    missing = np.isnan(numbers)
    if not np.array_equal(numbers[~missing], np.rint(numbers[~missing])):
        return None
    return np.array(["" if gap else f"{value:.0f}" for value, gap in zip(numbers, missing, strict=True)], dtype=str)


def differ(texts: np.ndarray) -> bool:
    """Whether each sample has a value, and another one."""
    return bool(len(np.unique(texts)) == len(texts) and (texts != "").all())


def looks_like_identifier(texts: np.ndarray) -> bool:
    """Whether most samples have a value of their own, or there are too few samples of each value to learn from."""
    present = texts[texts != ""]
    values, counts = np.unique(present, return_counts=True)
    alone = int(np.sum(counts == 1))
    return 2 * alone > len(present) or len(values) > max(FEW, len(present) / SAMPLES_PER_CATEGORY)


def holds_dates(texts: np.ndarray) -> bool:
    """Whether most values are dates or times."""
    present = texts[texts != ""]
    return 2 * sum(DATE_OR_TIME.fullmatch(text) is not None for text in present) > len(present)


def counts_rows(values: np.ndarray) -> bool:
    """Whether numbers, or texts of them, are 0, 1, 2, ... or 1, 2, 3, ..."""
    rows = np.arange(len(values) + 1).astype(str if values.dtype.kind in "OU" else np.float64)
    return np.array_equal(values, rows[:-1]) or np.array_equal(values, rows[1:])


def in_row_order(values: Floats) -> bool:
    """Whether whole numbers rise, or fall, from each sample to the next, as an ID or a row number does."""
    rising, falling = values[1:] > values[:-1], values[1:] < values[:-1]
    return len(values) >= IN_ORDER and as_text(values) is not None and bool(rising.all() or falling.all())


def columns_in_row_order(frame: Frame, columns: Ints) -> list[int]:
    """Columns of numbers for which ``in_row_order`` could be true, judged by their first samples."""
    if frame.n_samples < IN_ORDER:
        return []
    head = dense(frame.numbers[:IN_ORDER][:, np.searchsorted(frame.numeric, columns)])
    rising, falling = (head[1:] > head[:-1]).all(axis=0), (head[1:] < head[:-1]).all(axis=0)
    return [int(index) for index in columns[rising | falling]]


def no_feature(name: str, values: np.ndarray) -> Note | None:
    """Why a column cannot be a feature, or None if it can."""
    texts, is_text = as_text(values), values.dtype.kind in "OU"
    if texts is None:
        return None
    if is_text and holds_dates(texts):
        date = str(next(text for text in texts if text))
        return Note("dates", f"{name!r} holds dates or times ({date!r}): left out; --keep {name!r} makes it categories")
    present = texts[texts != ""]
    n_values = len(np.unique(present))
    few = YES_OR_NO if is_named_like_person(name) else FEW
    by_name = is_named_like_id(name) and (n_values > few or n_values == len(present))
    if by_name or (is_text and not numbers_among(texts) and looks_like_identifier(texts)):
        found = f"{name!r} looks like an identifier ({n_values} values in {len(present)} samples): left out"
        # Samples of one value would stand on both sides of a split.
        belong = f"; if its samples belong together, give it as --sample-groups {name!r}"
        repeats = shared(present) > (LITTLE_REPEATED if by_name else 0.5)
        text = f"{found}{belong * (n_values < len(present))}; --keep {name!r} makes it a feature"
        return Note("identifier", text, groups=name if repeats else None)
    if not is_text and in_row_order(values):
        found = f"{name!r} holds whole numbers in the order of the rows, as an ID or a row number does: left out"
        return Note("identifier", f"{found}; --keep {name!r} makes it a feature")
    return None


def shared(texts: np.ndarray) -> float:
    """The share of samples that have the same text as another one."""
    _, counts = np.unique(texts, return_counts=True)
    return 1 - float(np.sum(counts == 1)) / max(len(texts), 1)


def named_alike(names: np.ndarray, y: np.ndarray) -> list[Note]:
    """A note if samples seem to be named after a person and a visit or tissue, as P07_v1 and P07_v2.

    Then there are more beginnings of names than endings; where samples are numbered (tumour_1, ...) there are fewer. If
    every class has a beginning of its own, it stands for the class.
    """
    texts = [str(name) for name in names]
    starts: list[str] = []
    shorter = texts
    while shorter != starts and len(set(shorter)) > FEW:
        starts = shorter
        n_endings = len({text[len(start) :] for text, start in zip(texts, starts, strict=True)})
        if n_endings < len(set(starts)) and shared(np.array(starts)) > LITTLE_REPEATED:
            of_classes = len(set(zip(starts, y.tolist(), strict=True))) == len(np.unique(y))
            return [] if of_classes else [_alike(texts, starts)]
        shorter = [LAST_PART.sub("", start) for start in starts]
    return []


def _alike(names: list[str], starts: list[str]) -> Note:
    values, counts = np.unique(starts, return_counts=True)
    person = values[counts > 1][0]
    first, second = [name for name, start in zip(names, starts, strict=True) if start == person][:2]
    found = f"samples are named alike but for the end, as {first!r} and {second!r}: if such samples belong together"
    text = f"{found}, add a column that says so ({str(person)!r} for both) and give it as --sample-groups"
    return Note("identifier", text, groups="name but for its end")


def persons_apart(frame: Frame, target: str) -> list[Note]:
    """Notes on persons with several samples, where the format keeps them apart from the columns (AnnData's obs)."""
    notes = []
    for name, values in frame.labels.items():
        texts = as_text(values) if name != target and is_named_like_person(name) else None
        if texts is not None and len(np.unique(texts)) > YES_OR_NO and shared(texts[texts != ""]) > LITTLE_REPEATED:
            found = f"{name!r} has {len(np.unique(texts))} values in {len(texts)} samples"
            text = f"{found}: if those of one value belong together, give it as --sample-groups {name!r}"
            notes.append(Note("identifier", text, groups=name))
    return notes


def sample_ids(frame: Frame, label: str | int | None) -> SampleIds | None:
    """The IDs of the samples where a file has some: row names, else a column named like an ID, else one of texts."""
    found = [ids for ids in certain_ids(frame, label) if differ(ids.values)]
    return min(found, key=lambda ids: ids.name is not None and 1 + (not is_named_like_id(ids.name)), default=None)


def certain_ids(frame: Frame, label: str | int | None) -> list[SampleIds]:
    """Columns that can be little else than IDs, but for the label: its position, or its name where it is kept apart."""
    return [ids for ids in _candidates(frame, label) if ids.certain]


def possible_ids(frame: Frame, label: str | int | None) -> list[SampleIds]:
    """Those, and all other columns of whole numbers or text that differ in each sample."""
    names, found = unique_names(frame)[0], _candidates(frame, label)
    taken = {ids.column for ids in found}
    ordered = np.sort(dense(frame.numbers[:HEAD]), axis=0)
    distinct = ((ordered[1:] != ordered[:-1]) & (ordered[1:] == np.rint(ordered[1:]))).all(axis=0)
    for index in map(int, frame.numeric[distinct]):
        values = as_written(frame, index)
        if index in taken or index == label or len(np.unique(values)) < len(values):
            continue
        if (texts := as_text(values)) is not None and differ(texts):
            title = None if is_nameless(frame, index) else names[index]
            found.append(SampleIds(texts, title, index, certain=False, counts_rows=counts_rows(values)))
    return found


def _candidates(frame: Frame, label: str | int | None) -> list[SampleIds]:
    """Names that the format has for the samples, columns of text, and of numbers that are named like an ID."""
    names = unique_names(frame)[0]
    numbers = [index for index in frame.numeric if is_named_like_id(names[index]) or _is_row_names(frame, index)]
    columns = [index for index in sorted([*frame.text, *numbers]) if index != label]
    found = [_ids(frame, name, None, values) for name, values in frame.labels.items() if name != label]
    found += [_ids(frame, names[index], index, as_written(frame, index)) for index in columns]
    return [ids for ids in (_kept_apart(frame), *found) if ids is not None]


def _kept_apart(frame: Frame) -> SampleIds | None:
    """Names that the format has for the samples; AnnData numbers them where they were given none."""
    if frame.sample_names is None:
        return None
    values = np.array(frame.sample_names, dtype=str)
    counting = counts_rows(values)
    return SampleIds(values, certain=not counting, counts_rows=counting)


def _ids(frame: Frame, name: str, column: int | None, values: np.ndarray) -> SampleIds | None:
    texts = as_text(values)
    if texts is None or holds_dates(texts) or not looks_like_identifier(texts):
        return None
    is_text, is_row_names = values.dtype.kind in "OU", column is not None and _is_row_names(frame, column)
    counting = counts_rows(values)
    certain = is_named_like_id(name) or (is_row_names and not counting) or (is_text and not numbers_among(texts))
    if not certain and not differ(texts):
        return None
    return SampleIds(texts, None if is_row_names else name, column, certain, counting)


def _is_row_names(frame: Frame, index: int) -> bool:
    return index == 0 and is_nameless(frame, 0)
