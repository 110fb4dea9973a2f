"""
Which pixels tell handwritten digits apart?
===========================================

Each pixel of an 8 x 8 image is a feature, and :class:`dsofs.DSOSelector` ranks
all 64. A classifier that sees 20 of them recognises 98 % of the digits it was
not trained on.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from dsofs import DSOSelector

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)

# %%
# One fit ranks all pixels. The number to keep can be changed afterwards,
# without fitting again.

selector = DSOSelector().fit(X_train, y_train)

masks, accuracies = [], []
for k in (5, 10, 20, 30):
    selector.n_features_to_select = k
    classifier = SVC().fit(selector.transform(X_train), y_train)
    masks.append(selector.get_support().reshape(8, 8))
    accuracies.append(classifier.score(selector.transform(X_test), y_test))

# %%
# Selected pixels are red; the grey image behind them is the mean of all digits.
# The first five lie apart. Their neighbours, which carry much the same
# information, come later.

fig, axes = plt.subplots(1, 4, figsize=(8, 2.6), layout="constrained")
for ax, mask, accuracy in zip(axes, masks, accuracies, strict=True):
    ax.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", vmax=20)
    ax.imshow(mask, cmap="Reds", vmin=0, vmax=1.3, alpha=0.75 * mask)
    ax.set_title(f"{mask.sum()} pixels\naccuracy {accuracy:.0%}")
    ax.set_axis_off()
plt.show()

# %%
# .. seealso::
#
#    :doc:`/tasks/images` shows the report on images, which draws how often each
#    pixel is selected over resamples. :class:`dsofs.DSOSelector` lists all
#    settings.
