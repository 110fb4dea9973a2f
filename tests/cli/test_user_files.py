"""Eight files as users have them, from file to page: what is odd about each is said, or refused, in a sentence."""

import csv
import html
import json

import numpy as np
import pytest

from tests.cli.test_cli import run

N_SAMPLES, N_GENES, TELLING = 60, 40, ("g3", "g11", "g17", "g25")
QUICK = ("-k", "4", "--resamples", "5", "--permutations", "9", "--n-jobs", "1")


def genes(seed=0):
    """Normal and tumour samples, half of each in turn, and genes of which four tell them apart."""
    rng = np.random.default_rng(seed)
    labels = np.array(["normal", "tumour"])[np.arange(N_SAMPLES) * 2 // N_SAMPLES]
    X = rng.normal(size=(N_SAMPLES, N_GENES))
    for name in TELLING:
        X[:, int(name[1:])] += 2.0 * (labels == "tumour")
    return X.round(3), labels


def columns_of(X):
    return {f"g{index}": column.tolist() for index, column in enumerate(X.T)}


def write(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def select(path, *options, target="diagnosis"):
    out = path.parent / "out"
    return run("select", str(path), "--target", target, "--out", str(out), *QUICK, *options), out


def selected(out):
    return [row["feature"] for row in csv.DictReader((out / "selected.csv").read_text(encoding="utf-8").splitlines())]


def page(out):
    return (out / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def shuffled(tmp_path):
    """A table with IDs, and labels with the same IDs in another order and three more."""
    X, labels = genes()
    ids = [f"S{index:02d}" for index in range(N_SAMPLES)]
    order = np.random.default_rng(1).permutation(N_SAMPLES)
    write(tmp_path / "genes.csv", {"sample": ids, **columns_of(X)})
    write(
        tmp_path / "labels.csv",
        {
            "sample_id": [*(ids[row] for row in order), "S70", "S71", "S72"],
            "age": [30 + row % 40 for row in range(N_SAMPLES + 3)],
            "diagnosis": [*labels[order], "normal", "tumour", "tumour"],
        },
    )
    return tmp_path


def test_ids_in_another_order(shuffled):
    result, out = select(shuffled / "genes.csv", "--target-file", str(shuffled / "labels.csv"), "--json")
    assert result.exit_code == 0, result.output
    assert len(set(selected(out)) & set(TELLING)) >= 3
    joined = "labels were joined by sample ID: 'sample' of 'genes.csv' with 'sample_id' of 'labels.csv'"
    assert f"{joined}, where the label is 'diagnosis'" in result.stderr
    dropped = "3 labels of 'labels.csv' without a sample in 'genes.csv' were dropped: 'S70', 'S71', 'S72'"
    assert dropped in result.stderr
    assert json.loads(result.stdout)["examined"]["accuracy"] > 0.8
    assert joined[1:] in html.unescape(page(out))


def test_a_patient_column(tmp_path):
    X, labels = genes()
    patients = [f"P{index // 3}" for index in range(N_SAMPLES)]
    path = write(tmp_path / "t.csv", {"patient": patients, **columns_of(X), "diagnosis": labels})
    result, out = select(path)
    assert result.exit_code == 0, result.output
    assert "'patient' looks like an identifier (20 values in 60 samples): left out" in result.stderr
    assert "if its samples belong together, give it as --sample-groups 'patient'" in result.stderr
    assert len(set(selected(out)) & set(TELLING)) >= 3
    assert "patient" in page(out)


def test_dates(tmp_path):
    X, labels = genes()
    dates = [f"2024-0{1 + index % 7}-1{index % 4}" for index in range(N_SAMPLES)]
    sites = ["north" if index % 3 else "south" for index in range(N_SAMPLES)]
    path = write(tmp_path / "t.csv", {"date": dates, **columns_of(X), "site": sites, "diagnosis": labels})
    result, out = select(path)
    assert result.exit_code == 0, result.output
    assert "'date' holds dates or times ('2024-01-10'): left out" in result.stderr
    encoded = "is text and was encoded, a column of zeros and ones for each category"
    assert f"'site' (2 categories) {encoded}" in result.stderr
    assert encoded in page(out)
    assert not any(name.startswith("date") for name in selected(out))


def test_typos_in_labels(tmp_path):
    X, labels = genes()
    result, out = select(write(tmp_path / "t.csv", {**columns_of(X), "diagnosis": ["Normal", "Normal", *labels[2:]]}))
    assert result.exit_code == 2
    found = "The label 'diagnosis' holds 'Normal' (2 of 60 samples) and 'normal' (28 of 60 samples)"
    assert f"{found}, which differ in capitals or blanks only: did you mean 'normal'?" in result.stderr
    assert not out.exists()


def test_a_misspelt_label(tmp_path):
    X, labels = genes()
    path = write(tmp_path / "t.csv", {**columns_of(X), "diagnosis": [*labels[:-1], "tumuor"]})
    result, _ = select(path)
    assert "Note: 'tumuor' is for one sample only: did you mean 'tumour'?\n" in result.stderr


def test_an_integer_target(tmp_path):
    X, _ = genes()
    ages = [31 + index % 49 for index in range(N_SAMPLES)]
    result, out = select(write(tmp_path / "t.csv", {**columns_of(X), "age": ages}), target="age")
    assert result.exit_code == 2
    assert "The label 'age' holds 49 whole numbers from 31 to 79 for 60 samples" in result.stderr
    assert "looks like a measurement or an ID: cut it into a few classes" in result.stderr
    assert not out.exists()


def test_one_class_of_one_sample(tmp_path):
    X, labels = genes()
    path = write(tmp_path / "t.csv", {**columns_of(X), "diagnosis": [*labels[:-1], "unknown"]})
    result, out = select(path)
    assert result.exit_code == 0, result.output
    words = "'unknown' is for one sample only, which cannot be both learned and tested"
    assert words in result.stderr
    assert "is for one sample only" in page(out)


def test_a_numeric_id(tmp_path):
    X, labels = genes()
    numbers = {"patient_id": [4711 + 3 * index for index in range(N_SAMPLES)], "nr": range(101, 101 + N_SAMPLES)}
    path = write(tmp_path / "t.csv", {**numbers, **columns_of(X), "diagnosis": labels})
    result, out = select(path)
    assert result.exit_code == 0, result.output
    assert "'patient_id' names the samples and is not a feature" in result.stderr
    assert "'nr' holds whole numbers in the order of the rows, as an ID or a row number does: left out" in result.stderr
    assert len(set(selected(out)) & set(TELLING)) >= 3
    result, out = select(path, "--keep", "patient_id,nr")
    assert {"patient_id", "nr"} & set(selected(out))


def test_a_long_header(tmp_path):
    X, labels = genes()
    path = write(tmp_path / "t.csv", {**columns_of(X), "diagnosis": labels})
    header, body = path.read_text(encoding="utf-8").split("\n", 1)
    path.write_text(f"extra,more,{header}\n{body}", encoding="utf-8")
    result, out = select(path)
    assert result.exit_code == 2
    assert "header has 43 names" in result.stderr
    assert not out.exists()
