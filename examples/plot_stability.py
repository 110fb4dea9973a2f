"""
Would other samples give the same features?
===========================================

Features are selected again on each of 40 random halves of the samples. A
feature that almost every half selects does not depend on which samples happened
to be measured.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from dsofs import DSOSelector
from dsofs.statistics import stability

N_FEATURES = 300
effects = np.linspace(1.6, 0.5, 8)  # of the first eight features

rng = np.random.default_rng(0)
y = np.arange(200) % 2
X = rng.normal(size=(200, N_FEATURES))
X[:, :8] += effects * y[:, None]

# %%
# One fit ranks all features, so the first k are known for every k.

halves = StratifiedShuffleSplit(n_splits=40, train_size=0.5, random_state=0)
fits = [DSOSelector().fit(X[i], y[i]) for i, _ in halves.split(X, y)]
rankings = np.array([fit.ranking_ for fit in fits])  # 1 is the best feature
best_first = rankings.argsort(axis=1)
frequency = np.mean(rankings <= 8, axis=0)

ks = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20]
results = [stability(list(best_first[:, :k]), N_FEATURES) for k in ks]
index, low, high = np.array([(r.index, r.low, r.high) for r in results]).T

# %%
# Left: how often each feature is among the first eight. The five with the
# largest effects always are; the last places often go to noise, and to
# different noise features in each half. Right: stability is 1 if all halves
# select the same features and 0 on average if they select at random. It is low
# for a single feature, because several strong ones compete for the first place,
# and falls again once noise is selected.

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
order = np.argsort(-frequency)[:20]
informative = order < 8
place = np.arange(20)
for group, label in ((informative, "informative"), (~informative, "noise")):
    left.bar(place[group], frequency[order[group]], label=label)
left.set_xticks(place, order, rotation=90)
left.set(xlabel="feature", ylabel="fraction of halves that select it")
left.legend()
right.plot(ks, index, "o-")
right.fill_between(ks, low, high, alpha=0.2)
right.set(xlabel="number of features k", ylim=(0, 1.02))
right.set_ylabel("stability (95 % interval)")
plt.show()

# %%
# .. seealso::
#
#    :func:`dsofs.report.examine` measures stability together with accuracy, and
#    :doc:`/report` shows the page made from it. The index is that of Nogueira,
#    Sechidis and Brown (2018): :func:`dsofs.statistics.stability`.
