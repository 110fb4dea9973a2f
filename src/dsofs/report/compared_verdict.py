"""What a comparison of methods means, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dsofs.experiments.side_by_side import CLEAR, ENOUGH_TRIALS, Best, Luck, SideBySide
from dsofs.report.grade import CERTAIN, Grade
from dsofs.report.verdict import Remark

TINY = 0.001  # smaller p-values are not distinguished


def headline(found: SideBySide) -> str:
    """The answer in one line."""
    best = found.best()
    if not beats_chance(found):
        return f"{Grade.REJECT.words}: no method is shown to predict better than chance"
    winners = {each.method: [other.k for other in best if other.method == each.method] for each in best}
    if len(found.asked.methods) == 1:
        return f"{best[0].method} predicts {max(each.accuracy for each in best):.1%} of the held-out samples correctly"
    if len(winners) == 1:
        where = f"at every k tried ({_listed(winners[best[0].method])})" if len(best) > 1 else f"at k = {best[0].k}"
        return f"{best[0].method} was best {where}{_how_surely(best)}"
    who = [f"{method} {'was best ' if not place else ''}at k = {_listed(ks)}"
           for place, (method, ks) in enumerate(winners.items())]  # fmt: skip
    return f"{', '.join(who)}{_how_surely(best)}"


def beats_chance(found: SideBySide) -> bool:
    """Whether some method is shown to be better than chance, by the rule that grades a single selection."""
    return found.above_chance() > CERTAIN


def _how_surely(best: Sequence[Best]) -> str:
    luck = [each.luck for each in best if each.luck is not None]
    if not luck:
        return ", over too few trials to rule out chance"
    if all(each.samples < CLEAR for each in luck):
        return ", by more than chance"
    steady = [each.k for each in best if each.luck is not None and each.luck.splits < CLEAR]
    if not steady:
        return ", but by no more than chance allows"
    where = "" if len(steady) == len(best) else f" at k = {_listed(steady)}"
    return f", by more than the luck of the splits{where}"


def lead(found: SideBySide) -> str:
    """How it was measured, in one sentence."""
    trials = "1 random split" if found.asked.trials == 1 else f"{found.asked.trials} random splits"
    return (
        f"Held-out accuracy over {trials}, with everything chosen and tuned on the training part alone; always naming "
        f"the largest class reaches {found.chance:.0%}."
    )


def remarks(found: SideBySide) -> list[Remark]:
    """What a reader should know before choosing a method."""
    best = found.best()
    return [
        *(remark for each in best if (remark := _ahead(each)) is not None),
        *_few_trials(found),
        _no_selection(found, best),
        *_useless(found, best),
        *_warnings(found),
        *(Remark(note, True) for note in found.asked.notes),
    ]


def _ahead(best: Best) -> Remark | None:
    if best.next is None:
        return None
    features = "1 feature" if best.k == 1 else f"{best.k} features"
    start = f"With {features}, {best.method} reaches {best.accuracy:.1%}"
    if best.lead == 0:
        return Remark(f"{start}, and {best.next} the same.")
    sentence = f"{start}, {100 * best.lead:.1f} points more than {best.next}, the next"
    return Remark(f"{sentence}{_luck_words(best.luck)}.")


def _luck_words(luck: Luck | None) -> str:
    if luck is None:
        return ""
    if luck.samples < CLEAR:
        return f": more than chance ({p_words(luck.samples)})"
    if luck.splits < CLEAR:
        return (
            f": on these samples more than the luck of the splits ({p_words(luck.splits)}), though other samples "
            f"of the kind might show otherwise ({p_words(luck.samples)})"
        )
    return f": that may be chance ({p_words(luck.splits)})"


def p_words(p_value: float) -> str:
    return f"p < {TINY:g}" if p_value < TINY else f"p = {p_value:.2g}"


def _few_trials(found: SideBySide) -> Iterable[Remark]:
    if found.asked.trials < ENOUGH_TRIALS and len(found.asked.methods) > 1:
        yield Remark(
            f"{ENOUGH_TRIALS} trials or more are needed to say whether a difference is more than chance: the same "
            "command with a larger --trials continues from here.", True,
        )  # fmt: skip


def _no_selection(found: SideBySide, best: Sequence[Best]) -> Remark:
    top = max(best, key=lambda each: each.accuracy)
    reference = float(found.all_features.mean())
    n = f"all {found.asked.n_features:,} features"
    if top.accuracy >= reference:
        return Remark(f"Selecting costs no accuracy: {n} reach {reference:.1%}, {top.k} of them {top.accuracy:.1%}.")
    return Remark(f"Without selection, {n} reach {reference:.1%}: {100 * (reference - top.accuracy):.1f} points more "
                  f"than {top.method} with {top.k}.", True)  # fmt: skip


def _useless(found: SideBySide, best: Sequence[Best]) -> Iterable[Remark]:
    if not beats_chance(found):
        yield Remark("With equal weight for each class, no accuracy exceeds chance by more than its uncertainty.", True)
    elif max(each.accuracy for each in best) <= found.chance:
        yield Remark("No method predicts better than always naming the largest class.", True)


def _warnings(found: SideBySide) -> Iterable[Remark]:
    for (method, kind), times in found.warnings.items():
        yield Remark(f"{method} warned in {times} of {found.asked.trials} trials ({kind}).", True)


def _listed(items: Sequence[object]) -> str:
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last
