import gzip
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dsofs import DSOSelector
from dsofs.files import DamagedFileError
from dsofs.tables.labelled import read_labelled
from dsofs.tables.readers import read_frame
from dsofs.tables.readers.numbers import number, parse_plain
from tests.tables.tables import CORE, EXTRA, csv_lines, small_problem, write_h5ad

WITHOUT_NAMES = ("no header", "NPY", "sparse NPZ", "svmlight")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def writer(form):
    """What writes a table in this format; skips where the package for it is missing."""
    if form in CORE:
        return CORE[form]
    write, package = EXTRA[form]
    pytest.importorskip(package, reason=f"{package} is not installed")
    return write


@pytest.mark.parametrize("form", [*CORE, *EXTRA])
def test_the_same_selection_in_every_format(form, tmp_path):
    X, y, names = small_problem()
    expected = DSOSelector(5).fit(X, y)
    path, target = writer(form)(tmp_path, X, y, names)
    table = read_labelled(path, target)
    dense = table.X.toarray() if sparse.issparse(table.X) else table.X
    np.testing.assert_array_equal(dense, X)
    assert (np.unique(table.y, return_inverse=True)[1] == np.unique(y, return_inverse=True)[1]).all()
    found = DSOSelector(5).fit(table.X, table.y)
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    if form not in WITHOUT_NAMES:
        assert table.names == names


@given(st.lists(st.floats(allow_nan=False, allow_infinity=True), min_size=1, max_size=30))
def test_numbers_are_those_of_python(values):
    lines = "\n".join(map(repr, values)).encode()
    plain = parse_plain(lines, len(values))
    if plain is not None:
        np.testing.assert_array_equal(plain, [float(line) for line in lines.split(b"\n")])
    else:
        assert b"inf" in lines


@given(st.lists(st.text("0123456789+-.eE_ n", max_size=6), min_size=1, max_size=5))
def test_what_is_no_plain_number_is_never_taken_for_one(tokens):
    lines = [token.encode() for token in tokens]
    plain = parse_plain(b"\n".join(lines), len(lines))
    if plain is not None:
        assert [number(line) for line in lines] == plain.tolist()


@given(data=st.data())
def test_any_table_comes_back_from_text(data, tmp_path_factory):
    """Whatever stands in a table, missing values, text and quotes in any column, is read as it was written."""
    n_rows, n_columns = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 6))
    word = st.text('ab ",;\n', min_size=1, max_size=4).map(lambda text: f"w{text}w")
    columns = [
        data.draw(
            st.one_of(
                st.lists(st.floats(allow_nan=False).map(repr), min_size=n_rows, max_size=n_rows),
                st.lists(st.one_of(st.just("NA"), st.integers().map(str)), min_size=n_rows, max_size=n_rows),
                st.lists(word, min_size=n_rows, max_size=n_rows),
            )
        )
        for _ in range(n_columns)
    ]
    quoted = [
        [f'"{cell.replace(chr(34), chr(34) * 2)}"' if "w" in cell else cell for cell in column] for column in columns
    ]
    path = tmp_path_factory.mktemp("any") / "table.csv"
    rows = [",".join(row) for row in zip(*quoted, strict=True)]
    path.write_text("\n".join([",".join(f"name {i}" for i in range(n_columns)), *rows]), encoding="utf-8", newline="")
    frame = read_frame(path)
    for index, column in enumerate(columns):
        if "w" in column[0]:
            assert frame.text[index].tolist() == column
        else:
            expected = [np.nan if cell == "NA" else float(cell) for cell in column]
            np.testing.assert_array_equal(frame.numbers[:, frame.numeric.tolist().index(index)], expected)


def test_text_far_down_and_many_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("dsofs.tables.readers.delimited.CHUNK_BYTES", 50)
    rows = [f"{i},{i * 0.1!r},{'x' if i == 90 else i}" for i in range(100)]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,c", *rows]), encoding="utf-8")
    frame = read_frame(tmp_path / "a.csv")
    assert frame.text[2][89:92].tolist() == ["89", "x", "91"]
    np.testing.assert_array_equal(frame.numbers, [[i, i * 0.1] for i in range(100)])


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("a,b\n1,2\n3,4", ("a", "b")),
        ("\ufeffa,b\r\n1,2\r\n", ("a", "b")),
        ("# made by hand\na;b\n1;2\n3;4", ("a", "b")),
        ("1,2\n3,4", None),
        ("1.5,x\n2.5,y", None),
        ("0,1,y\n1.5,2,u\n2.5,3,v", ("0", "1", "y")),  # as pandas names columns that have no names
        ("a,b\nx,y\nu,v", ("a", "b")),
        ("a,b\n,2\n3,4", ("a", "b")),
        ("1,male,yes\n2,female,no", None),
        ("1,male\n2,female", None),
        (",0,1,2\n0,1.5,2.5,3.5", ("", "0", "1", "2")),  # with row names besides
        (",0,y\n0,u,w\n1,v,w", None),
    ],
)
def test_header_or_not(tmp_path, content, names):
    (tmp_path / "a").write_text(content, encoding="utf-8", newline="")
    assert read_frame(tmp_path / "a").names == names


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        ("a,b\n1,2", []),
        ("1.5,2\n3,4", ["no header"]),
        ("1,2,3\n3,4,5", ["numbers as names"]),
        ("size,2024\n3,4", ["numbers as names"]),
        (",size\n0,4", []),
    ],
)
def test_a_first_line_of_numbers_is_noted(tmp_path, content, kinds):
    (tmp_path / "a").write_text(content, encoding="utf-8")
    assert [note.kind for note in read_frame(tmp_path / "a").notes] == kinds


def test_a_row_of_tabs_is_a_sample(tmp_path):
    for content in ("a\tb\n1\t2\n\t\n3\t4\n\n", "a\tb\n\t\n1\t2\n3\t4\n"):
        (tmp_path / "a").write_text(content, encoding="utf-8")
        frame = read_frame(tmp_path / "a")
        assert frame.numbers.shape == (3, 2)
        assert np.isnan(frame.numbers).sum() == 2
    (tmp_path / "a").write_text("a,b\n1,2\n\t\n3,4\n", encoding="utf-8")
    assert read_frame(tmp_path / "a").numbers.tolist() == [[1, 2], [3, 4]]


def test_blanks_in_quotes_stay(tmp_path):
    (tmp_path / "a").write_text('a   b\n1 \t "x  y"\n2   "z"\n', encoding="utf-8")
    assert read_frame(tmp_path / "a").text[1].tolist() == ["x  y", "z"]


def test_one_long_text_is_not_made_the_length_of_all(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("a,b\n" + "1,x\n" * 5000 + f"1,{'x' * 100_000}\n", encoding="utf-8")
    monkeypatch.setattr("dsofs.tables.readers.source.available_bytes", lambda: 10**9)
    with pytest.raises(DamagedFileError, match="of memory"):
        read_frame(tmp_path / "a")


NUMBERS_AS_TEXT = {"a": ["1.5", None, " 2 "], "b": ["1", "x", "NA"]}


def check_numbers_as_text(frame):
    np.testing.assert_array_equal(frame.numbers, [[1.5], [np.nan], [2]])
    assert frame.text[1].tolist() == ["1", "x", ""]


def test_numbers_as_text_in_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = openpyxl.Workbook()
    for row in [list(NUMBERS_AS_TEXT), *zip(*NUMBERS_AS_TEXT.values(), strict=True)]:
        book.active.append(row)
    book.create_sheet("other")
    book.save(tmp_path / "a.xlsx")
    frame = read_frame(tmp_path / "a.xlsx")
    check_numbers_as_text(frame)
    assert [note.kind for note in frame.notes] == ["sheets"]
    with pytest.raises(
        ValueError, match=r"no column 'y' for 'target'; .* has 2 sheets; the first one, 'Sheet', was read"
    ):
        read_labelled(tmp_path / "a.xlsx", "y")


def test_numbers_as_text_in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    parquet.write_table(pyarrow.table(NUMBERS_AS_TEXT), tmp_path / "a")
    check_numbers_as_text(read_frame(tmp_path / "a"))
    codes = pyarrow.array(["1", "2", "1"]).dictionary_encode()
    parquet.write_table(pyarrow.table({"a": codes}), tmp_path / "a")
    assert read_frame(tmp_path / "a").text[0].tolist() == ["1", "2", "1"]  # declared as categories


ARFF = "@relation r\n@attribute a numeric\n@attribute 'the text' string\n@data\n"


@pytest.mark.parametrize("before", ["", "\ufeff", "% a long comment\n" * 999])
def test_arff_comments_and_quotes(tmp_path, before):
    body = "% first\n1,'x, y'\n\n  % between\n2,\"it's\"\n3,'don\\'t'\n4 , plain\n5,'say \"a\"'\n?,?\n% last\n"
    (tmp_path / "a").write_text(before + ARFF + body, encoding="utf-8")
    frame = read_frame(tmp_path / "a")
    assert frame.format == "ARFF"
    np.testing.assert_array_equal(frame.numbers.ravel(), [1, 2, 3, 4, 5, np.nan])
    assert frame.text[1].tolist() == ["x, y", "it's", "don't", "plain", 'say "a"', ""]


def test_arff_cells_of_many_blanks_take_no_longer(tmp_path):
    blanks = " " * 10**5  # a search that goes back over them takes minutes
    (tmp_path / "a").write_text(f"{ARFF}1,'x'\n2 , it's{blanks}so \n", encoding="utf-8")
    assert read_frame(tmp_path / "a").text[1].tolist() == ["x", f"it's{blanks}so"]


def test_what_begins_like_another_format(tmp_path):
    (tmp_path / "a").write_text("RDX,b\n1,2\n3,4\n", encoding="utf-8")
    assert read_frame(tmp_path / "a").names == ("RDX", "b")
    assert "R workspace" in broken(tmp_path, "a", b"RDX3\nX\n\x00")
    names = ["%" + "long" * 1500, "b"]
    (tmp_path / "a").write_text(",".join(names) + "\n1,2\n3,4\n", encoding="utf-8")
    assert read_frame(tmp_path / "a").names == tuple(names)


def test_svmlight_whose_first_samples_are_zeros(tmp_path):
    (tmp_path / "a").write_text("# made by hand\n1\n-1 # nothing\n\n1 2:0.5\n", encoding="utf-8")
    frame = read_frame(tmp_path / "a")
    assert frame.format == "svmlight"
    assert frame.labels["y"].tolist() == [1, -1, 1]
    (tmp_path / "a").write_text("1\n1 " + " ".join(f"{i}:0.5" for i in range(1, 2000)) + "\n", encoding="utf-8")
    assert read_frame(tmp_path / "a").format == "svmlight"
    (tmp_path / "a").write_text("1\n0\n1\n", encoding="utf-8")
    assert read_frame(tmp_path / "a").format == "CSV"


def test_texts_kept_as_bytes_are_text(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=np.array(["p", "q", "grün".encode()], dtype="S5"))
    assert read_frame(tmp_path / "a.npz").labels["y"].tolist() == ["p", "q", "grün"]
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=np.array([b"p", b"q", b"\xff"]))
    with pytest.raises(DamagedFileError, match="not UTF-8"):
        read_frame(tmp_path / "a.npz")


def broken(tmp_path, name, content):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DamagedFileError) as caught:
        read_frame(tmp_path / name)
    message = str(caught.value)
    assert "\n" not in message
    assert name in message
    return message


# Lines or files that are missing leave a smaller table; AnnData is HDF5.
CANNOT_BE_SEEN = ("svmlight", "ARFF", "Zarr", *(form for form in EXTRA if form.startswith("AnnData")))


@pytest.mark.parametrize("form", [form for form in (*CORE, *EXTRA) if form not in CANNOT_BE_SEEN])
def test_every_format_cut_short_is_said_so(form, tmp_path):
    path, _ = writer(form)(tmp_path, *small_problem())
    content = path.read_bytes()
    assert "cut short" in broken(tmp_path, "half", content[: len(content) * 2 // 3])


def test_what_is_no_table(tmp_path):
    assert "empty" in broken(tmp_path, "a", b"")
    assert "no lines" in broken(tmp_path, "a", "\n \n")
    assert "no lines" in broken(tmp_path, "a", gzip.compress(b"\n"))
    assert "header without samples" in broken(tmp_path, "a", "a,b,c\n")
    assert "binary file" in broken(tmp_path, "a.csv", bytes(range(256)))
    assert "pickle" in broken(tmp_path, "a", b"\x80\x04\x95")
    assert "before 2007" in broken(tmp_path, "a", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    assert "UTF-16" in broken(tmp_path, "a", "a,b\n1,2".encode("utf-16"))
    assert "not UTF-8" in broken(tmp_path, "a", "größe,b\n1,2".encode("latin-1"))
    assert "line 3 has 1 columns, and the lines before it 2" in broken(tmp_path, "a", "a,b\n1,2\n3\n")
    assert "opened in line 3 is never closed" in broken(tmp_path, "a", 'a,b\n1,2\n3,"x\n4,5')
    assert "cut short" in broken(tmp_path, "a", gzip.compress(b"a,b\n1,2\n" * 99)[:-9])
    assert "no @data" in broken(tmp_path, "a", "@relation x\n@attribute a real\n")
    assert "sparse ARFF" in broken(tmp_path, "a", "@relation x\n@attribute a real\n@data\n{0 1}\n")
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("t.csv", "a,b\n1,2\n")
    assert "a zip archive, but neither NPZ nor Excel: unpack it" in broken(tmp_path, "a", (tmp_path / "z").read_bytes())
    assert "damaged zip" in broken(tmp_path, "a", b"PK\x03\x04 and then nothing")
    assert "not an svmlight file" in broken(tmp_path, "a", "1 1:2 2:3\nx y\n")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DamagedFileError, match="not a Zarr store"):
        read_frame(tmp_path / "folder")


def test_several_matrices_need_a_name(tmp_path):
    np.savez(tmp_path / "a.npz", A=np.eye(3), B=np.eye(4))
    with pytest.raises(DamagedFileError, match="holds: 'A' 3 x 3, 'B' 4 x 4"):
        read_frame(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", A=np.eye(3), b=np.arange(3), c=np.arange(4))
    assert list(read_frame(tmp_path / "a.npz").labels) == ["b"]


def test_missing_extra_is_named(tmp_path, monkeypatch):
    path, _ = CORE["CSV"](tmp_path, *small_problem())
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    path.write_bytes(b"PAR1 and so on")
    with pytest.raises(ImportError, match=r"pip install pyarrow .* pip install '.\[readers\]'"):
        read_frame(path)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def test_anndata_has_its_labels_in_obs(tmp_path):
    pytest.importorskip("anndata", reason="anndata is not installed")
    frame = read_frame(write_h5ad(tmp_path, *small_problem())[0])
    assert list(frame.labels) == ["label", "batch"]
    assert sparse.issparse(frame.numbers)


def test_csv_lines_are_what_the_tests_think():
    assert csv_lines(np.array([[0.5]]), ["u"], ["a"]) == '"a",label\n0.5,u\n'
