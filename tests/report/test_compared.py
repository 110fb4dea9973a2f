"""The report of a comparison: what it says follows from the rows, and from them alone."""

from dataclasses import replace

import numpy as np
import pytest

from dsofs.report import render_comparison
from dsofs.report.compared import SECTIONS, headline, remarks
from tests.report.examples import HOSTILE, compared
from tests.report.test_page import Reader

RNG = np.random.default_rng(0)
NOISE = 0.001 * RNG.random((1, 1, 10))


def with_accuracy(*levels, noise=NOISE):
    """A comparison whose methods have these accuracies (methods x numbers of features), give or take noise."""
    accuracy = np.array(levels)[:, :, None] + noise
    n, found = len(levels), compared()
    asked = replace(found.asked, methods=["dso", "f_test", "mrmr"][:n], trials=accuracy.shape[2])
    others = {name: getattr(found, name)[:n] for name in ("stability", "seconds", "tuning_seconds")}
    return replace(found, asked=asked, accuracy=accuracy, balanced=accuracy, **others)


def told(found):
    return " ".join(remark.sentence for remark in remarks(found))


def test_the_page_is_well_formed_and_holds_every_section():
    page = render_comparison(compared())
    reader = Reader(page)
    assert reader.open == []
    assert not {"script", "img", "iframe"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]
    assert page.count("<section") == len(SECTIONS)
    assert len(page.encode()) < 1_000_000
    words = " ".join(reader.words)
    assert words.index(headline(compared())) < words.index("Which method is best")
    assert set(HOSTILE) <= {word.replace("␉", "\t") for word in reader.words}
    assert compared().asked.sha256 in words


def test_a_clear_winner():
    found = with_accuracy([0.9, 0.95], [0.5, 0.6], [0.6, 0.7])
    assert headline(found) == "dso was best at every k tried (2 and 5), by more than chance"
    assert "With 2 features, dso reaches 90.1%, 30.0 points more than mrmr, the next: more than chance" in told(found)


def test_winners_differ_and_the_lead_is_noise():
    found = with_accuracy([0.8, 0.7], [0.7, 0.8], noise=0.3 * np.random.default_rng(1).normal(size=(2, 2, 10)))
    found = replace(found, accuracy=found.accuracy - found.accuracy.mean(axis=2, keepdims=True)
                    + np.array([[0.81, 0.8], [0.8, 0.81]])[:, :, None])  # fmt: skip
    assert headline(found) == "dso was best at k = 2, f_test at k = 5, but by no more than chance allows"
    assert "1.0 points more than f_test, the next: that may be chance" in told(found)


def test_the_luck_of_the_splits_is_told_from_that_of_the_samples():
    gain = np.stack([np.tile([0.01, 0.05], 5), np.zeros(10)])[:, None, :]  # always ahead, but not by the same
    found = with_accuracy([0.8, 0.8], [0.8, 0.8], noise=gain)
    best = found.best()[0]
    assert (best.wins, best.worse) == (10, ["f_test"])
    assert best.luck.splits < 0.05 < best.luck.samples
    assert headline(found).endswith("by more than the luck of the splits")
    assert "other samples of the kind might show otherwise" in told(found)


def test_too_few_trials_are_called_so():
    found = with_accuracy([0.9, 0.95], [0.5, 0.6], noise=NOISE[..., :3])
    assert headline(found).endswith("over too few trials to rule out chance")
    assert "a larger --trials continues from here" in told(found)
    assert "too few trials" in render_comparison(found)


def test_equals_and_lone_methods_and_uselessness():
    equal = with_accuracy([0.9, 0.9], [0.9, 0.9])
    assert "and f_test the same" in told(equal)
    assert headline(equal).startswith("dso was best at every k tried (2 and 5), level with the next at k = 2 and 5, ")
    once = replace(equal, asked=replace(equal.asked, ks=equal.asked.ks[:1]))
    assert headline(once).startswith("dso was best at k = 2, level with f_test, ")
    lone = with_accuracy([0.9, 0.8])
    assert headline(lone) == "dso predicts 90.1% of the held-out samples correctly"
    assert 'id="best"' not in render_comparison(lone)
    useless = with_accuracy([0.01, 0.01], [0.0, 0.0])
    assert "no accuracy exceeds chance by more than its uncertainty" in told(useless)
    unbalanced = replace(useless, balanced=with_accuracy([0.9, 0.9], [0.9, 0.9]).balanced)
    assert "No method predicts better than always naming the largest class" in told(unbalanced)


def test_headline_of_a_comparison_on_noise_claims_no_success():
    noise = 0.02 * np.random.default_rng(3).normal(size=(2, 2, 10))
    found = with_accuracy([0.09, 0.08], [0.08, 0.08], noise=noise)  # 13 classes
    assert headline(found) == "Do not use: no method is shown to predict better than chance"


@pytest.mark.parametrize("n_methods", [1, 11])
def test_many_methods_can_be_told_apart(n_methods):
    names = [f"method {number}" for number in range(n_methods)]
    n_ks = len(compared().asked.ks)
    found = replace(
        compared(),
        asked=replace(compared().asked, methods=names, trials=10),
        accuracy=RNG.random((n_methods, n_ks, 10)),
        balanced=RNG.random((n_methods, n_ks, 10)),
        stability=[compared().stability[0]] * n_methods,
        seconds=np.ones((n_methods, 10)),
        tuning_seconds=np.ones((n_methods, 10)),
    )
    page = render_comparison(found)
    assert page.count('class="series ') == 2 * n_methods
    assert ('class="series s0 again"' in page) == (n_methods > 8)
