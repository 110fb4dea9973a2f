"""What the findings mean, in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass

from dsofs.evaluation.findings import Findings

SIGNIFICANT = 0.05
EXCELLENT, POOR = 0.75, 0.4  # stability; the limits of Fleiss, as Nogueira et al. use them
FEW_SAMPLES = 5  # in a class
UNBALANCED = 3  # largest class to smallest


@dataclass(frozen=True)
class Remark:
    """A sentence, and whether it calls for attention."""

    sentence: str
    attention: bool = False


def headline(findings: Findings) -> str:
    """The answer in one line."""
    k, n, c = len(findings.chosen), findings.n_features, len(findings.classes)
    what = f"{k:,} of {n:,} features"
    if looks_like_chance(findings):
        return f"{what} were chosen, but they tell the {c} classes apart no better than chance"
    return f"{what} tell {c} classes apart" if k > 1 else f"1 of {n:,} features tells {c} classes apart"


def looks_like_chance(findings: Findings) -> bool:
    """Whether shuffled labels did as well, too often; a few runs that never did so prove nothing either way."""
    test = findings.permutation
    return test is not None and test.p_value > SIGNIFICANT and test.n_as_good > 0


def accuracy_words(findings: Findings) -> str:
    curve = findings.accuracy
    sentence = f"held-out accuracy {curve.at_k:.0%} ± {100 * curve.deviation_at_k:.0f} (chance {curve.chance:.0%})"
    return sentence if findings.permutation is None else f"{sentence}, p = {findings.permutation.p_value:.2g}"


def balanced_accuracy(findings: Findings) -> float:
    """Mean over the classes of the share predicted rightly; classes never held out are left out."""
    shares = [row[code] / sum(row) for code, row in enumerate(findings.confusion) if sum(row)]
    return sum(shares) / len(shares)


def remarks(findings: Findings) -> list[Remark]:
    """All that a reader should know before using the features."""
    found = [_chance(findings)]
    if not looks_like_chance(findings):
        found += [_number(findings), _suspects(findings)]  # of noise, neither says anything
    found += [_stability(findings), _certificate(findings), _small_classes(findings), _balance(findings)]
    return [remark for remark in found if remark is not None] + [Remark(told, True) for told in findings.warnings]


def _chance(findings: Findings) -> Remark | None:
    test = findings.permutation
    if test is None:
        return None
    did = test.n_as_good or "none"
    sentence = f"Of {len(test.shuffled)} runs on shuffled labels, {did} predicted as well as the true ones"
    if looks_like_chance(findings):
        return Remark(f"{sentence}: what was found may be chance.", True)
    if test.p_value > SIGNIFICANT:
        return Remark(f"{sentence}, but so few runs cannot tell it from chance.", True)
    return Remark(f"{sentence}: this is not chance (p = {test.p_value:.2g}).")


def _number(findings: Findings) -> Remark:
    curve = findings.accuracy
    at = curve.mean[curve.ks.index(curve.one_se_k)]
    if curve.one_se_k < curve.k:
        some = "1 feature reaches" if curve.one_se_k == 1 else f"{curve.one_se_k} features reach"
        return Remark(f"Fewer may do: {some} {at:.0%}, within one standard error of the best.")
    if curve.one_se_k > curve.k:
        best = f", {curve.best_k} {max(curve.mean):.0%}" if curve.best_k > curve.one_se_k else ""
        return Remark(f"More features would predict better: {curve.one_se_k} reach {at:.0%}{best}.", True)
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
    degree = "hardly" if index >= EXCELLENT else "somewhat"
    return Remark(f"The choice depends {degree} on which samples are used (stability {index:.2f} of 1).")


def _certificate(findings: Findings) -> Remark | None:
    convergence = findings.convergence
    if convergence is None or convergence.value is None:
        return None
    if not convergence.status.startswith("converged"):
        return Remark(f"The solver stopped early ({convergence.status}): see below.", True)
    if convergence.certificate == "duality gap":
        return Remark(f"The weights are within {convergence.value:.2%} of the optimum, which is certified.")
    return Remark(f"The weights are a stationary point, to {convergence.value:.1g}.")


def _suspects(findings: Findings) -> Remark | None:
    n = len(findings.suspects)
    if not n:
        return None
    samples = "1 sample has a label" if n == 1 else f"{n} samples have labels"
    return Remark(f"{samples} that the other samples contradict: see below.", True)


def _small_classes(findings: Findings) -> Remark | None:
    small = [count for count in findings.classes if count.n_samples < FEW_SAMPLES]
    if not small:
        return None
    return Remark(f"{len(small)} of {len(findings.classes)} classes have fewer than {FEW_SAMPLES} samples.", True)


def _balance(findings: Findings) -> Remark | None:
    counts = [count.n_samples for count in findings.classes]
    if max(counts) < UNBALANCED * min(counts):
        return None
    return Remark(
        f"Classes have {min(counts)} to {max(counts)} samples. With each class counting alike, accuracy is "
        f"{balanced_accuracy(findings):.0%}.", True,
    )  # fmt: skip
