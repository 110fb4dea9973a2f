import numpy as np
import pytest

from dsofs.experiments import ALL_FEATURES, CLEAN, CLEAN_AT_100, Row
from dsofs.reproduction.experiments import FEW_KS
from dsofs.reproduction.standing import seconds_tables, significance_tables, stability_tables, standing_tables
from dsofs.reproduction.tables import Results, first_features, matrix, methods_of
from dsofs.statistics import stability

DATA = ("semeion", "ar", "orl", "tox_171")
METHODS = ("f_test", "dso", "lasso")


def results(seed=0, trials=3, methods=METHODS, data=DATA, extra=()):
    """DSO is best everywhere, the F-test worst; features are drawn at random."""
    rng = np.random.default_rng(seed)
    rows = list(extra)
    for name in data:
        for trial in range(trials):
            for method in methods:
                score = {"dso": 0.9, "lasso": 0.8, "f_test": 0.7}[method] + 0.01 * rng.random()
                for k in FEW_KS:
                    values = {"balanced_accuracy": score - 0.1, "macro_f1": score - 0.2, "cell_seconds": 5.0 + trial,
                              "n_features": 300}  # fmt: skip
                    if k == 100:
                        values["features"] = rng.permutation(300)[:100].tolist()
                    rows.append(Row(name, method, trial, {"protocol": CLEAN.name}, k, score, 0.5 + trial, values))
            reference = {"balanced_accuracy": 0.9, "macro_f1": 0.9, "cell_seconds": 1.0, "n_features": 300}
            rows.append(Row(name, ALL_FEATURES, trial, {"protocol": CLEAN.name}, None, 0.95, 0.0, reference))
    return Results(rows)


def cells(table):
    return {line[0]: line[1:] for line in table.lines}


def test_means_over_data_sets_and_the_best_in_bold():
    given = results()
    accuracy, balanced, macro, *by_data = standing_tables(given)
    _, scores = matrix(given.clean, ["dso"], 20)
    assert cells(accuracy)["DSO-FS"][1] == f"**{scores.mean():.2f}**"
    assert "*" not in "".join(cells(accuracy)["Lasso"])
    assert float(cells(balanced)["Lasso"][0]) == pytest.approx(float(cells(accuracy)["Lasso"][0]) - 10, abs=0.011)
    assert float(cells(macro)["Lasso"][0]) == pytest.approx(float(cells(accuracy)["Lasso"][0]) - 20, abs=0.011)
    assert cells(accuracy)["all features"] == ("95.00",) * len(FEW_KS)
    assert [table.title for table in by_data] == [f"Accuracy with {k} features" for k in FEW_KS]
    assert list(cells(by_data[0])) == ["SEMEION", "TOX-171", "AR", "ORL"]


def test_a_data_set_that_lacks_a_method_does_not_count_in_means():
    odd = Row("umist", "dso", 0, {"protocol": CLEAN.name}, 20, 0.1, 1.0,
              {"balanced_accuracy": 0.1, "macro_f1": 0.1, "cell_seconds": 1.0, "n_features": 300})  # fmt: skip
    data, scores = matrix(results(extra=[odd]).clean, methods_of(results().clean), 20)
    assert set(data) == set(DATA)
    assert scores.shape == (4, 3)


def test_dso_comes_first_and_is_held_against_each_of_the_others():
    _, table, *others = significance_tables(results())
    assert len(others) == len(FEW_KS) - 1
    lines = cells(table)
    assert list(lines) == ["DSO-FS", "F-test", "Lasso"]
    assert lines["DSO-FS"][0] == "1.00"
    assert lines["F-test"][0] == "3.00"
    assert float(lines["Lasso"][1]) == pytest.approx(10, abs=1)
    assert lines["Lasso"][2] == "4 / 0 / 0"
    assert lines["Lasso"][3:] == ("0.125", "0.250")  # the smallest p of four pairs; Holm doubles it


def test_the_standing_at_each_k():
    table, *_ = significance_tables(results())
    lines = cells(table)
    assert list(lines) == [str(k) for k in FEW_KS]  # those that were run
    data, accuracy, place, rank, rival, lead, corrected, ahead = lines["10"]
    assert (data, place, rank, rival, corrected) == ("4", "1", "1.00", "Lasso", "0.250")
    assert float(accuracy) == pytest.approx(90.5, abs=0.5)
    assert float(lead) == pytest.approx(10, abs=1)
    assert ahead == "none"  # four data sets are too few


def test_too_little_is_not_tested():
    assert significance_tables(results(data=("ar",))) == []
    assert significance_tables(results(methods=("dso", "lasso"))) == []


def test_stability_is_that_of_the_first_features():
    given = results()
    table = stability_tables(given)[FEW_KS.index(20)]
    chosen = first_features(given.clean, 20)["ar", "dso"]
    assert [len(each) for each in chosen] == [20] * 3
    assert cells(table)["AR"][0].startswith(f"{stability(chosen, 300).index:.2f} [")
    assert cells(stability_tables(results(trials=1))[0])["AR"] == ("",) * 3


def test_features_are_taken_from_the_longest_list_of_a_trial():
    rows = [Row("ar", "dso", 0, k=k, values={"features": list(range(k))}) for k in (20, 50, 30)]
    assert first_features(rows, 40) == {("ar", "dso"): [list(range(40))]}
    assert first_features(rows, 60) == {}


def test_seconds_of_a_selection_and_of_a_trial():
    selection, trial = seconds_tables(results())
    assert cells(selection)["AR"] == ("1.50",) * 3
    assert cells(trial)["AR"] == ("6.00",) * 3


def test_a_data_set_with_nothing_but_the_reference_so_far():
    early = Row("umist", ALL_FEATURES, 0, {"protocol": CLEAN.name}, None, 0.9, 0.0,
                {"balanced_accuracy": 0.9, "macro_f1": 0.9, "cell_seconds": 1.0, "n_features": 300})  # fmt: skip
    selection, _ = seconds_tables(results(extra=[early]))
    assert cells(selection)["UMIST"] == ("",) * 3


def test_rows_of_the_protocol_before_are_shown_as_such_until_there_are_others():
    before, now = (Row("ar", "dso", 0, {"protocol": each.name}, 10, 0.5) for each in (CLEAN_AT_100, CLEAN))
    assert Results([before]).clean == [before]
    assert Results([before]).clean_name == "clean protocol, tuned at 100 features"
    assert Results([before, now]).clean == [now]
    assert Results([before, now]).clean_name == "clean protocol"
    assert Results([before], quick=True).clean == []
