"""What the page claims: no more than the measurements show."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dsofs import METHODS, DSOSelector
from dsofs.report import examine, render
from dsofs.report.verdict import own_remarks
from tests.report.examples import adjusted, ordinary

F_TEST = METHODS["f_test"]


def h1(findings):
    return re.search("<h1>(.*?)</h1>", render(findings))[1]


def noise(m=50, n=200, c=2, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n)), np.arange(m) % c


def strong(m=80, n=60, seed=0):
    X, y = noise(m, n, seed=seed)
    X[:, :4] += 3 * y[:, None]
    return X, y


def unlike(findings, *, accuracy, all_features, stability):
    """The findings as they would be with these figures, chance and number of classes left as they are."""
    curve, index = findings.accuracy, findings.stability
    mean = [accuracy if k == curve.k else value for k, value in zip(curve.ks, curve.mean, strict=True)]
    return replace(
        findings,
        accuracy=replace(curve, mean=mean, all_features=all_features),
        balanced=replace(findings.balanced, mean=accuracy, standard_error=0.05),
        stability=replace(index, index=[stability] * len(index.ks)),
        permutation=None,
    )


@pytest.mark.parametrize(("c", "n_permutations"), [(2, 0), (2, 19), (10, 0)])
def test_headline_of_noise_claims_no_success(c, n_permutations):
    for seed in range(3):
        found = examine(*noise(c=c, seed=seed), F_TEST(5), n_resamples=6, n_permutations=n_permutations)
        assert "apart" not in h1(found)
        assert h1(found).startswith("Do not use: 5 of 200 features were chosen, but")


def test_headline_of_a_strong_and_stable_choice_is_trust():
    found = examine(*strong(), F_TEST(4), n_resamples=8, n_permutations=19)
    assert h1(found) == "Trust it: 4 of 60 features tell 2 classes apart"
    assert f"{found.accuracy.all_features:.0%} with all 60" in render(found)


def test_a_feature_that_equals_the_label_costs_the_best_grade():
    X, y = strong()
    X[:, 7] = 5 - 2 * y
    found = examine(X, y, F_TEST(4), n_resamples=8, n_permutations=19)
    assert [feature.index for feature in found.chosen if feature.gives_label_away] == [7]
    assert h1(found) == "With care: 4 of 60 features tell 2 classes apart, but some may be the label under another name"
    assert any("feature 7 has values that occur in one class only" in remark.sentence for remark in own_remarks(found))


def test_predictions_that_are_mostly_wrong_cost_the_best_grade_however_many_classes_there_are():
    many = unlike(ordinary(c=4), accuracy=0.49, all_features=0.3, stability=0.9)
    many = replace(many, balanced=replace(many.balanced, chance=0.025, mean=0.49, standard_error=0.02))
    assert h1(many).startswith("With care: ")
    assert h1(many).endswith("but most predictions are wrong")
    better = replace(many.accuracy, mean=[0.51] * len(many.accuracy.ks))
    assert h1(replace(many, accuracy=better)).startswith("Trust it: ")


def test_headline_weighs_stability_and_what_all_features_reach():
    """62 % of four classes where all features give 74 %, and hardly a feature comes back."""
    four = ordinary(c=4)
    found = unlike(four, accuracy=0.62, all_features=0.74, stability=0.06)
    assert h1(found).startswith("With care: ")
    assert h1(found).endswith("but all features predict clearly better and the choice is unstable")
    assert "62%" in render(found)
    assert "74% with all 64" in render(found)
    assert h1(unlike(four, accuracy=0.9, all_features=0.92, stability=0.8)).startswith("Trust it: ")
    assert h1(unlike(four, accuracy=0.9, all_features=0.92, stability=0.3)).endswith("but the choice is unstable")
    assert h1(unlike(four, accuracy=0.4, all_features=0.4, stability=0.8)).endswith(
        "but they predict little better than chance"
    )
    assert h1(unlike(four, accuracy=0.3, all_features=0.4, stability=0.8)).startswith("Do not use: ")


def test_headline_without_the_accuracy_of_all_features_says_nothing_of_them():
    found = unlike(ordinary(c=4), accuracy=0.9, all_features=None, stability=0.8)
    assert h1(found).startswith("Trust it: ")
    assert "with all" not in render(found)


def test_headline_is_the_same_in_a_notebook():
    for found in (ordinary(), examine(*noise(), F_TEST(5), n_resamples=4, n_permutations=0)):
        assert h1(found) in found._repr_html_()


def test_balanced_accuracy_names_the_classes_that_were_not_tested():
    X, y = strong(61)
    y = np.array(["healthy", "ill", "lone <b>"])[np.where(np.arange(61) == 0, 2, y)]
    found = examine(X, y, F_TEST(4), n_resamples=4, n_permutations=0)
    page = render(found)
    assert found.balanced.untested == ["lone <b>"]
    assert "over 2 of 3 classes: the others were never held out" in page
    assert "Never held out, and so not tested: lone &lt;b&gt;" in page
    assert h1(found) == "With care: 4 of 60 features tell 2 of 3 classes apart, but the others could not be tested"


def test_balanced_accuracy_over_one_class_is_not_shown():
    X, _ = strong(40)
    found = examine(X, (np.arange(40) == 0).astype(int), F_TEST(4), n_resamples=4, n_permutations=0)
    page = render(found)
    assert found.balanced is None
    assert "balanced accuracy" not in page
    assert h1(found).endswith("but fewer than two classes could be tested")


def test_features_without_weight_stand_below_a_line():
    X, y = strong()
    found = examine(X, y, DSOSelector(12, p=0.3), n_resamples=4, n_permutations=0)
    without = [feature.has_weight for feature in found.chosen].index(False)
    assert 0 < without < 12
    page = render(found)
    rows = re.findall(r"<tr(?: class=\"([\w -]*)\")?><td>(\d+)</td>", page)
    assert [int(rank) for kinds, rank in rows if "weightless-from" in kinds.split()] == [without + 1]
    assert "Features below the double line have weight 0" in page
    none = examine(X, y, F_TEST(12), n_resamples=4, n_permutations=0)
    assert {feature.has_weight for feature in none.chosen} == {None}
    assert "double line" not in render(none)


def test_features_that_hardly_come_back_are_grey():
    found = examine(*noise(n=500), F_TEST(10), n_resamples=10, n_permutations=0)
    rows = re.findall(r"<tr(?: class=\"([\w -]*)\")?><td>(\d+)</td>", render(found))
    grey = {int(rank) for kinds, rank in rows if "rare" in kinds.split()}
    assert grey == {feature.rank for feature in found.chosen if feature.frequency < 0.2}
    assert grey


@pytest.mark.parametrize("ranking", ["forward", "survival", "norm"])
def test_features_have_a_score_that_is_explained(ranking):
    X, y = strong(40, 20)
    ours = examine(X, y, DSOSelector(3, ranking=ranking), n_resamples=2, n_permutations=0)
    assert re.search("The score is (1 plus|the size)", render(ours))
    assert "The score is the method&#x27;s own" in render(examine(X, y, F_TEST(3), n_resamples=2, n_permutations=0))


def test_the_best_number_of_features_is_no_estimate():
    """The highest point of the curve was picked by the resamples that measured it."""
    found = unlike(ordinary(c=4), accuracy=0.9, all_features=0.92, stability=0.8)
    curve = replace(found.accuracy, mean=[0.5] * (len(found.accuracy.ks) - 1) + [0.937], one_se_k=found.accuracy.ks[-1])
    remarks = re.search('<ul class="remarks">(.*?)</ul>', render(replace(found, accuracy=curve)))[1]
    assert "More features may predict better" in remarks
    assert "94%" not in remarks
    assert '"best_k"' not in found.to_json()


def test_what_features_add_to_covariates_and_whether_they_tell_batches_apart():
    found, of_classes = adjusted(), adjusted().balanced
    level = found.covariates.levels[0]

    def sentences(alone, together, skill):
        balanced = replace(level.balanced, mean=0.5 + 0.5 * skill, standard_error=0.01)
        changed = replace(
            found.covariates, alone=replace(found.covariates.alone, mean=alone),
            together=replace(found.covariates.together, mean=together), levels=[replace(level, balanced=balanced)],
        )  # fmt: skip
        return {each.sentence: each.attention for each in own_remarks(replace(found, covariates=changed))}

    words = "alone (<script>alert(1)</script>) predict 70% of the held-out samples correctly, "
    few = sentences(0.7, 0.9, 0.0)
    assert few[f"The covariates {words}90% with the chosen features."] is False
    assert not [sentence for sentence in few if "tell the" in sentence]
    many = sentences(0.7, 0.7, of_classes.skill)
    assert many[f"The covariates {words}70% with the chosen features: the features add nothing to them."] is True
    told = next(sentence for sentence in many if sentence.startswith("The chosen features tell the 2 levels of "))
    assert many[told] is True
    assert "apart as well as the classes (balanced accuracy" in told


def test_features_that_add_nothing_to_the_covariates_cost_the_best_grade():
    found = unlike(adjusted(), accuracy=0.9, all_features=0.9, stability=0.8)
    for together, words in ((0.9, "Trust it"), (0.7, "With care")):
        covariates = replace(
            found.covariates, alone=replace(found.covariates.alone, mean=0.7),
            together=replace(found.covariates.together, mean=together),
        )  # fmt: skip
        assert h1(replace(found, covariates=covariates)).startswith(words)
    assert "they add nothing to the covariates" in h1(replace(found, covariates=covariates))


def test_where_no_weight_is_needed_the_solver_did_not_stop_early():
    found = adjusted()
    stopped = "The solver stopped early"
    for status, said in (("max_iter", True), ("stalled", True), ("nothing_left", False), ("zero", False)):
        remarks = own_remarks(replace(found, convergence=replace(found.convergence, status=status, value=0.5)))
        assert any(remark.sentence.startswith(stopped) for remark in remarks) == said
