"""abess: the best subset of k features for least squares on the class columns; the F-test ranks the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsofs.design.linalg import row_norms
from dsofs.design.types import Floats, Ints
from dsofs.methods.shared.scored import ScoreSelector, f_scores
from dsofs.optional import require
from dsofs.ranking import two_tier_scores
from dsofs.validation import one_versus_rest


def scores(Z: Floats, codes: Ints, k: int, random_state: Any) -> Floats:
    n_chosen = min(k, len(Z) - 1)  # this many columns span the space of the centred samples
    Y = one_versus_rest(codes, int(codes.max()) + 1)
    model = require("abess", extra="peers").MultiTaskRegression(support_size=n_chosen).fit(Z, Y)
    weights = np.reshape(model.coef_, (Z.shape[1], -1))
    return two_tier_scores(row_norms(weights), f_scores(Z, codes, k, random_state))


def make(k: int, seed: int = 0) -> ScoreSelector:
    require("abess", extra="peers")
    return ScoreSelector(k, score_func=scores)
