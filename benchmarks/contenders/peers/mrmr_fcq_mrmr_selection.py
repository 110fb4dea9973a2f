"""mrmr-selection, whose default is the F-statistic over the mean correlation."""

TASK = "mRMR by F-test and correlation (FCQ), k = 25"
NAME = "mrmr-selection"
REQUIREMENTS = ("mrmr-selection==0.2.8",)


def prepare(X, y):
    import pandas as pd
    from mrmr import mrmr_classif

    frame, target = pd.DataFrame(X).rename(columns=str), pd.Series(y)
    return lambda: mrmr_classif(frame, target, K=25, show_progress=False)
