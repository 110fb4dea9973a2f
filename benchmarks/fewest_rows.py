"""p towards 0 against the fewest rows with which the classes can be separated, found by trying all subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from benchmarks.data import synthetic
from benchmarks.harness import record, rows_of, study, write_table
from dsofs.design import Block, row_norms
from dsofs.experiments.results import Row
from dsofs.problem import Penalty, Problem
from dsofs.solvers import solve

STUDY = "fewest_rows"
POWERS = (1.0, 0.7, 0.5, 0.3, 0.1, 0.05)
PROBLEMS = 40
SHAPE = (9, 12, 3)


def measure(seed: int) -> None:
    X, y = synthetic(seed, *SHAPE)
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    fewest = fewest_rows(X, Y)
    weights = None
    for p in POWERS:
        problem = Problem(Block(X), Y, p)
        cold = solve(problem, tol=1e-5)
        along = solve(problem, tol=1e-5, weights=weights)
        for method, solution in (("cold", cold), ("path", along)):
            values = {"rows": int(np.count_nonzero(row_norms(solution.W))), "fewest": fewest}
            record(STUDY, Row(f"random {seed}", method, seed, {"p": p}, values=values))
        following = POWERS[POWERS.index(p) + 1 :]
        weights = Penalty(following[0]).weights(row_norms(along.W)) if following else None


def fewest_rows(X: np.ndarray, Y: np.ndarray) -> int:
    return next(
        size
        for size in range(1, X.shape[1] + 1)
        if any(separable(X[:, rows], Y) for rows in combinations(range(X.shape[1]), size))
    )


def separable(X: np.ndarray, Y: np.ndarray) -> bool:
    free = [(None, None)] * X.shape[1]
    return all(
        linprog(np.zeros(X.shape[1]), A_ub=-y[:, None] * X, b_ub=-np.ones(len(y)), bounds=free).status == 0 for y in Y.T
    )


def draw() -> None:
    rows = rows_of(STUDY)
    lines = []
    for p in POWERS:
        cells: list[object] = [p]
        for method in ("cold", "path"):
            excess = [
                r.values["rows"] - r.values["fewest"] for r in rows if r.parameters["p"] == p and r.method == method
            ]
            cells += [f"{np.mean(excess):.2f}", f"{np.mean(np.array(excess) == 0):.0%}"]
        lines.append(cells)
    write_table(
        STUDY,
        "p towards 0 against the fewest rows",
        ["p", "rows too many, cold start", "exact", "rows too many, along the path from p = 1", "exact"],
        lines,
        f"{PROBLEMS} random problems of {SHAPE[0]} samples, {SHAPE[1]} features and {SHAPE[2]} classes, no bias. The "
        "paper's closing claim holds in tendency: smaller p keeps fewer rows, but a local optimum is not the fewest.",
    )


@study(STUDY, draw)
def main() -> None:
    for seed in range(PROBLEMS):
        measure(seed)


if __name__ == "__main__":
    main()
