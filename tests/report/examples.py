"""Findings to draw: of ordinary data, and with names that try to break the page."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from dsofs import METHODS, DSOSelector
from dsofs.experiments import CLEAN, REFERENCE, run
from dsofs.experiments.side_by_side import Asked, remember, side_by_side
from dsofs.report import Source, examine
from dsofs.statistics import Samples
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


@cache
def adjusted():
    """A batch with a hostile name that says much about the class; a feature follows it, others the class."""
    rng = np.random.default_rng(0)
    batch = rng.integers(2, size=80)
    y = np.where(rng.random(80) < 0.2, 1 - batch, batch)
    X = rng.normal(size=(80, 14))
    X[:, 0] += 4 * batch
    X[:, 1] += 2 * y
    X[:, 12], X[:, 13] = batch == 0, batch == 1
    selector = DSOSelector(3, penalty_factor={12: 0.0, 13: 0.0})
    return examine(X, y, selector, covariates={HOSTILE[0]: [12, 13]}, n_resamples=4, n_permutations=3)


QUICK = CLEAN.untuned("quick")


def compare(path, methods=("dso", "f_test", "mrmr"), ks=(2, 5), trials=6, **told):
    """Rows of a small comparison in a file, and what was asked for; returns these rows."""
    X, codes = random_data(2, 10 * len(HOSTILE), 15, len(HOSTILE))
    every = {name: METHODS[name] for name in methods} | REFERENCE
    rows = run(path, {"data": Samples(X, codes)}, every, protocol=QUICK, ks=ks, trials=trials)
    counts = np.bincount(codes).tolist()
    asked = {
        "data": "data", "file": HOSTILE[0], "sha256": "0" * 64, "command": HOSTILE[1], "protocol": QUICK.name,
        "methods": list(methods), "ks": list(ks), "trials": trials, "n_samples": len(codes),
        "n_features": X.shape[1], "classes": dict(zip(HOSTILE, counts, strict=True)), "notes": [HOSTILE[2]],
    }  # fmt: skip
    remember(path, Asked(**(asked | told)))
    return rows


@cache
def compared():
    """Methods side by side, where file, classes, command and notes have names from the list."""
    with TemporaryDirectory() as folder:
        compare(Path(folder) / "rows.jsonl")
        return side_by_side(Path(folder) / "rows.jsonl")
