"""A fit of X on a GPU (torch tensors) against the same fit of X as a NumPy array on the CPUs of that machine."""

from __future__ import annotations

import warnings
from typing import Any

import click
import numpy as np

from benchmarks.harness import interleave, record, rows_of, study, write_table
from dsofs import DSOSelector
from dsofs.design.linalg import to_numpy
from dsofs.experiments.results import Row

STUDY = "gpu"
ROUNDS = 3
SHAPES = [(100, 2_000, 3), (200, 20_000, 4), (5_000, 2_000, 5), (500, 100_000, 10), (500, 300_000, 10),
          (500, 1_000_000, 10), (2_000, 50_000, 10)]  # fmt: skip
SETTINGS: dict[str, dict[str, Any]] = {"defaults": {}, "p = 1, hard margins": {"p": 1.0, "C": None, "ranking": "norm"}}


def measure(shape: tuple[int, int, int], name: str, settings: dict[str, Any]) -> None:
    import torch

    m, n, c = shape
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(m) % c)
    X = rng.standard_normal((m, n), dtype=np.float32)
    X[:, :10] += rng.normal(size=(c, 10)).astype(np.float32)[y]
    on_gpu = torch.asarray(X, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    results = {}
    for _, where, seconds, selector in interleave(
        {"CPU": lambda: fit(X, y, settings), "GPU": lambda: fit(on_gpu, y, settings)}, ROUNDS
    ):
        results.setdefault(where, []).append((seconds, selector))
    cpu, gpu = results["CPU"][-1][1], results["GPU"][-1][1]
    first = [to_numpy(selector.ranking_)[:10] for selector in (cpu, gpu)]
    values = {
        "cpu": float(np.median([seconds for seconds, _ in results["CPU"]])),
        "gpu": float(np.median([seconds for seconds, _ in results["GPU"]])),
        "objective": abs(gpu.objective_ / cpu.objective_ - 1),
        "same": float(np.isin(*first).sum()),
        "extra": float(torch.cuda.max_memory_allocated() - before),
        "X": float(X.nbytes),
    }
    print(shape, name, values, flush=True)
    record(STUDY, Row(f"{m} x {n} x {c}", name, 0, values=values))


def fit(X: Any, y: np.ndarray, settings: dict[str, Any]) -> DSOSelector:
    from sklearn import config_context

    with warnings.catch_warnings(), config_context(array_api_dispatch=True):
        warnings.simplefilter("ignore")
        return DSOSelector(10, **settings).fit(X, y)


def draw() -> None:
    lines = [
        [row.data, row.method, f"{row.values['cpu']:.3f}", f"{row.values['gpu']:.3f}",
         f"{row.values['cpu'] / row.values['gpu']:.1f}", f"{row.values['objective']:.0e}", f"{row.values['same']:.0f}",
         f"{row.values['X'] / 2**20:.0f}", f"{row.values['extra'] / 2**20:.0f}"]
        for row in rows_of(STUDY)
    ]  # fmt: skip
    write_table(
        STUDY,
        "A fit on a GPU",
        ["m x n x classes", "settings", "CPU, s", "GPU, s", "CPU / GPU", "objectives differ by", "same first ten",
         "X, MiB", "extra memory of the GPU, MiB"],
        lines,
        "NVIDIA H200 and 16 cores; float32; medians of three fits, interleaved; X is in place before it starts.",
    )  # fmt: skip


@study(STUDY, draw)
@click.option("--shapes", default=len(SHAPES), show_default=True, help="How many shapes, from the smallest on.")
def main(shapes: int) -> None:
    for shape in SHAPES[:shapes]:
        for name, settings in SETTINGS.items():
            measure(shape, name, settings)


if __name__ == "__main__":
    main()
