"""Is what a fit says of itself true? Random problems with every option, judged by W alone and by other solvers.

Nothing of our certificates is used. Above p = 1 the objective is compared with that of CVXPY (Clarabel). Below, the
stationarity conditions are checked with multipliers found by bounded least squares, and every row is set to zero in
turn to see whether the objective falls. Margins, the objective itself and non-separability (by linear programming) are
checked for all.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import click
import cvxpy as cp
import numpy as np
from scipy import sparse
from scipy.optimize import linprog, lsq_linear

from benchmarks.harness import record, rows_of, study, write_table
from dsofs import DSOClassifier
from dsofs.experiments.results import Row

STUDY = "statuses"
PROBLEMS = 400
POWERS = (0.1, 0.3, 0.5, 0.7, 0.85, 1.0, 1.0, 1.4)
FACTOR_OF_AUTO, RAISED = 30.0, (1.0, 1e1, 1e2, 1e3, 1e4)  # what C="auto" stands for, as documented
MET = 1e-6  # violation of a margin that is rounding
WRONG = 1e-2  # violation of stationarity, ten times tol
CONVEX = 2e-3  # distance from the optimum of CVXPY: tol, and its own error


@dataclass(frozen=True)
class Case:
    """A problem, and the options of its fit."""

    X: np.ndarray
    y: np.ndarray
    options: dict[str, Any]
    sparse: bool


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    wide, c = seed % 3 > 0, int(rng.integers(2, 5))
    m, n = int(rng.integers(3 * c, 40)), int(rng.integers(4, 12))
    m, n = (m, m + int(rng.integers(2, 60))) if wide else (n * 5 + m, n)
    y = rng.permutation(np.arange(m) % c)
    X = rng.normal(size=(m, n)) + (rng.normal(size=(c, n)) * (rng.random(n) < 0.2))[y]
    kind = rng.integers(5)
    if kind == 1:
        X = (X > 0.5).astype(float)
    elif kind == 2:
        X[:, -n // 4 :] = -2 * X[:, : n // 4 + n % 4][:, : X[:, -n // 4 :].shape[1]]  # copies
    elif kind == 3:
        X = X * 10.0 ** rng.uniform(-2, 2, n) + 10.0 ** rng.uniform(-1, 1, n)
    X[0, X.std(axis=0) == 0] += 1.0
    constraint = "equality" if rng.random() < 0.2 else "margin"
    options = {
        "p": POWERS[seed % len(POWERS)],
        "C": [None, "auto", float(10.0 ** rng.uniform(-1, 2))][int(rng.integers(3))],
        "constraint": constraint,
        "loss": "hinge" if constraint == "margin" and rng.random() < 0.2 else "squared_hinge",
        "standardize": bool(rng.random() < 0.8) or kind == 3,
        "fit_intercept": bool(rng.random() < 0.8),
        "feature_groups": np.arange(n) // 3 if rng.random() < 0.25 else None,
        "class_weight": "balanced" if rng.random() < 0.25 else None,
    }
    return Case(X, y, options, bool(rng.random() < 0.2))


class Judge:
    """The problem of a case in its own terms, and what W is worth in it."""

    def __init__(self, case: Case, fit: DSOClassifier) -> None:
        X, options = case.X, case.options
        mean, scale = (X.mean(axis=0), X.std(axis=0)) if options["standardize"] else (0.0, np.ones(X.shape[1]))
        Z = (X - mean) / scale
        self.fit, self.p, self.equality = fit, fit.p, options["constraint"] == "equality"
        self.Z = np.column_stack([Z, np.ones(len(Z))]) if fit.fit_intercept else Z
        Y = np.where(case.y[:, None] == fit.classes_, 1.0, -1.0)
        self.Y = Y[:, 1:] if len(fit.classes_) == 2 else Y
        n = X.shape[1]
        groups = np.arange(n) if fit.feature_groups is None else np.asarray(fit.feature_groups)
        self.groups = np.append(groups, groups.max() + 1) if fit.fit_intercept else groups
        self.v = np.append(fit.penalty_factor_, 1.0)[: len(self.groups)]
        bias = fit.intercept_ + fit.coef_ @ np.broadcast_to(mean, n)
        W = (fit.coef_ * scale).T
        self.W = np.vstack([W, bias]) if fit.fit_intercept else W
        self.W[np.abs(self.W).max(axis=1) < 1e-12 * max(np.abs(self.W).max(), 1e-300)] = 0.0
        counts = np.bincount(case.y)
        self.importance = len(case.y) / (len(counts) * counts[case.y]) if fit.class_weight else np.ones(len(case.y))

    def prices(self) -> list[float]:
        """What C may stand for."""
        if self.fit.C != "auto":
            return [] if self.fit.C is None else [float(self.fit.C)]
        G = self.Z.T @ self.Y / (self.v ** (1 / self.p))[:, None]
        entry = self.norms(G).max()
        features = np.linalg.norm(self.Z[:, : self.fit.n_features_in_], axis=0).max()
        entry = max(entry, 0.01 * features * len(self.Y) ** 0.5)
        return [raised * FACTOR_OF_AUTO * self.Y.shape[1] ** 0.5 / self.p / entry for raised in RAISED]

    def norms(self, W: np.ndarray) -> np.ndarray:
        return np.sqrt(np.bincount(self.groups, (W**2).sum(axis=1)))

    def penalty(self, W: np.ndarray) -> float:
        norms = self.norms(W * (self.v ** (1 / self.p))[:, None])
        return float(np.sum(norms[norms > 0] ** self.p))

    def slack(self, W: np.ndarray) -> np.ndarray:
        T = 1 - self.Y * (self.Z @ W)
        return T if self.equality else np.maximum(T, 0.0)

    def objective(self, W: np.ndarray, C: float | None) -> float:
        """With hard margins W is made longer until they are met; infinite if they cannot be."""
        if C is None:
            least = float((self.Y * (self.Z @ W)).min())
            return np.inf if least <= 0 or self.equality else self.penalty(W / least)
        slack = self.slack(W)
        loss = np.abs(slack) if self.fit.loss == "hinge" else slack**2 / 2
        return self.penalty(W) + self.p * C * float(np.sum(self.importance[:, None] * loss))

    def complaint(self) -> str | None:
        """What is wrong with a fit that says it has converged; None if nothing is."""
        C, found = None, self.penalty(self.W)
        if self.fit.C is not None:
            possible = {price: self.objective(self.W, price) for price in self.prices()}
            C, found = min(possible.items(), key=lambda item: abs(item[1] - self.fit.objective_))
        elif np.abs(self.slack(self.W)).max() > MET:
            return "margins"
        if abs(found - self.fit.objective_) > 1e-5 * abs(found) + 1e-9:
            return "objective"
        if self.p >= 1:
            return "optimum" if found > (1 + CONVEX) * self.optimum(C) + 1e-7 else None
        for group in np.unique(self.groups[np.abs(self.W).max(axis=1) > 0]):
            fewer = np.where((self.groups == group)[:, None], 0.0, self.W)
            if self.objective(fewer, C) < (1 - 1e-5) * found:
                return "zeroing"
        return "stationarity" if self.violation(C) > WRONG else None

    def violation(self, C: float | None) -> float:
        """Of  v ||W_g||^(p-2) W_g = Z_g'(Y o A)  on the support, with the multipliers that fit it best."""
        norms = self.norms(self.W * (self.v ** (1 / self.p))[:, None])[self.groups]
        support = norms > 1e-6 * norms.max()
        root = self.v[support] ** (1 / self.p)
        target = root[:, None] ** 2 * norms[support, None] ** (self.p - 2) * self.W[support]
        slack, B = self.slack(self.W), np.zeros_like(self.Y)
        for j, y in enumerate(self.Y.T):
            price = None if C is None else C * self.importance
            if price is not None and self.fit.loss == "squared_hinge":
                B[:, j] = y * price * slack[:, j]
                continue
            margin = 1 - y * (self.Z @ self.W[:, j])
            inside = np.zeros(len(y)) if price is None else np.where(margin > 1e-5, price, 0.0)
            free = np.abs(margin) <= 1e-5
            rest = target[:, j] - self.Z[:, support].T @ (y * inside)
            a = inside.copy()
            if free.any():
                low = -np.inf if self.equality else 0.0
                high = np.full(free.sum(), np.inf) if price is None else price[free]
                A = (self.Z[free][:, support] * y[free, None]).T
                a[free] = lsq_linear(A, rest, (low, high)).x
            B[:, j] = y * a
        G = self.Z[:, support].T @ B
        error = np.bincount(self.groups[support], ((G - target) ** 2).sum(axis=1))
        size = np.bincount(self.groups[support], (target**2).sum(axis=1))
        return float(np.sqrt(np.max(error[size > 0] / size[size > 0], initial=0.0)))

    def optimum(self, C: float | None) -> float:
        W = cp.Variable(self.W.shape)
        scaled = cp.multiply(np.repeat((self.v ** (1 / self.p))[:, None], self.W.shape[1], axis=1), W)
        norms = [cp.norm(cp.vec(scaled[self.groups == g], order="F")) for g in np.unique(self.groups)]
        penalty = cp.sum([norm if self.p == 1 else cp.power(norm, self.p) for norm in norms])
        T = cp.multiply(self.Y, self.Z @ W)
        if C is None:
            constraints = [T == 1] if self.equality else [T >= 1]
            return float(cp.Problem(cp.Minimize(penalty), constraints).solve(solver=cp.CLARABEL))
        weight = np.repeat(self.importance[:, None], self.Y.shape[1], axis=1)
        slack = 1 - T if self.equality else cp.pos(1 - T)
        loss = slack if self.fit.loss == "hinge" else cp.square(slack) / 2
        whole = penalty + self.p * C * cp.sum(cp.multiply(weight, loss))
        return float(cp.Problem(cp.Minimize(whole)).solve(solver=cp.CLARABEL))

    def separable(self) -> bool:
        """Whether the constraints can be met, by linear programming."""
        free = [(None, None)] * self.Z.shape[1]
        for y in self.Y.T:
            A = -y[:, None] * self.Z
            equal = {"A_eq": -A, "b_eq": np.ones(len(y))}
            given = equal if self.equality else {"A_ub": A, "b_ub": -np.ones(len(y))}
            if linprog(np.zeros(self.Z.shape[1]), **given, bounds=free).status == 2:
                return False
        return True


def verdict(seed: int) -> str:
    case = random_case(seed)
    X = sparse.csr_matrix(case.X) if case.sparse else case.X
    try:
        fit = DSOClassifier(**case.options).fit(X, case.y)
    except Exception as error:
        return f"exception: {type(error).__name__}"
    judge = Judge(case, fit)
    if fit.status_ in ("stalled", "max_iter"):
        return "stalled, and says so"
    if fit.status_ == "converged_with_slack":
        return "lie: separable" if judge.separable() else "cannot be separated, truly"
    if fit.status_ == "zero":
        zero = not fit.coef_.any() and not fit.intercept_.any()
        return "W = 0, truly" if zero else "lie: not zero"
    try:
        complaint = judge.complaint()
    except cp.SolverError:
        return "converged, and CVXPY fails"
    return "converged, truly" if complaint is None else f"lie: {complaint}"


def draw() -> None:
    rows = rows_of(STUDY)
    counts = Counter(row.values["verdict"] for row in rows)
    false = [f"{row.seed} ({row.values['verdict']})" for row in rows if row.values["verdict"].startswith("lie")]
    write_table(
        STUDY,
        "What fits say of themselves",
        ["verdict", "fits"],
        sorted(counts.items(), key=lambda item: -item[1]),
        f"{len(rows)} random problems with every option, wide and tall, judged by W alone: margins, objective, "
        "stationarity and removal of single rows (p < 1), CVXPY (p >= 1), linear programming (separability). "
        f"Wrong: {', '.join(false) or 'none'}.",
    )


@study(STUDY, draw)
@click.option("--problems", default=PROBLEMS, show_default=True)
def main(problems: int) -> None:
    for seed in range(problems):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = verdict(seed)
        record(STUDY, Row(f"random {seed}", "dso", seed, values={"verdict": found}))


if __name__ == "__main__":
    main()
