"""How far a selection can be trusted: three grades, and the one rule that gives them.

A selection is not to be used unless its held-out predictions are shown to be better than chance, by both of

* balanced accuracy: it exceeds chance (1 / classes) by more than CERTAIN standard errors;
* the permutation test, where it was run and can reach p <= SIGNIFICANT: it does.

The test may be unable to, since few samples, or groups of them, have few labellings: then the best possible
grade is "with care".
It is also to be used with care if something that matters is poor (``reservations``); otherwise it can be trusted.
"""

from __future__ import annotations

from enum import Enum

from scipy.stats import norm

from dsofs.examination.findings import BalancedAccuracy, Findings, PermutationTest

SIGNIFICANT = 0.05
CERTAIN = float(norm.isf(0.025))  # 1.96: of 40 selections from noise, one passes at most (benchmarks/null_data.py)
EXCELLENT, POOR = 0.75, 0.4  # of an agreement beyond chance; the limits of Fleiss, as Nogueira et al. use them
TOO_FEW = "there are too few samples, or groups of them, to rule out chance"
HALF = 0.5  # of the held-out samples; of many classes, a prediction far above chance can still be mostly wrong
GIVEN_AWAY = "some may be the label under another name"
SPLIT_APART = "samples that may belong together were both learned and tested"
LOSS = 0.05  # of accuracy against all features: more is beyond the usual standard error of 50 to 100 samples


class Grade(Enum):
    """The verdict: its words, and what they mean."""

    TRUST = (
        "Trust it",
        "The features predict new samples well, and other samples would have led to much the same choice.",
    )
    CARE = "With care", "The features predict new samples better than chance, with the reservations named."
    REJECT = "Do not use", "It is not shown that the features predict new samples better than chance."

    def __init__(self, words: str, meaning: str) -> None:
        self.words, self.meaning = words, meaning


def grade(findings: Findings) -> Grade:
    if not beats_chance(findings):
        return Grade.REJECT
    return Grade.CARE if reservations(findings) else Grade.TRUST


def beats_chance(findings: Findings) -> bool:
    """Whether the held-out predictions are shown to be better than chance."""
    balanced, test = findings.balanced, findings.permutation
    if balanced is None or not exceeds_chance(balanced):
        return False
    return test is None or not can_show(test) or test.p_value <= SIGNIFICANT


def exceeds_chance(balanced: BalancedAccuracy) -> bool:
    """Whether it exceeds chance by more than its uncertainty."""
    return balanced.mean - CERTAIN * balanced.standard_error > balanced.chance


def can_show(test: PermutationTest) -> bool:
    """Whether a p-value of SIGNIFICANT or less was possible, with these samples and this number of shuffles."""
    return not too_few_labellings(test) and test.smallest_of_shuffles <= SIGNIFICANT


def too_few_labellings(test: PermutationTest | None) -> bool:
    """Whether no number of shuffles could give a p-value of SIGNIFICANT or less."""
    return test is not None and test.smallest > SIGNIFICANT


def skill(findings: Findings) -> float:
    """Balanced accuracy on a scale where chance is 0 and perfect prediction is 1."""
    return 0.0 if findings.balanced is None else findings.balanced.skill


def loss(findings: Findings) -> float | None:
    """Accuracy of all features less that of the chosen ones; None if that of all was not measured."""
    of_all = findings.accuracy.all_features
    return None if of_all is None else of_all - findings.accuracy.at_k


def adds_nothing(findings: Findings) -> bool:
    """Whether there are covariates that predict as well without the chosen features."""
    found = findings.covariates
    return found is not None and found.together.mean <= found.alone.mean


def reservations(findings: Findings) -> list[str]:
    """Why a selection that beats chance is to be used with care, the gravest reason first."""
    curve, balanced, index, lost = findings.accuracy, findings.balanced, findings.stability.at_k, loss(findings)
    found = {
        GIVEN_AWAY: any(feature.gives_label_away for feature in findings.chosen),
        SPLIT_APART: bool(findings.repeated_ids),
        "they add nothing to the covariates": adds_nothing(findings),
        TOO_FEW: too_few_labellings(findings.permutation),
        "they predict little better than chance": skill(findings) < POOR,
        "most predictions are wrong": skill(findings) >= POOR and curve.at_k < HALF,
        "always naming the largest class would be correct as often": curve.at_k <= curve.chance,
        "all features predict clearly better": lost is not None and lost > LOSS,
        "the choice is unstable": index is not None and index < POOR,
        "the others could not be tested": balanced is not None and bool(balanced.untested),
    }
    return [reason for reason, holds in found.items() if holds]
