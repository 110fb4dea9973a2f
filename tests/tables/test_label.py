"""Sample IDs decide which label belongs to which sample; what does not match is refused."""

import numpy as np
import pytest

from dsofs.tables.labelled import read_labelled
from tests.tables.tables import small_problem, write_h5ad

LABELS = ["u", "u", "v", "v", "v"]
NAMES = ["a1", "a2", "a3", "a4", "a5"]
NUMBERS = ["1.5,7", "2.5,8", "3.5,7", "4.5,9", "5.5,8"]


@pytest.fixture
def pair(tmp_path):
    """A table of genes with or without IDs, and its labels in another order."""

    def write(ids, label_lines, header="sample,g,h"):
        rows = NUMBERS if ids is None else [f"{name},{row}" for name, row in zip(ids, NUMBERS, strict=True)]
        header = "g,h" if ids is None else header
        (tmp_path / "genes.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
        (tmp_path / "labels.csv").write_text("\n".join([*label_lines, ""]), encoding="utf-8")
        return tmp_path / "genes.csv", tmp_path / "labels.csv"

    return write


def shuffled(names, labels=LABELS):
    return [f"{names[i]},{labels[i]}" for i in (3, 0, 4, 2, 1)]


def read(files, target=None, **options):
    return read_labelled(files[0], target, target_file=files[1], **options)


def refused(files, target=None):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the callers look at the text
        read(files, target)
    return str(caught.value)


def notes(table):
    return {note.kind: note.text for note in table.notes}


@pytest.mark.parametrize("header", ["sample,g,h", ",g,h", "who,g,h"])
@pytest.mark.parametrize("label_header", ["sample,class", "key,class", ",class"])
def test_labels_in_a_second_file_are_joined_by_id(pair, header, label_header):
    table = read(pair(NAMES, [label_header, *shuffled(NAMES)], header))
    assert table.y.tolist() == LABELS
    assert table.sample_names == tuple(NAMES)
    assert table.names == ["g", "h"]
    own, their = (repr(text.split(",")[0]) if text[0] != "," else "the row names" for text in (header, label_header))
    expected = f"{own} of 'genes.csv' with {their} of 'labels.csv', where the label is 'class'"
    assert notes(table)["sample IDs"] == f"labels were joined by sample ID: {expected}"


@pytest.mark.parametrize(
    "names", [["901", "17", "350", "44", "8"], ["8", "17", "44", "350", "901"], ["7", "7b", "8", "19", "x"]]
)
@pytest.mark.parametrize("header", ["patient_id,g,h", ",g,h", "nr,g,h"])
def test_whole_numbers_are_ids_too(pair, names, header):
    table = read(pair(names, ["number,class", *shuffled(names)], header))
    assert table.y.tolist() == LABELS
    assert table.names == ["g", "h"]


def test_the_columns_that_match_best_are_taken(pair):
    lines = [f"{row % 2},x{row},{line}" for row, line in enumerate(shuffled(NAMES))]
    table = read(pair(NAMES, ["batch,tube,sample,class", *lines]), "class")
    assert table.y.tolist() == LABELS
    numbered = [f"{row},{line}" for row, line in enumerate(shuffled(NAMES))]  # as pandas numbers the rows
    files = pair([f"{row},{name}" for row, name in enumerate(NAMES)], [",sample,class", *numbered], ",sample,g,h")
    assert read(files).y.tolist() == LABELS


def test_labels_without_a_sample_are_dropped_and_counted(pair):
    table = read(pair(NAMES, ["sample,class", "b7,u", *shuffled(NAMES), "b8,w"]))
    assert table.y.tolist() == LABELS
    text = "2 labels of 'labels.csv' without a sample in 'genes.csv' were dropped: 'b7', 'b8'"
    assert notes(table)["labels without a sample"] == text


def test_samples_without_a_label_are_refused(pair):
    message = refused(pair(NAMES, ["sample,class", *shuffled(NAMES)[:3], "b7,u", "b8,v"]))
    assert message.startswith("2 of the 5 samples have no label in 'labels.csv': 'a2', 'a3'.")
    others = [f"x{name}" for name in NAMES]
    message = refused(pair(NAMES, ["sample,class", *shuffled(others)]))
    assert message.startswith("5 of the 5 samples have no label in 'labels.csv': 'a1', 'a2'")
    assert "compared in 'sample' of 'genes.csv' with 'sample' of 'labels.csv' ('xa4', 'xa1'" in message
    assert "first line of that file was taken for its header" in refused(pair(NAMES, shuffled(NAMES)))


def test_ids_that_repeat_are_refused(pair):
    message = refused(pair(NAMES, ["sample,class", *shuffled(NAMES), "a2,v"]))
    assert "IDs in 'sample' of 'labels.csv' must differ, and 'a2' is there more than once" in message
    message = refused(pair(["a1", "a2", "a3", "a4", "a4"], ["sample,class", *shuffled(NAMES)]))
    assert "IDs in 'sample' of 'genes.csv' must differ, and 'a4' is there more than once" in message


def test_without_ids_labels_go_by_position_and_a_note_says_so(pair):
    table = read(pair(None, ["sample,class", *map(",".join, zip(NAMES, LABELS, strict=True))]))
    assert table.y.tolist() == LABELS
    assert table.sample_names is None
    text = "labels of 'labels.csv' were given to the samples in their order, since"
    missing = "has no column of sample IDs; the label is 'class'"
    assert notes(table)["paired by position"] == f"{text} 'genes.csv' {missing}"
    table = read(pair(NAMES, LABELS))
    assert notes(table)["paired by position"] == f"{text} it holds labels alone"
    assert table.sample_names == tuple(NAMES)
    table = read(pair(NAMES, ["class,sex", *(f"{label},{'mf'[label == 'u']}" for label in LABELS)]), "class")
    assert notes(table)["paired by position"] == f"{text} 'labels.csv' {missing}"
    assert "holds 4 labels, and there are 5 samples" in refused(pair(NAMES, LABELS[1:]))


def test_numbers_of_rows_alone_do_not_join(pair):
    """They say no more than the position, and where the counts differ nothing says which rows are missing."""
    numbers = list(map(str, range(5)))
    rows = [f"{row},{label}" for row, label in enumerate(LABELS)]
    table = read(pair(numbers, [",class", *rows], ",g,h"))
    assert "paired by position" in notes(table)
    assert "holds 6 labels, and there are 5 samples" in refused(pair(numbers, [",class", *rows, "5,v"], ",g,h"))


def test_ids_that_are_dropped_still_join(pair):
    table = read(pair(NAMES, ["sample,class", *shuffled(NAMES)]), drop=["sample"])
    assert table.y.tolist() == LABELS


def test_names_of_cells_stay_with_the_samples(tmp_path):
    pytest.importorskip("anndata", reason="anndata is not installed")
    X, y, names = small_problem()
    path, target = write_h5ad(tmp_path, X, y, names)
    cells = [f"cell{index}" for index in range(len(y))]
    table = read_labelled(path, target)
    assert table.sample_names == tuple(cells)
    lines = [f"{cell},{label}" for cell, label in zip(cells[::-1], y[::-1], strict=True)]
    (tmp_path / "labels.csv").write_text("\n".join(["cell,class", *lines]), encoding="utf-8")
    joined = read_labelled(path, target_file=tmp_path / "labels.csv")
    assert joined.y.tolist() == y.tolist()
    assert "the row names of 'table.h5ad' with 'cell' of 'labels.csv'" in notes(joined)["sample IDs"]


def test_cells_that_are_only_numbered_have_no_ids(tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y, _ = small_problem()
    obs = pandas.DataFrame({"label": y}, index=list(map(str, range(len(y)))))
    anndata.AnnData(X, obs=obs).write_h5ad(tmp_path / "t.h5ad")
    assert read_labelled(tmp_path / "t.h5ad", "label").sample_names is None
    (tmp_path / "labels.csv").write_text(
        "\n".join(["tube,class", *(f"t{row},{label}" for row, label in enumerate(y))]), encoding="utf-8"
    )
    table = read_labelled(tmp_path / "t.h5ad", target_file=tmp_path / "labels.csv")
    assert "'t.h5ad' has no column of sample IDs" in notes(table)["paired by position"]


def test_names_in_an_array_of_their_own(tmp_path):
    X, y, _ = small_problem()
    cells = [f"cell{index}" for index in range(len(y))]
    np.savez(tmp_path / "t.npz", X=X, diagnosis=y, sample_names=np.array(cells))
    table = read_labelled(tmp_path / "t.npz")
    assert (table.target, table.sample_names) == ("diagnosis", tuple(cells))
    (tmp_path / "labels.csv").write_text(
        "\n".join(["key,class", *(f"{cells[i]},{y[i]}" for i in range(len(y))[::-1])]), encoding="utf-8"
    )
    table = read_labelled(tmp_path / "t.npz", target_file=tmp_path / "labels.csv")
    assert table.y.tolist() == y.tolist()


def test_names_of_columns_of_ids():
    from dsofs.tables.identifiers import is_named_like_id

    for name in (
        "id", "ID", "Id", "sample", "Samples", "sample_id", "SampleID", "patient", "Patient ID", "patient.no",
        "subject", "bcr_patient_barcode", "geo_accession", "donor_id", "cell_barcode", "sample_names", "obs_names",
        "id_sample", "index", "row.names",
    ):  # fmt: skip
        assert is_named_like_id(name), name
    for name in ("ID1", "ID2", "covid", "age", "g1", "SUBJ", "idh1", "cell", "valid", "width", "case", "row", "g id 3"):
        assert not is_named_like_id(name), name


@pytest.mark.parametrize("target", [None, "class"])
def test_a_table_with_features_in_rows_is_refused_as_such(tmp_path, target):
    rows = [f"g{index},{','.join(str(index * sample % 7) for sample in range(5))}" for index in range(12)]
    (tmp_path / "genes.csv").write_text("\n".join(["gene," + ",".join(NAMES), *rows]), encoding="utf-8")
    (tmp_path / "labels.csv").write_text("\n".join(["sample,class", *shuffled(NAMES)]), encoding="utf-8")
    message = refused((tmp_path / "genes.csv", tmp_path / "labels.csv"), target)
    assert message.startswith("The samples of 'labels.csv' are the columns of 'genes.csv' ('a4', 'a1', ")
    assert message.endswith("One sample per row is needed: transpose the table.")
