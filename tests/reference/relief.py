"""ReliefF and RReliefF as the textbook has them (Robnik-Sikonja and Kononenko 2003), one difference at a time.

``rows`` are lists of numbers, None where a value is missing; ``nominal`` is the set of features that are categories.
"""

from __future__ import annotations

from functools import cache
from math import exp


class Textbook:
    def __init__(self, rows, groups, nominal):
        self.rows, self.groups, self.nominal = rows, groups, nominal
        self.n = len(rows[0])
        known = [[row[f] for row in rows if row[f] is not None] for f in range(self.n)]
        self.range = [max(values) - min(values) for values in known]
        self.expected = cache(self._expected)

    def diff(self, f, i, j):
        """diff(A, I1, I2): of two known values, or expected where one or both are missing."""
        a, b = self.rows[i][f], self.rows[j][f]
        if a is not None and b is not None:
            return self.apart(f, a, b)
        if a is None and b is None:
            return self.expected(f, self.groups[i], None, self.groups[j])
        return self.expected(f, self.groups[i], b, None) if a is None else self.expected(f, self.groups[j], a, None)

    def apart(self, f, a, b):
        return float(a != b) if f in self.nominal else abs(a - b) / self.range[f]

    def values_of(self, f, group):
        """Known values in the group; of all samples if it has none."""
        pairs = [(row[f], g) for row, g in zip(self.rows, self.groups, strict=True) if row[f] is not None]
        return [v for v, g in pairs if g == group] or [v for v, _ in pairs]

    def _expected(self, f, group, value, other_group):
        mine = self.values_of(f, group)
        theirs = self.values_of(f, other_group) if value is None else [value]
        if f not in self.nominal:
            return sum(self.apart(f, a, b) for a in mine for b in theirs) / (len(mine) * len(theirs))
        # 1 - P(v | class), and 1 - sum over v of P(v | class) P(v | class'), by relative frequencies.
        return 1 - sum(mine.count(v) / len(mine) * theirs.count(v) / len(theirs) for v in set(mine))

    def nearest(self, i, candidates, k):
        """The k nearest of the candidates, nearest first; ties, to nine decimals, in the order of the data."""
        others = [j for j in candidates if j != i]
        distance = {j: round(sum(self.diff(f, i, j) for f in range(self.n)), 9) for j in others}
        return sorted(others, key=distance.__getitem__)[:k]


def relieff(rows, labels, k, nominal=frozenset(), sampled=None):
    book, m = Textbook(rows, labels, nominal), len(rows)
    sampled = range(m) if sampled is None else sampled
    prior = {label: labels.count(label) / m for label in set(labels)}
    W = [0.0] * book.n
    for i in sampled:
        for label in prior:
            near = book.nearest(i, [j for j in range(m) if labels[j] == label], k)
            weight = -1.0 if label == labels[i] else prior[label] / (1 - prior[labels[i]])
            for j in near:
                for f in range(book.n):
                    W[f] += weight * book.diff(f, i, j) / len(near) / len(sampled)
    return W


def rrelieff(rows, y, k, sigma, nominal=frozenset()):
    book, m = Textbook(rows, [0] * len(rows), nominal), len(rows)
    n_dc, n_da, n_dcda = 0.0, [0.0] * book.n, [0.0] * book.n
    spread = max(y) - min(y)
    for i in range(m):
        near = book.nearest(i, range(m), k)
        raw = [exp(-((rank / sigma) ** 2)) for rank in range(1, len(near) + 1)]
        for j, influence in zip(near, raw, strict=True):
            d, dy = influence / sum(raw), abs(y[i] - y[j]) / spread
            n_dc += dy * d
            for f in range(book.n):
                n_da[f] += book.diff(f, i, j) * d
                n_dcda[f] += dy * book.diff(f, i, j) * d
    return [n_dcda[f] / n_dc - (n_da[f] - n_dcda[f]) / (m - n_dc) for f in range(book.n)]
