"""Synthetic cells for the tests of gene panels."""

import numpy as np
import pytest
from scipy import sparse

anndata = pytest.importorskip("anndata")


def synthetic(n_types=4, per_type=40, n_noise=60, seed=0, n_batches=2):
    """Counts as logarithms: genes 2 t and 2 t + 1 mark type t, the others are noise; the batch changes a noise gene."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_types), per_type)
    batch = rng.permutation(np.arange(len(y)) % n_batches)
    rate = np.full((len(y), 2 * n_types + n_noise), 0.5)
    for t in range(n_types):
        rate[y == t, 2 * t : 2 * t + 2] = 6.0
    rate[:, -1] += 3.0 * batch
    X = sparse.csr_matrix(np.log1p(rng.poisson(rate)))
    adata = anndata.AnnData(X)
    adata.var_names = [f"g{i}" for i in range(adata.n_vars)]
    adata.obs["type"] = [f"t{t}" for t in y]
    adata.obs["batch"] = [f"b{b}" for b in batch]
    return adata
