"""
What does the power p change?
=============================

:class:`dsofs.DSOSelector` minimises the sum of ``||w_i||^p`` over the features,
with every sample on the correct side of its margin. The smaller p is, the fewer
features keep a weight, and the closer the samples come to the decision
boundary.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from dsofs import DSOSelector

ps = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
N_DATA_SETS = 8


def simulate(seed):
    """100 samples of two classes, 500 features, of which 10 are informative."""
    X, y = make_classification(
        100, 500, n_informative=10, n_redundant=0, random_state=seed
    )
    return StandardScaler().fit_transform(X), y


# %%
# ``C=None`` asks for hard margins. The sample nearest to the boundary is then
# at a distance of ``1 / ||w||``, the margin of the classifier.

n_features, margin = np.empty((2, N_DATA_SETS, len(ps)))
for seed in range(N_DATA_SETS):
    X, y = simulate(seed)
    for j, p in enumerate(ps):
        w = DSOSelector(p=p, C=None, intercept_penalty=0).fit(X, y).coef_[0]
        n_features[seed, j] = np.count_nonzero(w)
        margin[seed, j] = 1 / np.linalg.norm(w)

# %%
# Thin lines are single data sets, thick lines their mean. Below p = 1 the
# problem is not convex and a fit ends in a local optimum, so a thin line need
# not fall at every step. The default is p = 0.85.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, values in zip(axes, (n_features, margin), strict=True):
    ax.plot(ps, values.T, color="C0", alpha=0.25, linewidth=1)
    ax.plot(ps, values.mean(axis=0), "o-", color="C0", linewidth=2)
    ax.set(xlabel="p", ylim=(0, None))
    ax.invert_xaxis()
axes[0].set_ylabel("features with a weight")
axes[1].set_ylabel("margin")
plt.show()

# %%
# .. seealso::
#
#    :class:`dsofs.DSOSelectorCV` chooses p by cross-validation, and
#    :class:`dsofs.report.PathDisplay` draws its path. :doc:`/method` explains
#    the problem with pictures.
