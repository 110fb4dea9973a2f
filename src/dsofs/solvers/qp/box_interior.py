"""A QP with upper bounds by an interior-point method, for matrices on which pivoting goes round in circles.

    min  1/2 a'Ha - q'a     subject to  0 <= a <= C

With z of a >= 0, v of r = C - a >= 0 and H a - q = z - v at the optimum, Newton's steps follow  z a = v r = mu  down to
mu = 0. It takes 10 to 20 factorisations of  H + diag(z/a + v/r),  however singular H is.
"""

from __future__ import annotations

import numpy as np

from dsofs.design.linalg import factorise
from dsofs.design.types import Bools, Floats

MAX_STEPS = 60
CENTRING = 0.1  # what mu is multiplied by
TO_THE_BOUND = 0.99  # how far a step goes of the way to the nearest bound
COMPLEMENTARY, EXACT = 1e-13, 1e-10  # mu, by the largest a, and the largest residual, both by the largest q


def box_sides(H: Floats, q: Floats, C: Floats) -> tuple[Bools, Bools]:
    """Where the solution is between its bounds, and where it is C; all C are finite."""
    a = r = C / 2
    gradient = H @ a - q
    z = v = np.full(len(q), np.abs(gradient).max())
    unit, rounding = np.abs(q).max(), len(q) * np.finfo(np.float64).eps * z[0]
    for _ in range(MAX_STEPS):
        mu = float(z @ a + v @ r) / (2 * len(q))
        if mu <= COMPLEMENTARY * unit * a.max() and np.abs(gradient - z + v).max() <= EXACT * unit + rounding:
            break
        factor = factorise(H, z / a + v / r)
        da = factor.solve(CENTRING * mu * (1 / a - 1 / r) - gradient)
        dz, dv = (CENTRING * mu - z * da) / a - z, (CENTRING * mu + v * da) / r - v
        length = _length(np.concatenate([a, r, z, v]), np.concatenate([da, -da, dz, dv]))
        a, r, z, v = a + length * da, r - length * da, z + length * dz, v + length * dv
        gradient = H @ a - q
    scale = H.diagonal()
    full = v > scale * r
    return ~full & (z <= scale * a), full


def _length(x: Floats, dx: Floats) -> float:
    falling = dx < 0
    return float(np.min(-TO_THE_BOUND * x[falling] / dx[falling], initial=1.0))
