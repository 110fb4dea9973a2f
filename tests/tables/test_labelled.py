import os
import sys
from pathlib import Path

import numpy as np
import pytest

from dsofs.tables.labelled import read_labelled
from tests.tables.tables import csv_lines, small_problem


@pytest.fixture
def write(tmp_path):
    def to_file(content, name="table.csv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return to_file


def kinds(table):
    return [note.kind for note in table.notes]


def refused(path, target="y", **options):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the callers look at the text
        read_labelled(path, target, **options)
    return str(caught.value)


ROWS = "1,5,u\n2,6,u\n3,4,v\n4,5,v\n"


def test_label_by_name_position_and_file(write):
    path = write("a,b,y\n" + ROWS)
    for target in ("y", 2, "2", -1, "-1"):
        table = read_labelled(path, target)
        assert table.names == ["a", "b"]
        assert table.y.tolist() == ["u", "u", "v", "v"]
        assert table.target_position == 2
    for labels in ("y\nu\nu\nv\nv\n", "u\nu\nv\nv"):
        table = read_labelled(write("a,b\n1,5\n2,6\n3,4\n4,5\n"), target_file=write(labels, "labels.txt"))
        assert table.y.tolist() == ["u", "u", "v", "v"]
    path = write("a,b,y\n" + ROWS)
    other = write("id,y,age\np,u,1.5\nq,u,2\nr,v,3\ns,v,4\n", "labels.csv")
    assert read_labelled(path, "y", target_file=other, drop=["y"]).y.tolist() == ["u", "u", "v", "v"]
    assert "holds 2 columns: say which" in refused(path, None, target_file=other)
    assert "holds 3 labels, and there are 4 samples" in refused(path, None, target_file=write("u\nv\nv", "l.txt"))


TABLE = "a,b\n1,5\n2,6\n3,4\n4,5\n"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("carcinoma, squamous\nill\nill\ncarcinoma, squamous\n", ["carcinoma, squamous", "ill"]),
        ('"carcinoma, squamous"\n"ill"\n"ill"\n"carcinoma, squamous"\n', ["carcinoma, squamous", "ill"]),
        ("what\nhigh risk\nlow risk\nhigh risk\nlow risk\n", ["high risk", "low risk"]),
        ("not ill\nill\nvery ill\nill\n", ["ill", "not ill", "very ill"]),
        ('"label"\n"1" "u"\n"2" "u"\n"3" "v"\n"4" "v"\n', ["u", "v"]),  # as R's write.table does
        ("label\n1\tu\n2\tu\n3\tv\n4\tv\n", ["u", "v"]),
        (",label\n0,u\n1,u\n2,v\n3,v\n", ["u", "v"]),  # as pandas does
        ("who what\ns1 u\ns2 u\ns3 v\ns4 v\n", ["u", "v"]),
        ("1\n2.0\n1\n2\n", [1, 2]),
    ],
)
def test_files_of_labels(write, labels, expected):
    table = read_labelled(write(TABLE), target_file=write(labels, "labels.txt"))
    assert np.unique(table.y).tolist() == expected


def test_files_of_what_are_no_labels(write):
    path = write(TABLE)
    for labels, words in (
        ("u\nNA\nv\nv\n", "missing in 1 of 4 samples, first in sample 2"),
        ("1\n1\n?\n2\n", "missing in 1 of 4 samples, first in sample 3"),
        ("0.5\n1\n1\n0.5\n", "not whole (0.5)"),
        ("1\n1\ninf\n2\n", "not whole (inf)"),
        ("u,1\nv,1\nv,2\nu,2\n", "holds 2 columns: say which"),
        ("", "labels.txt' cannot be used: it is empty"),
    ):
        assert words in refused(path, None, target_file=write(labels, "labels.txt"))


@pytest.mark.parametrize("header", ["", "label\n"])
def test_an_empty_line_among_labels_is_one_that_is_missing(write, header):
    """Passed over, it would move the labels of all samples after it."""
    path = write("a,b\n1,5\n2,6\n3,4\n4,5\n")
    assert "missing in 1 of 4 samples" in refused(path, None, target_file=write(f"{header}u\n\nv\nv\n", "labels.txt"))
    assert read_labelled(path, target_file=write(f"{header}u\nu\nv\nv\n\n", "labels.txt")).y.tolist() == list("uuvv")


def test_labels_in_files_of_numpy(write, tmp_path):
    path = write(TABLE)
    np.save(tmp_path / "y.npy", np.array([0, 0, 1, 1]))
    np.savez(tmp_path / "y.npz", y=np.array([b"u", b"u", b"v", b"v"]))
    assert read_labelled(path, target_file=tmp_path / "y.npy").y.tolist() == [0, 0, 1, 1]
    assert read_labelled(path, target_file=tmp_path / "y.npz").y.tolist() == ["u", "u", "v", "v"]
    np.save(tmp_path / "y.npy", np.arange(8).reshape(4, 2) // 4)
    assert "holds 2 columns" in refused(path, None, target_file=tmp_path / "y.npy")
    assert read_labelled(path, 1, target_file=tmp_path / "y.npy").y.tolist() == [0, 0, 1, 1]


def test_a_column_named_like_a_position_goes_by_its_name(write):
    table = read_labelled(write("1,y,2\n5,u,7\n5,u,8\n1,v,9\n1,v,9\n"), "1")
    assert (table.target, table.target_position) == ("1", 0)


def test_what_is_no_label(write):
    path = write("a,b,y,who,size,same\n" + "".join(f"{i},{i % 2},{i % 2},p{i},{i / 2},k\n" for i in range(6)))
    assert "no column 'z' for 'target'; there are 6: 'a'" in refused(path, "z")
    assert "did you mean 'size'?" in refused(path, "sizes")
    assert "looks like an identifier" in refused(path, "who")
    assert "looks like an identifier" in refused(path, "a")
    assert "not whole (0.5)" in refused(path, "size")
    assert "two classes are needed" in refused(path, "same")
    assert "Say which column" in refused(path, None)
    assert "missing in 2 of 4 samples, first in sample 2" in refused(write("a,y\n1,u\n2,\n3,NA\n4,v\n"))


def test_notes_on_the_label(write):
    assert kinds(read_labelled(write("a,y\n1,0\n2,0\n1,1\n3,1\n2,2\n"), "y")) == ["many classes", "small classes"]
    assert kinds(read_labelled(write("a,y\n1,0\n2,0\n1,1\n3,1\n2,1\n"), "y")) == []


def lines_of(labels):
    return "a,y\n" + "".join(f"{index * 7 % 5},{label}\n" for index, label in enumerate(labels))


def test_classes_that_differ_in_capitals_or_blanks_only(write, tmp_path):
    message = refused(write(lines_of(["Normal", *["normal"] * 3, *["ill"] * 3])))
    assert "holds 'Normal' (1 of 7 samples) and 'normal' (3 of 7 samples), which differ in capitals" in message
    assert "did you mean 'normal'?" in message
    np.savez(tmp_path / "t.npz", X=np.eye(6), y=np.array(["ill", "ill ", "ill", "no", "no", "no"]))
    assert "'ill' (2 of 6 samples) and 'ill ' (1 of 6 samples)" in refused(tmp_path / "t.npz")
    assert kinds(read_labelled(write(lines_of("aabbAABB")), "y")) == ["similar classes"]  # alleles, or letters


def test_a_class_that_may_be_misspelt(write):
    table = read_labelled(write(lines_of([*["tumour"] * 3, "tumuor", *["normal"] * 3])), "y")
    assert "'tumuor' is for one sample only: did you mean 'tumour'?" in [note.text for note in table.notes]
    table = read_labelled(write(lines_of([*["type 1"] * 3, "type 2", *["normal"] * 3])), "y")
    assert kinds(table) == ["small classes"]


def test_a_whole_number_target_with_many_values(write):
    message = refused(write(lines_of([30 + index % 29 for index in range(60)])))
    assert message.startswith(
        "The label 'y' holds 29 whole numbers from 30 to 58 for 60 samples, and looks like a meas"
    )
    ages = [30 + 2 * (index % 15) for index in range(60)]
    table = read_labelled(write(lines_of(ages)), "y")
    assert [note.text for note in table.notes] == [
        "the label 'y' holds 15 whole numbers from 30 to 58, each taken for a class: if it is a measurement, cut it "
        "into a few classes, such as low and high"
    ]
    assert kinds(read_labelled(write(lines_of([1 + index % 15 for index in range(60)])), "y")) == []  # codes of classes


def test_sample_groups_that_follow_from_the_target_are_refused(write):
    rows = "".join(f"{index % 5},{'pqr'[index // 4]},{'uvw'[index // 4]},{index // 8}\n" for index in range(12))
    path = write(f"a,who,y,half\n{rows}")
    for groups in ("y", "who", "half"):
        message = refused(path, sample_groups=groups)
        assert message.startswith(f"The 'sample_groups' {groups!r} must not follow from the label: all samples of each")
        assert "no class could be both learned and tested" in message


def test_duplicate_names_are_made_unique_and_refused_where_ambiguous(write):
    path = write("a,a,a.1,y\n1,2,3,u\n2,2,1,u\n4,1,5,v\n1,3,1,v\n")
    table = read_labelled(path, "y")
    assert table.names == ["a", "a.2", "a.1"]
    assert kinds(table) == ["duplicate names"]
    for options in ({"target": "a"}, {"target": "y", "drop": ["a"]}):
        assert "2 columns are called 'a'" in refused(path, **options)
    assert read_labelled(path, "y", drop=[1]).names == ["a", "a.1"]


def test_names_that_were_given_can_be_used(write):
    path = write("a,a,,y\n1,2,3,u\n2,2,1,u\n4,1,5,v\n1,3,1,v\n")
    assert read_labelled(path, "y").names == ["a", "a.1", "column_2"]
    assert read_labelled(path, "y", drop=["a.1", "column_2"]).names == ["a"]
    assert read_labelled(write("1.5,2,u\n2,3,u\n1,4,v\n1,1,v\n"), "feature_2").names == ["feature_0", "feature_1"]


def test_categories_are_one_block_in_the_place_of_their_column(write):
    path = write("a,colour,b,y\n1,red,4,u\n2,blue,3,u\n3,red,2,v\n4,green,3,v\n")
    table = read_labelled(path, "y")
    assert table.names == ["a", "colour=blue", "colour=green", "colour=red", "b"]
    np.testing.assert_array_equal(table.X[:, 1:4], [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    groups = table.feature_groups
    assert groups[1] == groups[2] == groups[3]
    assert len(set(groups)) == 3
    with_file = read_labelled(path, "y", feature_groups=write("feature,group\na,g\nb,g\n", "groups.csv"))
    assert with_file.feature_groups[0] == with_file.feature_groups[4] != with_file.feature_groups[1]
    assert "names 'c', which is not among the features" in refused(path, feature_groups=write("c,g\n", "groups.csv"))
    assert "must have lines" in refused(path, feature_groups=write("c\n", "groups.csv"))
    marked = read_labelled(path, "y", feature_groups=write("\ufeffa,g\nb,g\n", "groups.csv"))  # as spreadsheets write
    assert marked.feature_groups.tolist() == with_file.feature_groups.tolist()


def test_what_is_left_out_and_said(write):
    path = write(",id,a,flat,copy,y,\n" + "".join(f"{i},p{i},{i * i % 5},7,{'st'[i % 2]},{i % 2},\n" for i in range(6)))
    table = read_labelled(path, "y")
    assert table.names == ["a", "flat", "copy=s", "copy=t"]
    assert sorted(kinds(table)) == [
        "categories", "constant columns", "empty columns", "identifier", "leaking columns", "row numbers",
    ]  # fmt: skip
    assert any("'copy' gives the label 'y' away" in note.text for note in table.notes)


def test_mixed_columns_and_decimal_commas(write):
    message = refused(write("a,y\n1,u\n2,u\n3,v\noops,v\n"))
    assert message == "Column 'a' mixes numbers and text ('oops' in sample 4): correct it, or leave it out (--drop)."
    for cells in (["1,500", "2", "3", "1,500"], ["1,234,567.8", "", "", "1.234,5"], ["-7,125", "", "2,345", "3,456"]):
        lines = "".join(f"{cell};{label}\n" for cell, label in zip(cells, "uuvv", strict=True))
        message = refused(write(f"a;y\n{lines}"))
        assert f"Column 'a' holds {cells[0]!r}, a decimal comma or one between thousands" in message


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize(
    "cells", [["1,5", "-2,5", "3", "1,500"], ["0,125", "2,500", "1,5e3", "+4,000"], ["1,2345"] * 4]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_decimal_commas_are_read_where_they_can_be_nothing_else(write, delimiter, cells, end):
    """Not in names and texts, and not where commas delimit."""
    rows = [["a,1", "2,5", "note", "y"], *[[c, "7", "1,5 mg", lab] for c, lab in zip(cells, "uvuv", strict=True)]]
    table = read_labelled(write(end.join(map(delimiter.join, rows))), "y")
    assert table.names == ["a,1", "2,5", "note=1,5 mg"]
    np.testing.assert_array_equal(table.X[:, 0], [float(cell.replace(",", ".")) for cell in cells])
    assert "decimal commas" in kinds(table)


@pytest.mark.parametrize("cells", [["5%", "7.5 %"], ["10'123", "9'001"], ["1 234", "12 345 678"]])
def test_numbers_with_marks_are_refused_unless_they_are_kept(write, cells):
    content = "a,b,y\n" + "".join(f"{index},{cells[index % 2]},{'uv'[index // 3]}\n" for index in range(6))
    assert f"Column 'b' holds {min(cells)!r}, which is text: write numbers without" in refused(write(content))
    assert len(read_labelled(write(content), "y", keep=["b"]).names) == 3
    assert len(read_labelled(write(content.replace(cells[0], "none")), "y").names) == 3  # not numbers alone


def test_infinite_values_are_refused_by_the_name_of_their_column(write):
    content = "id,a,b,y\ns1,1,5,u\ns2,2,-inf,u\ns3,3,4,v\ns4,4,inf,v\n"
    assert refused(write(content)).startswith("'b' holds infinite values, first in sample 2: ")
    assert read_labelled(write(content), "y", drop=["b"]).names == ["a"]


def test_columns_named_like_a_batch_are_noted_where_they_are_features(write):
    content = "a,batch,run_nr,running,y\n" + "".join(
        f"{i * i % 7},{i % 3},{i % 2},{i % 5},{'uv'[i // 8]}\n" for i in range(16)
    )
    noted = [note.text for note in read_labelled(write(content), "y").notes if note.kind == "batches"]
    assert len(noted) == 1
    assert noted[0].startswith("'batch', 'run_nr' are named like a batch: adjust for it (--covariates)")
    assert "batches" not in kinds(read_labelled(write(content), "y", covariates=["batch"], drop=["run_nr"]))


def test_the_name_of_a_column_below_the_first_row(write):
    title = "Table 1,,\nx,b,y\n1,5,u\n2,6,u\n3,4,v\n"
    assert refused(write(title)).endswith("it stands below the first row: delete the rows above the header.")
    for content in ("Table of all genes\n\na,b,c,y\n1,2,3,u\n", "Title\tx\na\tb\tc\ty\n1\t2\t3\tu\n"):
        assert "if lines above the table, such as a title, do not belong to it, delete them" in refused(write(content))


MISSING = "a,b,c,y\n1,5,r,u\n,6,r,u\n3,NA,,v\n5,?,s,v\n5,6,r,v\n"


def test_missing_values(write):
    path = write(MISSING)
    assert "4 values are missing in 3 columns ('a' 1, 'b' 2, 'c' 1)" in refused(path)
    table = read_labelled(path, "y", impute="median")
    assert table.X[1, 0] == 4
    assert [feature.fill for feature in table.features] == [4, 6, "r", "r"]
    assert read_labelled(path, "y", impute="most-frequent").X[1, 0] == 5
    assert np.isfinite(read_labelled(path, "y", impute="knn").X).all()
    assert np.isnan(read_labelled(path, "y", impute="keep").X).sum() == 3
    assert "imputed" in kinds(table)
    hollow = write("a,b,y\n1,,u\n2,,u\n3,,v\n4,,v\n")
    assert "missing" in refused(hollow)
    assert read_labelled(hollow, "y", impute="median").names == ["a"]


def test_sample_groups_are_no_feature(write):
    table = read_labelled(write("a,who,y\n1,p,u\n2,p,u\n3,q,v\n4,r,v\n"), "y", sample_groups="who")
    assert table.names == ["a"]
    assert table.sample_groups.tolist() == ["p", "p", "q", "r"]


def test_missing_sample_groups_are_refused(write):
    for groups in ("ppq", "112"):
        rows = "".join(f"{i},{group},{i % 2}\n" for i, group in enumerate([*groups, ""]))
        message = refused(write(f"a,who,y\n{rows}"), sample_groups="who")
        assert message.startswith("The group in 'who' is missing in 1 of 4 samples, first in sample 4")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_file_names_that_are_not_utf_8(tmp_path):
    path, labels = (Path(os.fsdecode(os.fsencode(tmp_path / name) + b"\xff")) for name in "ab")
    path.write_text(TABLE, encoding="utf-8")
    labels.write_text("u\nu\nv\nv\n", encoding="utf-8")
    table = read_labelled(path, target_file=labels)
    assert (table.file, table.target) == ("a\ufffd", "b\ufffd")


def test_the_hash_is_that_of_the_file(write):
    from hashlib import sha256

    path = write(csv_lines(*small_problem()))
    assert read_labelled(path, "label").sha256 == sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("row", [0, 7, 29])
def test_a_label_in_a_row_says_that_the_table_is_transposed(write, row):
    lines = [f"g{index}," + ",".join(str(index * place % 7) for place in range(12)) for index in range(30)]
    lines.insert(row, "y," + ",".join("uv"[place % 2] for place in range(12)))
    header = "," + ",".join(f"S{place}" for place in range(12))
    assert "it is the name of a row: if features are in rows, transpose the table." in refused(
        write("\n".join([header, *lines]))
    )
