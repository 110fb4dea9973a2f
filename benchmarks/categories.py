"""How often is a category chosen that says nothing, beside numbers that say nothing, and one that says something?"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np

from benchmarks.harness import record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "categories"
SAMPLES, DRAWS = 200, 60
NUMBERS = (30, 1000)  # features without information beside the category
LEVELS = (2, 5, 20, 50)
CLASSES = (2, 4)
CHOSEN = 10
RIGHT = 0.85  # of the samples have a level of their own class, where the category says something


def draw_data(
    seed: int, levels: int, classes: int, numbers: int, true: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X with the one-hot category first, y, and the groups."""
    rng = np.random.default_rng([seed, levels, classes, numbers])
    y = rng.permutation(np.arange(SAMPLES) % classes)
    level = rng.integers(0, levels, SAMPLES)
    if true:
        meant = np.where(rng.random(SAMPLES) < RIGHT, y, rng.integers(0, classes, SAMPLES))
        level = (rng.integers(0, levels // classes, SAMPLES) * classes + meant) % levels
    category = (level[:, None] == np.unique(level)).astype(float)
    groups = np.append(np.zeros(category.shape[1], dtype=int), np.arange(1, numbers + 1))
    return np.hstack([category, rng.normal(size=(SAMPLES, numbers))]), y, groups


def measure(levels: int, classes: int, numbers: int, true: bool) -> None:
    for seed in range(DRAWS):
        X, y, groups = draw_data(seed, levels, classes, numbers, true)
        fit = DSOSelector(CHOSEN, feature_groups=groups).fit(X, y)
        values = {"first": bool(fit.ranking_[0] <= levels), "chosen": bool(fit.get_support()[0])}
        given = {"levels": levels, "classes": classes, "numbers": numbers, "true": true}
        record(STUDY, Row("synthetic", "dso", seed, given, values=values))


def draw() -> None:
    rows = rows_of(STUDY)

    def share(value: str, **given: object) -> str:
        found = [r.values[value] for r in rows if given.items() <= r.parameters.items()]
        return f"{np.mean(found):.0%}" if found else ""

    lines = []
    for numbers, classes, levels in product(NUMBERS, CLASSES, LEVELS):
        given = {"numbers": numbers, "classes": classes, "levels": levels}
        expected = min(CHOSEN / (numbers + 1), 1.0)
        lines.append(
            [
                numbers,
                classes,
                levels,
                share("chosen", **given, true=False),
                f"{expected:.0%}",
                share("first", **given, true=True),
                share("chosen", **given, true=True),
            ]
        )
    write_table(
        STUDY,
        "Categories beside numbers",
        [
            "numbers",
            "classes",
            "levels",
            f"random: among the first {CHOSEN}",
            "a random number",
            "true: first",
            f"true: among the first {CHOSEN}",
        ],
        lines,
        f"{SAMPLES} samples, one category and numbers without information, {DRAWS} draws, defaults. A true category "
        f"has {RIGHT:.0%} of its samples in levels of their own class.",
    )


@study(STUDY, draw)
def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for numbers, classes, levels, true in product(NUMBERS, CLASSES, LEVELS, (False, True)):
            if not true or levels >= classes:
                measure(levels, classes, numbers, true)


if __name__ == "__main__":
    main()
