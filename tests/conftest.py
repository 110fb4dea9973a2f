"""For all tests: hypothesis judges what a test says, not how long a busy machine takes over it."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: scikit-learn's dispatch asks for it

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
