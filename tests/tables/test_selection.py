import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsofs import DSOSelector, apply_selection
from dsofs.tables.labelled import read_labelled
from dsofs.tables.selection import Selection
from tests.tables.tables import csv_lines, small_problem, write_headless, write_svmlight


def select(path, target, k=4, **options):
    table = read_labelled(path, target, **options)
    return Selection.of(table, DSOSelector(k).fit(table.X, table.y), "dso", {"p": 1.0}), table


@pytest.fixture
def selection(tmp_path):
    (tmp_path / "a.csv").write_text(csv_lines(*small_problem()), encoding="utf-8")
    return select(tmp_path / "a.csv", "label")[0]


def test_what_is_saved_comes_back(selection, tmp_path):
    selection.save(tmp_path / "s.json")
    assert Selection.load(tmp_path / "s.json") == selection


def test_holds_what_the_selector_found(tmp_path):
    X, y, names = small_problem()
    (tmp_path / "a.csv").write_text(csv_lines(X, y, names), encoding="utf-8")
    selection, table = select(tmp_path / "a.csv", "label")
    selector = DSOSelector(4).fit(X, y)
    assert selection.indices == np.argsort(selector.ranking_)[:4].tolist()
    assert selection.names == [names[index] for index in selection.indices]
    assert [f.coefficients for f in selection.features] == selector.coef_[:, selection.indices].T.tolist()
    np.testing.assert_array_equal(selection.apply(tmp_path / "a.csv"), X[:, selection.indices])
    assert selection.data["sha256"] == table.sha256


def test_other_files_by_name_in_any_order(selection, tmp_path):
    X, y, names = small_problem()
    order = np.random.default_rng(0).permutation(len(names))
    (tmp_path / "b.csv").write_text(
        csv_lines(np.column_stack([X[:, order], X[:, 0]]), y, [*(names[i] for i in order), "more"]), encoding="utf-8"
    )
    np.testing.assert_array_equal(selection.apply(tmp_path / "b.csv"), X[:, selection.indices])
    kept = [i for i in range(len(names)) if i not in selection.indices[:2]]
    (tmp_path / "c.csv").write_text(csv_lines(X[:, kept], y, [names[i] for i in kept]), encoding="utf-8")
    with pytest.raises(ValueError, match=f"lacks 2 of the selected columns: '{selection.names[0]}'"):
        selection.apply(tmp_path / "c.csv")


def test_by_position_without_names(tmp_path):
    X, y, names = small_problem()
    path, target = write_headless(tmp_path, X, y, names)
    selection, _ = select(path, target)
    np.testing.assert_array_equal(selection.apply(path), X[:, selection.indices])
    np.save(tmp_path / "b.npy", X)  # the same without the label
    np.testing.assert_array_equal(selection.apply(tmp_path / "b.npy"), X[:, selection.indices])
    np.save(tmp_path / "b.npy", X[:, :-1])
    with pytest.raises(ValueError, match="by position: the file has 29"):
        selection.apply(tmp_path / "b.npy")


def test_svmlight_columns_that_are_not_there_are_zero(tmp_path):
    X, y, names = small_problem()
    selection, _ = select(*write_svmlight(tmp_path, X, y, names), k=30)
    (tmp_path / "b").write_text("1 1:2.5\n1 2:1\n", encoding="utf-8")
    found = selection.apply(tmp_path / "b")
    assert found[0, selection.indices.index(0)] == 2.5
    assert (found != 0).sum() == 2


@pytest.mark.filterwarnings("ignore:DSOSelector")  # neither column tells the classes apart
def test_categories_and_filled_values(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "a,c,y\n" + "".join(f"{i},{'rs'[i % 3 > 0]},{i % 2}\n" for i in range(9)) + ",,1\n", encoding="utf-8"
    )
    selection, table = select(path, "y", k=3, impute="median")
    np.testing.assert_array_equal(selection.apply(path), table.X[:, selection.indices])
    (tmp_path / "b.csv").write_text("c,a\nnew,NA\n,2\n", encoding="utf-8")
    found = dict(zip(selection.names, selection.apply(tmp_path / "b.csv").T, strict=True))
    assert found["a"].tolist() == [4, 2]
    assert found["c=s"].tolist() == [0, 1]  # a category never seen; the most frequent in place of nothing
    plain, _ = select(path, "y", k=1, impute="median", drop=["c"])
    (tmp_path / "b.csv").write_text("a\nlow\nhigh\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"holds text \('low'\)"):
        plain.apply(tmp_path / "b.csv")


@pytest.mark.filterwarnings("ignore:DSOSelector")  # one column does not tell the classes apart
def test_categories_that_another_file_holds_as_numbers(tmp_path):
    def applied(header, cells, other, **options):
        (tmp_path / "a").write_text(
            f"{header}{''.join(f'{cell},{i % 2}{chr(10)}' for i, cell in enumerate(cells))}", encoding="utf-8"
        )
        (tmp_path / "b.csv").write_text(other, encoding="utf-8")
        selection, table = select(tmp_path / "a", "y", k=2, **options)
        assert all(feature.category for feature in table.features)
        return dict(zip(selection.names, selection.apply(tmp_path / "b.csv").T.tolist(), strict=True))

    truths = ["True", "False", "False", "True", "True"]
    found = applied("c,y\n", truths, "c,y\n1,0\n0,1\n")
    assert found == {"c=True": [1, 0], "c=False": [0, 1]}
    arff = "@relation r\n@attribute c {1234567,1234568}\n@attribute y {0,1}\n@data\n"
    codes = ["1234567", "1234568", "1234568", "1234567", "1234567"]
    found = applied(arff, codes, "c,y\n1234567,0\n1234568,1\n")
    assert found == {"c=1234567": [1, 0], "c=1234568": [0, 1]}
    with pytest.raises(ValueError, match=r"'c' must hold text, as in the data of the selection, and holds numbers \(7"):
        applied("c,y\n", ["r", "s", "s", "r", "r"], "c,y\n7,0\n8,1\n")
    with pytest.raises(ValueError, match="has 2 missing values"):
        applied("c,y\n", ["r", "s", "s", "r", "r"], "c,y\n,0\n,1\n")
    found = applied("c,y\n", ["r", "s", "s", "r", "r", ""], "c,y\n,0\n,1\n", impute="median")
    assert found == {"c=r": [1, 1], "c=s": [0, 0]}


def test_only_an_index_that_no_sample_of_svmlight_has_is_zero(selection, tmp_path):
    """0 too, where a file that counts from 0 has no value there."""
    (tmp_path / "b").write_text("1 2:2.5\n1 3:1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"lacks 4 of the selected columns: '{selection.names[0]}'"):
        selection.apply(tmp_path / "b")
    (tmp_path / "c.csv").write_text("a,0,4,y\n7,1,5,u\n7,2,6,u\n7,3,4,v\n7,4,3,v\n", encoding="utf-8")
    for dropped in ("0", "4"):
        other, _ = select(tmp_path / "c.csv", "y", k=1, drop=["a", dropped])
        assert other.apply(tmp_path / "b").tolist() == [[0], [0]]


def test_why_columns_are_missing(selection, tmp_path):
    X, y, names = small_problem()
    rows = [f'"{name}",{",".join(map(repr, column))}' for name, column in zip(names, X.T.tolist(), strict=True)]
    header = ",".join(["gene", *(f"s{index}" for index in range(len(X)))])
    (tmp_path / "b.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"lacks 4 of .* They are rows of the file, and one sample per row is needed"):
        selection.apply(tmp_path / "b.csv")
    capitals = [name.upper() if name == selection.names[0] else name for name in names]
    (tmp_path / "b.csv").write_text(csv_lines(X, y, capitals), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"lacks 1 of .* It has '{selection.names[0].upper()}': write names alike"):
        selection.apply(tmp_path / "b.csv")


@pytest.mark.filterwarnings("ignore:DSOSelector")  # one column does not tell the classes apart
def test_categories_that_the_selection_does_not_know_are_noted(tmp_path):
    (tmp_path / "a.csv").write_text("c,y\nr,0\ns,1\ns,1\nr,0\nr,1\n", encoding="utf-8")
    table = read_labelled(tmp_path / "a.csv", "y")
    selection = Selection.of(
        table, DSOSelector(1, feature_groups=table.feature_groups).fit(table.X, table.y), "dso", {}
    )
    (tmp_path / "b.csv").write_text("c\nr\nt\nt\n", encoding="utf-8")
    note = apply_selection(selection, tmp_path / "b.csv", tmp_path / "out.csv").notes[0].text
    assert note.startswith("'c' holds what was not in the data of the selection, first in sample 2: 2 of 3 samples")
    assert apply_selection(selection, tmp_path / "a.csv").notes == ()


def test_gaps_that_nothing_fills_are_refused(selection, tmp_path):
    X, y, names = small_problem()
    X[3, selection.indices[0]] = np.nan
    (tmp_path / "b.csv").write_text(csv_lines(X, y, names), encoding="utf-8")
    with pytest.raises(ValueError, match="has 1 missing values"):
        selection.apply(tmp_path / "b.csv")


def refused(tmp_path, text):
    (tmp_path / "s.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"is not a selection of dsofs: ") as caught:
        Selection.load(tmp_path / "s.json")
    return str(caught.value)


def test_what_does_not_fit_the_schema(selection, tmp_path):
    good = json.loads(selection.to_json())
    assert "schema is missing" in refused(tmp_path, "{}")
    assert "must be an object" in refused(tmp_path, "[]")
    assert "it is not JSON. Give the selection.json that dsofs select wrote" in refused(tmp_path, "not json")
    assert "recursion" in refused(tmp_path, "[" * 100_000)
    assert "schema_version must be 2 for this version of dsofs" in refused(
        tmp_path, json.dumps({**good, "schema_version": 3})
    )
    assert "extra is not known" in refused(tmp_path, json.dumps({**good, "extra": 1}))
    assert "Infinity" in refused(tmp_path, json.dumps({**good, "intercept": [float("inf")]}))
    assert "features must be" in refused(tmp_path, json.dumps({**good, "features": []}))
    for position in (good["n_columns"], good["target_position"]):
        entry = {**good["features"][0], "position": position}
        assert "position must be below n_columns" in refused(tmp_path, json.dumps({**good, "features": [entry]}))
    assert "features[0].rank must be" in refused(
        tmp_path, json.dumps({**good, "features": [{**good["features"][0], "rank": "1"}]})
    )


@given(data=st.data())
def test_any_other_value_in_the_place_of_one_is_refused_or_valid(data, tmp_path_factory):
    """A damaged file is a ValueError, never another error and never something to run."""
    folder = tmp_path_factory.mktemp("selection")
    (folder / "a.csv").write_text(csv_lines(*small_problem(n_samples=10, n_features=8)), encoding="utf-8")
    content = json.loads(select(folder / "a.csv", "label", k=1)[0].to_json())
    value = data.draw(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=3))
    content[data.draw(st.sampled_from(sorted(content)))] = value
    (folder / "s.json").write_text(json.dumps(content), encoding="utf-8")
    with suppress(ValueError):
        Selection.load(folder / "s.json")
