"""
How do I adjust for a batch effect?
===================================

Samples were measured in two batches, and most samples of a class are in the
same batch. Features that depend only on the batch then look like features that
depend on the class.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsofs import DSOSelector

N_CLASS, N_BATCH, N_FEATURES, N_RUNS = 5, 20, 500, 20


def simulate(seed):
    """Five features depend on the class, the next twenty on the batch."""
    rng = np.random.default_rng(seed)
    y = np.arange(200) % 2
    same = rng.random(200) < 0.8  # batch and class agree in 80 % of the samples
    batch = np.where(same, y, 1 - y)
    X = rng.normal(size=(200, N_FEATURES))
    X[:, :N_CLASS] += 0.8 * y[:, None]
    X[:, N_CLASS : N_CLASS + N_BATCH] += 2.0 * batch[:, None]
    return X, y, batch


# %%
# A covariate is a column whose penalty factor is 0. It is always in the model
# and never selected, so a feature has to explain what the batch does not.


def count(selector, X, y):
    """How many selected features depend on class, batch and neither."""
    selected = selector.fit(X, y).get_support(indices=True)
    ends = [0, N_CLASS, N_CLASS + N_BATCH, N_FEATURES]
    return np.histogram(selected, bins=ends)[0]


plain, adjusted = [], []
for seed in range(N_RUNS):
    X, y, batch = simulate(seed)
    plain.append(count(DSOSelector(5), X, y))
    covariate = {N_FEATURES: 0}  # the last column
    selector = DSOSelector(5, penalty_factor=covariate, intercept_penalty=0)
    adjusted.append(count(selector, np.column_stack([X, batch]), y))

# %%
# Without adjustment a third of the selected features depend only on the batch.
# With it none do, and more depend on the class. Effects of the class that are
# too weak to be found leave the remaining places to noise.

x = np.arange(3)
width = 0.38
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.bar(x - 0.2, np.mean(plain, axis=0), width, color="C1", label="plain")
ax.bar(x + 0.2, np.mean(adjusted, axis=0), width, color="C0", label="adjusted")
ax.set_xticks(x, ["class", "batch", "neither"])
ax.set_xlabel("what a selected feature depends on")
ax.set(ylabel="features out of 5\n(mean of 20 simulations)", ylim=(0, 5))
ax.legend()
plt.show()

# %%
# .. seealso::
#
#    :doc:`/tasks/batch` does the same on the command line. :doc:`/known` also
#    covers costs, features that are always selected and weights of samples.
#    The parameter is ``penalty_factor`` of :class:`dsofs.DSOSelector`.
