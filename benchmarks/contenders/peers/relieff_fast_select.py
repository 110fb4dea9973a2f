"""fast-select's ReliefF, on all cores as it is by default."""

TASK = "ReliefF, k = 10"
NAME = "fast-select"
REQUIREMENTS = ("fast-select==0.3.0",)


def prepare(X, y):
    from fast_select import ReliefF

    return lambda: ReliefF(n_features_to_select=10, n_neighbors=10).fit(X, y)
