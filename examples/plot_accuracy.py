"""
How many features does a classifier need?
=========================================

A linear SVM is trained on the k features that :class:`dsofs.DSOSelector`
selects from the breast cancer data, and compared with the same SVM on all 30
features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from dsofs import DSOSelector

X, y = load_breast_cancer(return_X_y=True)
cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
svm = make_pipeline(StandardScaler(), LinearSVC(C=0.1))

# %%
# The selector is a step of the pipeline, so it sees only the training part of
# each split. Selecting on all samples first would make the accuracy look better
# than it is.

ks = [1, 2, 3, 5, 8, 12, 20]
pipelines = [make_pipeline(DSOSelector(k), svm) for k in ks]
selected = np.array([cross_val_score(pipe, X, y, cv=cv) for pipe in pipelines])
all_features = cross_val_score(svm, X, y, cv=cv)

# %%
# Points are means over ten splits, bars their standard deviation. Three
# features are within one standard deviation of all 30, and twelve are as
# accurate as all of them.

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
mean, deviation = selected.mean(axis=1), selected.std(axis=1)
ax.errorbar(ks, mean, deviation, fmt="o-", capsize=3, label="k features")
ax.axhline(all_features.mean(), color="grey", ls="--", label="all 30 features")
ax.set(xlabel="number of selected features k", xticks=ks)
ax.set_ylabel("accuracy on held-out samples")
ax.legend(loc="lower right")
plt.show()

# %%
# .. seealso::
#
#    :class:`dsofs.DSOSelectorCV` chooses k by cross-validation,
#    :func:`dsofs.report.plot_accuracy` draws this curve for a report, and
#    :doc:`/tasks/choosing_k` compares the ways to choose k.
