"""What the findings mean, in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass

from dsofs.examination.findings import BalancedAccuracy, Findings
from dsofs.problem import Status
from dsofs.report.grade import (
    EXCELLENT,
    LOSS,
    POOR,
    SIGNIFICANT,
    TOO_FEW,
    Grade,
    adds_nothing,
    beats_chance,
    can_show,
    exceeds_chance,
    grade,
    loss,
    reservations,
    too_few_labellings,
)
from dsofs.report.html import shorten

FEW_SAMPLES = 5  # in a class
UNBALANCED = 3  # largest class to smallest
AS_WELL = 0.05  # skill by which levels of a covariate may be predicted worse than the classes, and still "as well"
NAMED = 5  # classes or covariates that a sentence names
NAME_LENGTH = 28  # characters
REASONS = 2  # that a headline gives
WITHOUT_FEATURES = [status.short for status in Status if status.without_features]  # the selector's warning says why


@dataclass(frozen=True)
class Remark:
    """A sentence, and whether it calls for attention."""

    sentence: str
    attention: bool = False


def headline(findings: Findings) -> str:
    """The answer in one line: the grade, and why."""
    k, found = len(findings.chosen), grade(findings)
    some = f"{found.words}: {k:,} of {findings.n_features:,} features"
    if found is Grade.REJECT:
        return f"{some} {'were' if k > 1 else 'was'} chosen, but {_why_rejected(findings)}"
    classes = f"{len(findings.classes)} classes"
    if findings.balanced is not None and findings.balanced.untested:
        classes = f"{findings.balanced.n_tested} of {classes}"
    separated = f"{some} tell{'' if k > 1 else 's'} {classes} apart"
    reasons = reservations(findings)[:REASONS]
    return f"{separated}, but {' and '.join(reasons)}" if reasons else separated


def _why_rejected(findings: Findings) -> str:
    if findings.balanced is None:
        return "fewer than two classes could be tested"
    test = findings.permutation
    if too_few_labellings(test):
        return TOO_FEW
    if test is not None and test.p_value <= SIGNIFICANT:
        return "their predictions are hardly better than chance"
    return "their predictions may be no better than chance"


def accuracy_words(findings: Findings) -> str:
    """The figures of a selection in one sentence."""
    return "; ".join(_figures(findings))


def in_words(findings: Findings) -> str:
    """The answer and its figures, a line each."""
    return "\n".join(f"{capitalised(line)}." for line in (headline(findings), *_figures(findings)))


def _figures(findings: Findings) -> list[str]:
    """Accuracy with the chosen features, with all of them and of the largest class; the p-value."""
    curve = findings.accuracy
    sentence = f"Held-out accuracy {curve.at_k:.0%} ± {100 * curve.deviation_at_k:.0f} with {_features(curve.k)}"
    if curve.all_features is not None and curve.k < findings.n_features:
        sentence += f", {curve.all_features:.0%} with all {findings.n_features:,}"
    sentence += f", {curve.chance:.0%} by always naming the largest class"
    found = p_words(findings)
    return [sentence, *([f"permutation test: {found}" if found.startswith("p = ") else found] if found else [])]


def capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def p_words(findings: Findings) -> str:
    """The p-value of the permutation test, and what bounds it; empty if there was no test."""
    test = findings.permutation
    if test is None:
        return ""
    if too_few_labellings(test):
        return (
            "the permutation test cannot rule out chance: with so few samples, or groups of them, no p-value below "
            f"{test.smallest:.2g} is possible"
        )
    if not test.n_as_good:
        return f"p = {test.p_value:.2g}, the smallest that {len(test.shuffled)} shuffles allow"
    return f"p = {test.p_value:.2g}"


def _features(k: int) -> str:
    return "1 feature" if k == 1 else f"{k:,} features"


def remarks(findings: Findings) -> list[Remark]:
    """What a reader should know before using the features."""
    return [*own_remarks(findings), *(Remark(warning, True) for warning in findings.warnings)]


def own_remarks(findings: Findings) -> list[Remark]:
    """Remarks that follow from what was measured."""
    found = [_chance(findings), _given_away(findings), *_split_apart(findings), _beside_covariates(findings)]
    found += _told_apart(findings)
    if beats_chance(findings):
        found += [_loss(findings), _number(findings), *_suspects(findings)]  # for noise they mean nothing
    found += [
        _stability(findings), _weightless(findings), _certificate(findings), _untested(findings),
        _small_classes(findings), _balance(findings),
    ]  # fmt: skip
    return [remark for remark in found if remark is not None]


def _chance(findings: Findings) -> Remark | None:
    """What the permutation test says, together with accuracy and its uncertainty."""
    test, rejected = findings.permutation, not beats_chance(findings)
    uncertain = "accuracy is not above chance by more than its uncertainty"
    if test is None:
        return Remark(f"{capitalised(uncertain)}: what was found may be chance.", True) if rejected else None
    if too_few_labellings(test):
        return Remark(f"{capitalised(p_words(findings))}.", True)
    did = test.n_as_good or "none"
    sentence = f"Of {len(test.shuffled)} runs on shuffled labels, {did} predicted as well as the true ones"
    if not can_show(test):
        besides = uncertain if rejected else "accuracy is above chance by more than its uncertainty"
        return Remark(f"{sentence}. So few runs cannot rule out chance by themselves; {besides}.", rejected)
    if test.p_value > SIGNIFICANT:
        return Remark(f"{sentence} (p = {test.p_value:.2g}): what was found may be chance.", True)
    if rejected:
        return Remark(f"{sentence} (p = {test.p_value:.2g}), but {uncertain}: at best they predict poorly.", True)
    return Remark(f"{sentence}: this is not chance ({p_words(findings)}).")


def _given_away(findings: Findings) -> Remark | None:
    """Chosen features that are as good as the label, and so may be known only with it."""
    names = [feature.name for feature in findings.chosen if feature.gives_label_away]
    if not names:
        return None
    verb = "has values" if len(names) == 1 else "have values"
    return Remark(
        f"{_named(names)} {verb} that occur in one class only, as the label itself under another name does. Unless "
        "this is known before the class is, leave it out and select again.", True,
    )  # fmt: skip


def _split_apart(findings: Findings) -> list[Remark]:
    """Samples that may belong together: then accuracy and stability are too good."""
    return [
        Remark(
            f"Several samples have the same {shorten(common, NAME_LENGTH)}. If they are not independent, all figures "
            "here are too good: give a column that says which belong together as groups of samples (--sample-groups); "
            "leave out (--drop) a column of IDs that means nothing.", True,
        )
        for common in findings.repeated_ids
    ]  # fmt: skip


def _beside_covariates(findings: Findings) -> Remark | None:
    """What the chosen features add to the covariates."""
    found = findings.covariates
    if found is None:
        return None
    alone = (
        f"The covariates alone ({_named(found.names)}) predict {found.alone.mean:.0%} of the held-out samples correctly"
    )
    both = f"{found.together.mean:.0%} with the chosen features"
    if adds_nothing(findings):
        return Remark(f"{alone}, {both}: the features add nothing to them.", True)
    return Remark(f"{alone}, {both}.")


def _told_apart(findings: Findings) -> list[Remark]:
    """Covariates whose levels the chosen features tell apart as well as the classes."""
    of_classes = findings.balanced
    if findings.covariates is None or of_classes is None:
        return []
    return [
        Remark(
            f"The chosen features tell the {each.n_levels} levels of {shorten(each.name, NAME_LENGTH)!r} apart as well "
            f"as the classes (balanced accuracy {_over_chance(each.balanced)}; of the classes "
            f"{_over_chance(of_classes)}): they may say more about it than about the classes.", True,
        )
        for each in findings.covariates.levels
        if exceeds_chance(each.balanced) and each.balanced.skill > of_classes.skill - AS_WELL
    ]  # fmt: skip


def _over_chance(balanced: BalancedAccuracy) -> str:
    return f"{balanced.mean:.0%} where chance is {balanced.chance:.0%}"


def _loss(findings: Findings) -> Remark | None:
    curve, lost = findings.accuracy, loss(findings)
    if lost is None or curve.all_features is None or curve.k == findings.n_features:
        return None
    every = f"All {findings.n_features:,} features predict {curve.all_features:.0%} of the held-out samples correctly"
    own = f"{_features(curve.k)} {curve.at_k:.0%}"
    if lost > LOSS:
        return Remark(f"{every}, {'these' if curve.k > 1 else 'this'} {own}: use more of them if you can.", True)
    return Remark(f"{every}, {own}: {'little' if lost > 0 else 'nothing'} is lost by the selection.")


def _number(findings: Findings) -> Remark | None:
    """No accuracies are given: that of a number chosen by the curve is too optimistic."""
    curve = findings.accuracy
    if len(curve.ks) == 1:
        return None
    if curve.one_se_k < curve.k:
        return Remark(
            f"Fewer may do: from {_features(curve.one_se_k)} on, accuracy is within one standard error of the best."
        )
    if curve.one_se_k > curve.k:
        return Remark(
            f"More features may predict better: {curve.one_se_k:,} come within one standard error of the best number "
            "tried.", True,
        )  # fmt: skip
    return Remark(f"Fewer than {curve.k} would predict worse, by more than one standard error." if curve.k > 1 else
                  "One feature predicts as well as more would.")  # fmt: skip


def _stability(findings: Findings) -> Remark | None:
    index = findings.stability.at_k
    if index is None:
        return None
    if index < POOR:
        return Remark(
            f"Which features are chosen depends much on the samples (stability {index:.2f} of 1): others would do as "
            "well. Read the choice as one of several.", True,
        )  # fmt: skip
    degree = "hardly depends" if index >= EXCELLENT else "depends somewhat"
    return Remark(f"The choice {degree} on which samples are used (stability {index:.2f} of 1).")


def _weightless(findings: Findings) -> Remark | None:
    n = sum(feature.has_weight is False for feature in findings.chosen)
    if not n:
        return None
    used = len(findings.chosen) - n
    return Remark(
        f"The model itself uses {used} of the {_features(len(findings.chosen))}: the others fill up the number asked "
        "for.", True,
    )  # fmt: skip


def _certificate(findings: Findings) -> Remark | None:
    convergence = findings.convergence
    if convergence is None or convergence.value is None or convergence.status in WITHOUT_FEATURES:
        return None
    if not convergence.status.startswith("converged"):
        return Remark(
            f"The solver stopped early ({convergence.status}): see 'Convergence and certificate' in the report.", True
        )
    if convergence.certificate == "duality gap":
        return Remark(f"The weights are certified to be within {convergence.value:.2%} of the optimum.")
    return Remark(f"The weights meet the conditions of a local optimum, to {convergence.value:.1g}.")


def _suspects(findings: Findings) -> list[Remark]:
    in_proof = sum(each.in_conflict for each in findings.suspects)
    far = len(findings.suspects) - in_proof
    found = []
    if far:
        found.append(f"{far} sample{'s' * (far > 1)} may be mislabelled")
    if in_proof:
        found.append(f"No linear rule classifies all samples correctly, and {in_proof} of them prove it")
    return [Remark(f"{sentence}: see 'Labels to check' in the report.", True) for sentence in found]


def _untested(findings: Findings) -> Remark | None:
    if findings.balanced is None:
        return Remark(
            "Fewer than two classes were ever held out, so nothing can be said about telling them apart: more samples, "
            "or groups of them, are needed.", True,
        )  # fmt: skip
    names = findings.balanced.untested
    if not names:
        return None
    tested = f"{findings.balanced.n_tested} of {len(findings.classes)} classes"
    return Remark(f"Never held out, and so not tested: {_named(names)}. All figures are of the other {tested}.", True)


def _named(names: list[str]) -> str:
    named = ", ".join(shorten(name, NAME_LENGTH) for name in names[:NAMED])
    return named + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _small_classes(findings: Findings) -> Remark | None:
    small = [count for count in findings.classes if count.n_samples < FEW_SAMPLES]
    if not small:
        return None
    have = "has" if len(small) == 1 else "have"
    return Remark(f"{len(small)} of {len(findings.classes)} classes {have} fewer than {FEW_SAMPLES} samples.", True)


def _balance(findings: Findings) -> Remark | None:
    counts = [count.n_samples for count in findings.classes]
    if findings.balanced is None or max(counts) < UNBALANCED * min(counts):
        return None
    which = f" over the {findings.balanced.n_tested} that could be tested" if findings.balanced.untested else ""
    return Remark(
        f"Classes have {min(counts)} to {max(counts)} samples. With equal weight for each class, accuracy is "
        f"{findings.balanced.mean:.0%}{which}.", True,
    )  # fmt: skip
