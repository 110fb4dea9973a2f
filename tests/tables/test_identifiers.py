"""Columns that say which sample it is, or when it was taken, are reported and left out of the features."""

import numpy as np
import pytest

from dsofs.tables.labelled import read_labelled

N_SAMPLES = 24


@pytest.fixture
def read(tmp_path):
    """Read a table of a gene, a label and some other columns."""

    def table(columns, **options):
        n_samples = len(next(iter(columns.values())))
        rng = np.random.default_rng(0)
        every = {
            "gene": rng.normal(size=n_samples).round(3),
            **columns,
            "y": ["uv"[index * 2 // n_samples] for index in range(n_samples)],
        }
        lines = [",".join(map(str, row)) for row in zip(*every.values(), strict=True)]
        (tmp_path / "t.csv").write_text("\n".join([",".join(every), *lines, ""]), encoding="utf-8")
        return read_labelled(tmp_path / "t.csv", "y", **options)

    return table


def text(table, kind):
    return next(note.text for note in table.notes if note.kind == kind)


@pytest.mark.parametrize("date", [
    "2024-01-31", "2024/1/31", "31.01.2024", "1.2.24", "01/31/2024", "1/31/24", "2024-01-31T12:30", "2024-01",
    "2024-01-31 12:30:05", "2024-01-31T12:30:05.25Z", "2024-01-31 12:30:05+01:00", "31.01.2024 9:05", "31-Jan-2024",
    "Jan 31 2024", "12:30", "9:05 pm",
])  # fmt: skip
def test_dates_and_times_are_left_out_in_every_form(read, date):
    assert read({"visit": [date] * N_SAMPLES}).names == ["gene"]


@pytest.mark.parametrize("other", ["red", "v1.2", "TCGA-01-02", "12-34", "3 days", "2024-01/31", "12:30:05:01"])
def test_what_is_no_date(read, other):
    assert read({"visit": [other] * N_SAMPLES}).names == ["gene", f"visit={other}"]


def test_text_columns_of_dates_are_reported_and_left_out(read):
    dates = [f"0{1 + index % 4}.03.2021" for index in range(N_SAMPLES - 1)]
    table = read({"visit": [*dates, "unknown"]})
    assert table.names == ["gene"]
    assert text(table, "dates").startswith("'visit' holds dates or times ('01.03.2021'): left out")
    assert len(read({"visit": [*dates, "unknown"]}, keep=["visit"]).names) == 6


@pytest.mark.parametrize("n_values", [N_SAMPLES, N_SAMPLES - 5, N_SAMPLES // 2])
def test_text_columns_that_look_like_identifiers_are_reported_and_left_out(read, n_values):
    table = read({"key": [f"k{index % n_values}" for index in range(N_SAMPLES)]})
    assert table.names == ["gene"]
    assert table.feature_groups is None
    if n_values < N_SAMPLES:
        found = f"'key' looks like an identifier ({n_values} values in {N_SAMPLES} samples): left out"
        belong = "if its samples belong together, give it as --sample-groups 'key'"
        assert text(table, "identifier").startswith(f"{found}; {belong}")
        assert len(read({"key": [f"k{index % n_values}" for index in range(N_SAMPLES)]}, keep=["key"]).names) > n_values


@pytest.mark.parametrize(("name", "n_values", "left_out"), [
    ("patient", 6, True), ("Donor ID", 3, True), ("subject", 2, False), ("site", 6, False),
])  # fmt: skip
def test_a_column_of_persons_is_no_feature_however_few_they_are(read, name, n_values, left_out):
    table = read({name: [f"p{index % n_values}" for index in range(N_SAMPLES)]})
    assert (table.names == ["gene"]) == left_out
    assert table.repeated_ids == ((name,) if left_out else ())
    assert read({name: [f"p{index % n_values}" for index in range(N_SAMPLES)]}, sample_groups=name).repeated_ids == ()


def test_text_that_seldom_repeats_says_nothing_about_samples_that_belong_together(read):
    remarks = [f"remark {index}" if index % 3 else "none" for index in range(N_SAMPLES)]
    assert read({"remarks": remarks}).repeated_ids == ()
    twice = [f"p{index % (N_SAMPLES - 2)}" for index in range(N_SAMPLES)]
    assert read({"patient": twice}).repeated_ids == ("patient",)


@pytest.mark.parametrize("n_values", [2, 5, 8])
def test_other_text_columns_are_encoded_and_the_note_says_into_how_many_categories(read, n_values):
    table = read({"site": [f"s{index % n_values}" for index in range(N_SAMPLES)]})
    assert len(table.names) == 1 + n_values
    assert len(set(table.feature_groups)) == 2
    assert table.shared_groups == [None, *["site"] * n_values]
    assert text(table, "categories").startswith(f"'site' ({n_values} categories) is text and was encoded")


def test_a_column_named_like_an_owner_of_samples_is_no_feature(read):
    for owners in ([f"P{index // 2}" for index in range(48)], [index // 2 * 7 % 101 for index in range(48)]):
        table = read({"patient": owners})
        assert table.names == ["gene"]
        assert "'patient' looks like an identifier (24 values in 48 samples)" in text(table, "identifier")
        assert len(read({"patient": owners}, keep=["patient"]).names) > 1
    assert read({"sample": ["blood", "biopsy"] * 12}).names == ["gene", "sample=biopsy", "sample=blood"]


def test_a_numeric_id_is_reported_and_left_out(read):
    shuffled = np.random.default_rng(1).permutation(N_SAMPLES) + 1000
    table = read({"patient_id": shuffled, "nr": range(7, 7 + 3 * N_SAMPLES, 3), "back": range(N_SAMPLES, 0, -1)})
    assert table.names == ["gene"]
    assert table.sample_names == tuple(map(str, shuffled))
    assert "'patient_id' names the samples and is not a feature" in [note.text for note in table.notes]
    found = [note.text for note in table.notes if "in the order of the rows" in note.text]
    assert [words.split()[0] for words in found] == ["'nr'", "'back'"]
    assert read({"nr": range(N_SAMPLES)}, keep=["nr"]).names == ["gene", "nr"]


def test_counts_of_genes_are_no_ids(read):
    rng = np.random.default_rng(0)
    counts = {f"g{index}": rng.choice(10_000, N_SAMPLES, replace=False) for index in range(50)}
    assert read({"ID1": rng.choice(10_000, N_SAMPLES, replace=False), **counts}).names == ["gene", "ID1", *counts]
    rising = np.sort(rng.choice(1000, N_SAMPLES, replace=False)) / 8
    assert read({"dose": rising}).names == ["gene", "dose"]


def test_ids_that_mix_numbers_and_text(read):
    table = read({"sample": [*range(100, 99 + N_SAMPLES), "100b"]})
    assert table.names == ["gene"]
    assert table.sample_names[-1] == "100b"


def test_infinite_values_are_looked_at_without_a_warning(read):
    with pytest.raises(ValueError, match="'odd' holds infinite values, first in sample 1"):
        read({"odd": [np.inf] * 20 + [1.0] * 4})


@pytest.mark.parametrize(("first", "second", "person"), [
    ("P7_v1", "P7_v2", "P7"), ("7 left", "7 right", "7"), ("7a", "7b", "7"),
    ("TCGA-A7-01A-11R-A144-07", "TCGA-A7-11A-11R-A148-07", "TCGA-A7"),
])  # fmt: skip
def test_samples_named_after_persons_may_belong_together(read, first, second, person):
    others = [name.replace(person, f"{person}{index}") for index in range(11) for name in (first, second)]
    names = {"id": [first, second, *others]}
    table = read(names)
    assert table.repeated_ids == ("name but for its end",)
    (note,) = [note.text for note in table.notes if note.groups]
    assert note == (
        f"samples are named alike but for the end, as {first!r} and {second!r}: if such samples belong together, add a "
        f"column that says so ({person!r} for both) and give it as --sample-groups"
    )
    assert read(names, drop=["id"]).repeated_ids == ()
    assert read(names | {"who": [f"p{index // 2}" for index in range(24)]}, sample_groups="who").repeated_ids == ()


@pytest.mark.parametrize("names", [
    [f"{'tumour' if index < 12 else 'normal'}_{index}" for index in range(24)],  # numbered within the class
    [f"S_{index}" for index in range(24)],
    [f"plate{index // 6}_{index % 6}" for index in range(24)],
    [f"mouse{index}_1" for index in range(24)],
    [f"{index}{index:06b}-1" for index in range(24)],  # barcodes of cells
])  # fmt: skip
def test_samples_that_are_numbered_are_not_named_after_persons(read, names):
    assert read({"id": names}).repeated_ids == ()


def test_names_that_begin_with_the_class_say_nothing_about_persons(tmp_path):
    rows = [f"species{index // 3}_{index % 3},{index * 7 % 11}.5,species{index // 3}" for index in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id,gene,y", *rows]), encoding="utf-8")
    assert read_labelled(tmp_path / "t.csv", "y").repeated_ids == ()


def test_row_names_are_called_by_many_words(tmp_path):
    rows = [f"a{index:02d},{index * 7 % 11}.5,{'uv'[index % 2]}" for index in range(12)]
    (tmp_path / "t.csv").write_text("\n".join([",gene,y", *rows]), encoding="utf-8")
    notes = [note.text for note in read_labelled(tmp_path / "t.csv", "y").notes]
    assert notes == ["the row names name the samples and are not features"]
