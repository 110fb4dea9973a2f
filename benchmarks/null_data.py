"""Labels that the features say nothing about: are p-values uniform, and is nothing called a success?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import click
import numpy as np
from joblib import Parallel, delayed

from benchmarks.harness import record, rows_of, study, write_table
from dsofs import DSOSelector, DSOSelectorCV
from dsofs.experiments.results import Row
from dsofs.report import examine
from dsofs.report.grade import Grade, grade

STUDY = "null_data"
N_FEATURES, K = 100, 5
FEW_FEATURES = 20  # of tall data
MEAN_COUNT = 2.0
PS = (0.5, 1.0)  # to choose from, where p is tuned
PERMUTATIONS = 39  # p-values of 0.025, 0.05, ...
LEVELS = (0.05, 0.1, 0.2)
Labels = tuple[np.ndarray, np.ndarray | None]  # labels, groups of samples


def balanced(rng: np.random.Generator) -> Labels:
    return rng.permutation(np.arange(40) % 2), None


def unbalanced(rng: np.random.Generator) -> Labels:
    return rng.permutation(np.repeat([0, 1, 2], [36, 16, 8])), None


def four_classes(rng: np.random.Generator) -> Labels:
    return rng.permutation(np.arange(60) % 4), None


def many_samples(rng: np.random.Generator) -> Labels:
    return rng.permutation(np.arange(200) % 2), None


def one_alone(rng: np.random.Generator) -> Labels:
    """A third class of a single sample."""
    return rng.permutation(np.r_[np.arange(40) % 2, 2]), None


def pure_groups(rng: np.random.Generator) -> Labels:
    """Groups of two to five samples, each of one class."""
    groups = np.repeat(np.arange(20), rng.integers(2, 6, 20))
    return rng.permutation(np.arange(20) % 2)[groups], groups


def mixed_groups(rng: np.random.Generator) -> Labels:
    """As ``pure_groups``, but in half of the groups every sample has a label of its own."""
    labels, groups = pure_groups(rng)
    own = rng.permutation(20)[:10]
    return np.where(np.isin(groups, own), rng.integers(0, 2, len(groups)), labels), groups


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(size=shape)


def counts(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.poisson(rng.gamma(1.0, MEAN_COUNT, shape[1]), shape).astype(float)


def fixed() -> DSOSelector:
    return DSOSelector(K)


def tuned() -> DSOSelectorCV:
    return DSOSelectorCV(K, ps=PS, cv=3)


@dataclass(frozen=True)
class Kind:
    labels: Callable[[np.random.Generator], Labels]
    values: Callable[[np.random.Generator, tuple[int, int]], np.ndarray] = normal
    n_features: int = N_FEATURES
    selector: Callable[[], DSOSelector | DSOSelectorCV] = fixed


KINDS = {
    "two classes, balanced": Kind(balanced),
    "three classes, unbalanced": Kind(unbalanced),
    "four classes": Kind(four_classes),
    "more samples than features": Kind(many_samples, n_features=FEW_FEATURES),
    "a class of one sample": Kind(one_alone),
    "counts": Kind(balanced, counts),
    "p tuned inside": Kind(balanced, selector=tuned),
    "pure groups": Kind(pure_groups),
    "groups pure and mixed": Kind(mixed_groups),
}


def measure(kind: str, seed: int) -> dict[str, object]:
    """Samples of a group are alike; the labels know nothing of that."""
    rng, design = np.random.default_rng(seed), KINDS[kind]
    y, groups = design.labels(rng)
    X = design.values(rng, (len(y), design.n_features))
    if groups is not None:
        X += rng.normal(size=(groups.max() + 1, design.n_features))[groups]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = examine(X, y, design.selector(), ks=[K], groups=groups, n_resamples=20, n_permutations=PERMUTATIONS,
                        random_state=seed)  # fmt: skip
    return {
        "p_value": found.permutation.p_value,
        "accuracy": found.accuracy.at_k,
        "chance": found.accuracy.chance,
        "errors_above_chance": (found.balanced.mean - found.balanced.chance) / found.balanced.standard_error,
        "grade": grade(found).name,
        "grade_without_permutations": grade(replace(found, permutation=None)).name,
    }


def draw() -> None:
    rows, lines = rows_of(STUDY), []
    for kind in KINDS:
        of_kind = [row.values for row in rows if row.data == kind]
        shares = [np.mean([values["p_value"] <= level + 1e-9 for values in of_kind]) for level in LEVELS]
        successes = [
            sum(values[which] != Grade.REJECT.name for values in of_kind)
            for which in ("grade", "grade_without_permutations")
        ]
        accuracy, chance = (np.mean([values[name] for values in of_kind]) for name in ("accuracy", "chance"))
        lines.append([
            kind, len(of_kind), f"{accuracy:.1%}", f"{chance:.1%}", *(f"{share:.3f}" for share in shares), *successes,
        ])  # fmt: skip
    write_table(
        STUDY,
        "Null data: labels without information",
        ["kind", "data sets", "accuracy", "largest class", *(f"p <= {level:g}" for level in LEVELS),
         "called a success", "without permutations"],
        lines,
        f"{N_FEATURES} features ({FEW_FEATURES} where samples are more), {K} chosen by "
        f"DSOSelector, 20 resamples, {PERMUTATIONS} shuffles. Uniform p-values are at most the level in that share of "
        "the data sets. A success is any verdict but 'do not use'.",
    )  # fmt: skip


@study(STUDY, draw)
@click.option("--sets", default=40, show_default=True, help="Data sets of each kind.")
def main(sets: int) -> None:
    cells = [(kind, seed) for seed, kind in product(range(sets), KINDS)]
    found = Parallel(n_jobs=-1, return_as="generator")(delayed(measure)(*cell) for cell in cells)
    for (kind, seed), values in zip(cells, found, strict=True):
        record(STUDY, Row(kind, "dso", seed, k=K, values=values))
        print(f"{kind}, {seed + 1} of {sets}", flush=True)


if __name__ == "__main__":
    main()
