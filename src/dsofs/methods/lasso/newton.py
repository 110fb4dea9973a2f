"""The Lasso for small penalties, where coordinate descent is slow: Newton's method on proximal steps (SsNAL).

    w <- argmin_w  1/2 ||Z w - y||^2 + mu ||w||_1 + 1/(2 sigma) ||w - w_last||^2         (Li, Sun and Toh 2018)

Each is solved through its dual, which is smooth. With the dual variable y - Z a it needs G = Z'Z and q = Z'y alone:

    phi(a) = 1/2 a'G a + 1/(2 sigma) ||w(a)||^2,    w(a) = soft(w_last + sigma (q - G a), sigma mu)

and at the minimum Z a = Z w(a). The Hessian is that of the features that w(a) uses, plus a ridge of 1 / sigma: more
features than samples, or equal ones, do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dsofs.design.linalg import factorise
from dsofs.design.types import Floats, Ints

FIRST_SIGMA, LARGEST_SIGMA = 1e3, 1e6  # over the largest diagonal entry of G; w carries the rounding of G a times sigma
SIGMA_GROWTH = 5.0
INEXACT = 0.3  # error of a proximal step that is left, as a part of its length
STEPS_OF_A_PROX = 20  # a few are enough; more means that rounding hides the rest
ARMIJO, SHORTEST = 1e-4, 1e-6  # required part of the predicted descent, and the shortest step tried


@dataclass
class Gram:
    """Z'Z of some columns; taken from that of all columns, which all classes share, if it is no larger than Z."""

    A: Floats
    _whole: Floats | None = field(default=None, init=False)

    def of(self, columns: Ints) -> Floats:
        if self.A.shape[1] > self.A.shape[0]:
            part = self.A[:, columns]
            return np.asarray(part.T @ part)
        if self._whole is None:
            self._whole = self.A.T @ self.A
        return np.asarray(self._whole.take(columns, 0).take(columns, 1))


def newton_lasso(
    G: Floats, q: Floats, y_squared: float, lam: float, w: Floats, gap: float, max_iter: int
) -> tuple[Floats, int]:
    """The minimiser of ||Z w - y||^2 + lam ||w||_1, from w, to a duality gap of the half of it; and Newton's steps."""
    mu, scale = lam / 2, float(G.diagonal().max())
    sigma, n_steps = FIRST_SIGMA / scale, 0
    a, Ga = w, G @ w
    while n_steps < max_iter:
        last, signs, t = w, np.zeros_like(w), 0.0
        for _ in range(STEPS_OF_A_PROX):
            n_steps += 1
            shifted = last + sigma * (q - Ga)
            w = soft(shifted, sigma * mu)
            Gw = G @ w
            for point, image in ((w, Gw), (a, Ga)):  # the same in the end; a is free of the rounding times sigma
                if _gap(point, image, q, y_squared, mu) <= gap:
                    return point, n_steps
            before, signs = signs, np.sign(w)
            solved = t == 1 and np.array_equal(signs, before)
            if solved or (w - a) @ (Gw - Ga) <= INEXACT**2 * np.sum((w - last) ** 2) / sigma:
                break
            factor = factorise(G, 1 / sigma, w != 0)
            d = -a
            d[factor.index] += factor.solve((q - mu * signs + last / sigma)[factor.index])
            Gd = G @ d
            t = _step(a, Ga, w, d, Gd, shifted, sigma, mu)
            a, Ga = a + t * d, Ga + t * Gd
        sigma = min(SIGMA_GROWTH * sigma, LARGEST_SIGMA / scale)
    return w, n_steps


def soft(u: Floats, threshold: float) -> Floats:
    return np.asarray(u - np.clip(u, -threshold, threshold))


def _gap(w: Floats, Gw: Floats, q: Floats, y_squared: float, mu: float) -> float:
    """The duality gap at w and at its residual y - Z w, scaled until it is feasible."""
    yr = y_squared - w @ q
    rr = yr - w @ (q - Gw)
    s = min(1.0, mu / max(float(np.abs(q - Gw).max()), np.finfo(np.float64).tiny))
    return float(rr / 2 + mu * np.abs(w).sum() - s * yr + s * s / 2 * rr)


def _step(a: Floats, Ga: Floats, w: Floats, d: Floats, Gd: Floats, shifted: Floats, sigma: float, mu: float) -> float:
    """The part of d to go: half as far until phi falls."""
    slope, curvature, here = a @ Gd, d @ Gd, w @ w / (2 * sigma)
    promised = slope - w @ Gd
    rounding = np.finfo(np.float64).eps * (abs(a @ Ga) + here)
    t = 1.0
    while t > SHORTEST:
        there = soft(shifted - t * sigma * Gd, sigma * mu)
        change = t * slope + t * t / 2 * curvature + there @ there / (2 * sigma) - here
        if change <= ARMIJO * t * promised + rounding:
            break
        t /= 2
    return t
