"""mRMR by brute force, in plain Python: every dependence counted from its definition, every mean taken anew."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt


def states_by_deviation(column):
    mean = sum(column) / len(column)
    deviation = sqrt(sum((x - mean) ** 2 for x in column) / len(column))
    return [1 if x > mean + deviation else -1 if x < mean - deviation else 0 for x in column]


def states_by_quantile(column, n_bins):
    """State of each value by its rank, for columns without ties: how many of n_bins equal parts lie below it."""
    ranks = {x: rank for rank, x in enumerate(sorted(column))}
    last = len(column) - 1
    return [sum(ranks[x] > part * last / n_bins for part in range(1, n_bins)) for x in column]


def mutual_information(a, b):
    m = len(a)
    of_a, of_b, of_both = Counter(a), Counter(b), Counter(zip(a, b, strict=True))
    return sum(n / m * log(n * m / (of_a[x] * of_b[y])) for (x, y), n in of_both.items())


def f_statistic(column, y):
    m, classes = len(column), sorted(set(y))
    mean = sum(column) / m
    between = within = 0.0
    for label in classes:
        members = [x for x, other in zip(column, y, strict=True) if other == label]
        center = sum(members) / len(members)
        between += len(members) * (center - mean) ** 2
        within += sum((x - center) ** 2 for x in members)
    return (between / (len(classes) - 1)) / (within / (m - len(classes)))


def absolute_correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    product = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return abs(product) / sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))


def mrmr(columns, y, k, scheme):
    """Per feature chosen: (feature, criterion of every feature not yet chosen before it)."""
    relevance_of, redundancy_of = {
        "MI": (mutual_information, mutual_information),
        "FC": (f_statistic, absolute_correlation),
    }[scheme[:2]]
    relevance = [relevance_of(column, y) for column in columns]
    chosen, steps = [], []
    for _ in range(k):
        criteria = {}
        for j in set(range(len(columns))) - set(chosen):
            redundancy = [redundancy_of(columns[j], columns[s]) for s in chosen]
            if not chosen:
                criteria[j] = relevance[j]
            elif scheme.endswith("D"):
                criteria[j] = relevance[j] - sum(redundancy) / len(chosen)
            else:
                criteria[j] = relevance[j] / (sum(redundancy) / len(chosen))
        best = max(criteria.values())
        winner = min(j for j, value in criteria.items() if value >= best - 1e-12 * max(1, abs(best)))
        chosen.append(winner)
        steps.append((winner, criteria[winner]))
    return relevance, steps
