"""How many of ten planted features are among the first ten: in noise of shared factors, and in independent noise.

Factors: 300 samples of three classes and 5,000 features, half of whose variance comes from 20 latent factors. A planted
feature is higher by ``apart`` standard deviations in one class. What cancels the shared noise predicts well without
being planted. Independent: 200 samples of two classes and 3,000 features, class means ``apart`` from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from benchmarks.harness import record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.experiments.results import Row

STUDY = "planted"
PLANTED = 10
NEARLY_ALL = 9
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    'ranking="forward"': {"ranking": "forward"},
    "p=0.5": {"p": 0.5},
    "p=1.0": {"p": 1.0},
    'p=1.0, ranking="norm"': {"p": 1.0, "ranking": "norm"},
}


def factors(seed: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    samples, features, n_factors, n_classes = 300, 5000, 20, 3
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(n_factors, features))
    shared = rng.normal(size=(samples, n_factors)) @ (loadings / np.linalg.norm(loadings, axis=0))
    X = np.sqrt(0.5) * (shared + rng.normal(size=(samples, features)))
    y = rng.permutation(np.arange(samples) % n_classes)
    X[:, :PLANTED] += apart * (y[:, None] == np.arange(PLANTED) % n_classes)
    return X, y


def independent(seed: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    samples, features = 200, 3000
    X, y = np.random.default_rng(seed).normal(size=(samples, features)), np.arange(samples) % 2
    X[:, :PLANTED] += apart * (y[:, None] - 0.5)
    return X, y


NOISE: dict[str, tuple[Callable[..., tuple[np.ndarray, np.ndarray]], tuple[float, ...], int]] = {
    "factors": (factors, (0.7, 1.0), 20),
    "independent": (independent, (1.5, 3.0), 100),
}  # name -> what draws, how far apart, how many draws


def measure(noise: str, apart: float, seed: int) -> None:
    X, y = NOISE[noise][0](seed, apart)
    for name, setting in SETTINGS.items():
        found = int(DSOSelector(PLANTED, **setting).fit(X, y).get_support()[:PLANTED].sum())
        record(STUDY, Row(noise, "dso", seed, {"apart": apart, "setting": name}, values={"found": found}))


def draw() -> None:
    rows, lines = rows_of(STUDY), []
    for noise, (_, distances, draws) in NOISE.items():
        for apart, name in product(distances, SETTINGS):
            given = {"apart": apart, "setting": name}
            found = np.array([row.values["found"] for row in rows if (row.data, row.parameters) == (noise, given)])
            nearly = f"{np.sum(found >= NEARLY_ALL)} of {draws}"
            lines.append([noise, apart, name, f"{found.mean():.1f}", int(found.min()), nearly])
    header = ["noise", "apart", "settings", "found in the mean", "least", f"draws with {NEARLY_ALL} or more"]
    notes = "How many of ten planted features are among the first ten. What the noise is: `benchmarks/planted.py`."
    write_table(STUDY, "Planted features", header, lines, notes)


@study(STUDY, draw)
def main() -> None:
    for noise, (_, distances, draws) in NOISE.items():
        for apart, seed in product(distances, range(draws)):
            measure(noise, apart, seed)


if __name__ == "__main__":
    main()
