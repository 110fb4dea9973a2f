"""What the paper printed."""

from __future__ import annotations

from dsofs.datasets.catalogue import CATALOGUE

METHODS = {"mrmr": "mRMR", "relieff": "ReliefF", "lasso": "Lasso", "rfs": "RFS", "dso": "DSO-FS"}  # as in Table 2
DATA = tuple(name for name, dataset in CATALOGUE.items() if not dataset.is_stand_in)
STAND_INS = tuple(name for name, dataset in CATALOGUE.items() if dataset.is_stand_in)
# The default data sets. The other three are run where they are available.
AVAILABLE = ("semeion", "isolet", "tox_171", "umist", "ar", "orl")
FIGURE_1 = ("semeion", "lung", "umist")
PS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)

# Mean and standard deviation of the accuracy (%) with 100 features, columns as in METHODS.
TABLE_2 = {
    "semeion": ((87.58, 1.34), (87.04, 0.77), (89.50, 0.78), (89.92, 1.62), (90.18, 0.39)),
    "isolet": ((90.82, 0.72), (89.13, 0.53), (94.25, 0.69), (93.72, 0.55), (95.23, 0.44)),
    "gisette": ((96.30, 0.58), (95.90, 0.87), (95.88, 1.22), (97.0, 1.12), (97.30, 1.01)),
    "lung": ((94.10, 2.22), (93.44, 3.28), (93.93, 2.32), (94.26, 1.83), (94.59, 1.95)),
    "cll_sub_111": ((76.47, 3.22), (68.24, 7.30), (77.65, 3.98), (80.59, 3.99), (81.18, 3.99)),
    "tox_171": ((80.00, 5.01), (82.90, 5.18), (74.20, 4.39), (84.78, 3.74), (85.07, 4.05)),
    "umist": ((97.26, 0.91), (98.48, 1.12), (96.70, 1.53), (97.83, 1.54), (98.48, 1.29)),
    "ar": ((86.35, 6.11), (84.42, 5.12), (82.31, 6.25), (89.23, 3.67), (90.77, 3.53)),
    "orl": ((89.67, 4.82), (63.83, 5.58), (85.33, 4.32), (90.67, 3.55), (93.58, 2.55)),
}
