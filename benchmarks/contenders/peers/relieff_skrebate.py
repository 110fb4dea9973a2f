"""skrebate's ReliefF, on all cores."""

TASK = "ReliefF, k = 10"
NAME = "skrebate"
REQUIREMENTS = ("skrebate==0.8.4", "setuptools")


def prepare(X, y):
    from skrebate import ReliefF

    return lambda: ReliefF(n_features_to_select=10, n_neighbors=10, n_jobs=-1).fit(X, y)
