"""feature-engine's mRMR by F-statistic and correlation; by mutual information it takes many times longer."""

TASK = "mRMR by F-test and correlation (FCQ), k = 25"
NAME = "feature-engine"
REQUIREMENTS = ("feature-engine==1.9.4",)


def prepare(X, y):
    import pandas as pd
    from feature_engine.selection import MRMR

    frame, target = pd.DataFrame(X).rename(columns=str), pd.Series(y)
    return lambda: MRMR(method="FCQ", max_features=25).fit(frame, target)
