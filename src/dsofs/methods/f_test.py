"""The F-test of every feature by itself."""

from __future__ import annotations

from dsofs.methods.shared.scored import ScoreSelector, f_scores


def make(k: int, seed: int = 0) -> ScoreSelector:
    return ScoreSelector(k, score_func=f_scores)
