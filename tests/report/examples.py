"""Findings to draw: of ordinary data, and with names that try to break the page."""

from functools import cache

import numpy as np

from dsofs import DSOSelector
from dsofs.report import Source, examine
from tests.problems import random_data

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></svg><script>x=1</script>",
    "' onload='alert(1)",
    "javascript:alert(1)",
    "&lt;b&gt;&amp;",
    "<!-- comment",
    "]]><svg onload=alert(1)>",
    "{{7*7}} ${7*7} %s %(x)s {0}",
    "\u202egnp.txt\u202c \u200fעברית",
    "👩‍🔬 gene 🧬",
    "tab\there",
    "=1+1",
]
LONG = "long name " * 1000


@cache
def ordinary(c=3, k=6):
    X, y = random_data(0, 60, 64, c)
    names = np.array([f"class {code}" for code in range(c)])
    return examine(X, names[y], DSOSelector(k), image_shape=(8, 8), n_resamples=4, n_permutations=19)


@cache
def hostile():
    """Every name that the page shows comes from the list: features, classes, samples, file and command."""
    X, y = random_data(1, 70, len(HOSTILE) + 1, 5)
    y[:4] = (y[:4] + 1) % 5  # wrong labels, so that samples are named too
    return examine(
        X,
        np.array(HOSTILE)[y],
        DSOSelector(X.shape[1]),
        feature_names=[*HOSTILE, LONG],
        sample_names=[HOSTILE[i % len(HOSTILE)] for i in range(70)],
        n_resamples=4,
        n_permutations=3,
        source=Source(HOSTILE[0], None, HOSTILE[1], (HOSTILE[2],)),
    )
