"""FastCan: greedy canonical correlation of the chosen features with the classes; the F-test ranks the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsofs.design.types import Floats, Ints
from dsofs.methods.shared.scored import ScoreSelector, f_scores
from dsofs.optional import require
from dsofs.ranking import two_tier_scores
from dsofs.validation import one_versus_rest


def scores(Z: Floats, codes: Ints, k: int, random_state: Any) -> Floats:
    n_chosen = min(k, len(Z) - 1)  # this many columns span the space of the centred samples
    Y = one_versus_rest(codes, int(codes.max()) + 1)
    order = require("fastcan", extra="peers").FastCan(n_chosen, verbose=0).fit(Z, Y).indices_
    turn = np.zeros(Z.shape[1])
    turn[order] = np.arange(len(order), 0, -1)
    return two_tier_scores(turn, f_scores(Z, codes, k, random_state))


def make(k: int, seed: int = 0) -> ScoreSelector:
    require("fastcan", extra="peers")
    return ScoreSelector(k, score_func=scores)
