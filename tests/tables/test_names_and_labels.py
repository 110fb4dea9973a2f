"""Headers that do not fit the lines below them, and labels that are more than their number."""

import numpy as np
import pytest
from scipy import sparse

from dsofs.files import DamagedFileError
from dsofs.tables.labelled import read_labelled
from dsofs.tables.readers import read_frame


def frame_of(tmp_path, content):
    (tmp_path / "a.csv").write_text(content, encoding="utf-8")
    return read_frame(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        ("a,b,c,label\n1,2,u\n3,4,v\n", "header has 4 names, and line 2 has 3 cells"),
        ("a,b,c,d,label\n1,2,u\n3,4,v\n", "header has 5 names, and line 2 has 3 cells"),
        ("# made by hand\n\na;b;c\n1;2\n3;4\n", "header has 3 names, and line 4 has 2 cells"),
        ("a,label\n1,2,3,u\n4,5,6,v\n", "header has 2 names, and line 2 has 4 cells"),
        ("a,b\n1.5,2,u\n3.5,4,v\n", "header has 2 names, and the lines below it 3 cells"),  # the last name is missing
        ("a,b\n1,2,\n3,4,u\n", "header has 2 names, and the lines below it 3 cells"),
    ],
)
def test_header_with_other_than_a_name_for_each_column_is_refused(tmp_path, content, counts):
    if "3,4,u" in content:
        content = content.replace("3,4,u", "3,4,\n" * 5 + "3,4,u")  # further down than the first lines
    with pytest.raises(DamagedFileError, match=counts):
        frame_of(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("a,b,,\n1,2\n3,4\n", ("a", "b")),  # delimiters at the end of the header
        ("a\tb\t\n1\t2\n3\t4\n", ("a", "b")),
        ("a,b\n1,2,\n3,4,\n", ("a", "b", "")),  # delimiters at the end of the lines
        ("a,b,\n1,2,\n3,4,\n", ("a", "b", "")),
        ("a,b\nr1,1,2\nr2,3,4\n", ("", "a", "b")),  # row names, as R writes them
        ("a,b\n1,1.5,2\n2,3.5,4\n", ("", "a", "b")),
        ("a,b\n7,1.5,\n3,3.5,4\n", ("", "a", "b")),
        ("# an OTU table\n#SampleID\tg1\tg2\nS1\t1\t2\nS2\t3\t4\n", ("SampleID", "g1", "g2")),
        ("# made by hand, on Monday\na,b\n1,2\n3,4\n", ("a", "b")),
        ("sep=;\na;b\n1;2\n3;4\n", ("a", "b")),
    ],
)
def test_names_belong_to_their_columns(tmp_path, content, names):
    assert frame_of(tmp_path, content).names == names


RISING = [400.5, 402, 404.25, 406, 408, 410, 412, 414, 416]


@pytest.mark.parametrize("scale", [RISING, RISING[::-1], [-value for value in RISING]])
@pytest.mark.parametrize("texts", [("", ""), ("variety,", "u,"), ("id,variety,", "s1,u,"), (",", "s1,")])
def test_wavelengths_are_a_header(tmp_path, scale, texts):
    """Text may stand before them, above text: the label, or names of the samples."""
    values = [f"0.{digit}" for digit in "314159265"]
    rows = [texts[0] + ",".join(map(str, scale)), *[texts[1] + ",".join(values)] * 3]
    frame = frame_of(tmp_path, "\n".join(rows))
    assert frame.n_samples == 3
    assert frame.names[-len(scale) :] == tuple(map(str, scale))
    assert [note.kind for note in frame.notes] == ["numbers as names"]


@pytest.mark.parametrize("first", [[*RISING[:7], 1.0], RISING])
def test_numbers_that_rise_in_every_row_or_do_not_rise_are_no_header(tmp_path, first):
    samples = [first, RISING, RISING] if first == RISING else [first, first[::-1], first]
    frame = frame_of(tmp_path, "\n".join(",".join(map(str, row)) for row in samples))
    assert frame.n_samples == 3
    assert frame.names is None


def test_svmlight_target_is_never_a_feature(tmp_path):
    (tmp_path / "a").write_text("1 0:5 1:2\n-1 0:6 2:1\n1 0:7 1:3\n", encoding="utf-8")
    assert read_labelled(tmp_path / "a").y.tolist() == [1, -1, 1]
    assert read_labelled(tmp_path / "a", "y").y.tolist() == [1, -1, 1]
    for target in (0, "0", "2", -1):
        with pytest.raises(ValueError, match=r"label of an svmlight file is the first number .* leave out --target"):
            read_labelled(tmp_path / "a", target)


def test_svmlight_nan_is_a_missing_number(tmp_path):
    (tmp_path / "a").write_text("1 1:nan 2:2\n-1 1:6 2:NaN\n1 1:7 2:3\n", encoding="utf-8")
    frame = read_frame(tmp_path / "a")
    assert frame.format == "svmlight"
    np.testing.assert_array_equal(frame.numbers.toarray(), [[np.nan, 2], [6, np.nan], [7, 3]])
    filled = read_labelled(tmp_path / "a", impute="median").X
    np.testing.assert_array_equal(filled.toarray() if sparse.issparse(filled) else filled, [[6.5, 2], [6, 2.5], [7, 3]])
    (tmp_path / "a").write_text("nan 1:1 2:2\n-1 1:6 2:1\n1 1:7 2:3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="label 'y' is missing in 1 of 3 samples"):
        read_labelled(tmp_path / "a")


LARGE = ["9007199254740992", "9007199254740993"]  # 2^53 and the next, which no double holds


@pytest.mark.parametrize("labels", [["01", "1", "10"], ["-07", "-7"], LARGE, ["-" + LARGE[0], LARGE[1], LARGE[0]]])
@pytest.mark.parametrize("blank", ["", " "])
def test_labels_that_are_equal_as_numbers_stay_apart(tmp_path, labels, blank):
    y = labels * 3
    rows = [f"{index * 0.5},{blank}{label},{index // 3}" for index, label in enumerate(y)]
    (tmp_path / "a.csv").write_text("\n".join(["a,label,b", *rows]), encoding="utf-8")
    assert read_labelled(tmp_path / "a.csv", "label").y.tolist() == y
    table = read_labelled(tmp_path / "a.csv", "b", sample_groups="label")
    assert table.sample_groups.tolist() == y
    (tmp_path / "labels.txt").write_text("\n".join(y), encoding="utf-8")
    assert read_labelled(tmp_path / "a.csv", target_file=tmp_path / "labels.txt").y.tolist() == y
    feature = read_labelled(tmp_path / "a.csv", "b")  # a feature is a number
    np.testing.assert_array_equal(feature.X[:, 1], np.array(y, dtype=float))


def test_labels_that_are_equal_as_numbers_stay_apart_in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    for y in ([2**53, 2**53 + 1] * 2, ["01", "1"] * 2):
        parquet.write_table(pyarrow.table({"a": [1.0, 2.0, 3.0, 5.0], "label": y}), tmp_path / "a")
        assert read_labelled(tmp_path / "a", "label").y.tolist() == list(map(str, y))


def test_labels_rounded_to_doubles_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1.0, 2.0**53], [2.0, 2.0**53 + 2], [3.0, 2.0**53]]))
    with pytest.raises(ValueError, match=r"beyond 2\^53 are rounded"):
        read_labelled(tmp_path / "a.npy", 1)
    (tmp_path / "a").write_text("9007199254740993 1:1\n9007199254740992 1:2\n1 1:3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"beyond 2\^53 are rounded"):
        read_labelled(tmp_path / "a")
    np.savez(tmp_path / "a.npz", X=np.eye(4), y=np.array([2**53, 2**53 + 1] * 2))
    assert read_labelled(tmp_path / "a.npz").y.tolist() == [2**53, 2**53 + 1] * 2


def test_numbers_written_with_zeros_in_front_are_numbers(tmp_path, monkeypatch):
    """Where many columns are, it is how the file writes numbers, and their text is not kept."""
    rows = [",".join(f"{(sample * 7 + column) % 100:03d}" for column in range(40)) for sample in range(6)]
    frame = frame_of(tmp_path, "\n".join([",".join(f"g{column}" for column in range(40)), *rows]))
    assert frame.numbers.shape == (6, 40)
    assert not frame.exact
    monkeypatch.setattr("dsofs.tables.readers.delimited.CHUNK_BYTES", 5)
    frame = frame_of(tmp_path, "a,b,c\n1,2,3\n1,2,3\n01,2,3\n1,2,03.5\n")
    assert {index: texts.tolist() for index, texts in frame.exact.items()} == {0: ["1", "1", "01", "1"]}
    np.testing.assert_array_equal(frame.numbers, [[1, 2, 3]] * 3 + [[1, 2, 3.5]])
