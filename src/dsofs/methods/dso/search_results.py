"""``cv_results_`` of a search over C, p and the number of features, with scikit-learn's keys."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata

from dsofs.design.types import Floats

Setting = tuple[float | str | None, float, int]  # C, p and the number of features

SPLIT = re.compile(r"split\d+_test_score")
RENAMED = {"p": "param_p", "C": "param_C", "k": "param_k"}  # keys of the first version -> scikit-learn's
ALL_SPLITS = "split_test_scores"  # of the first version: one row per setting, one column per fold


class SearchResults(dict[str, Any]):
    """Results by scikit-learn's keys. The keys of the first version still work, with a FutureWarning."""

    @classmethod
    def of(cls, settings: list[Setting], scores: Floats) -> SearchResults:
        """``scores`` has one row per setting and one column per fold."""
        mean = scores.mean(axis=1)
        Cs, ps, ks = zip(*settings, strict=True)
        return cls(
            param_p=np.array(ps),
            param_C=np.array(Cs, dtype=object),  # a C may be a word or None
            param_k=np.array(ks),
            params=[parameters(setting) for setting in settings],
            **{f"split{i}_test_score": column for i, column in enumerate(scores.T)},
            mean_test_score=mean,
            std_test_score=scores.std(axis=1, ddof=min(1, scores.shape[1] - 1)),
            rank_test_score=rankdata(-mean, method="min").astype(np.int32),
        )

    @property
    def split_scores(self) -> Floats:
        """One row per setting, one column per fold."""
        return np.column_stack([scores for key, scores in self.items() if SPLIT.fullmatch(key)])

    def __missing__(self, key: str) -> Any:
        if key == ALL_SPLITS:
            _warn_renamed(key, "split0_test_score, split1_test_score, ...")
            return self.split_scores
        if key not in RENAMED:
            raise KeyError(key)
        _warn_renamed(key, RENAMED[key])
        return self[RENAMED[key]]


def parameters(setting: Setting) -> dict[str, Any]:
    """A setting by the names of its parameters."""
    C, p, k = setting
    return {"p": p, "C": C, "k": k}


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(
        f"The key {old!r} of cv_results_ is deprecated and will be removed in version 0.2. Use {new} instead.",
        FutureWarning,
        stacklevel=3,
    )
