"""For all tests: hypothesis judges what a test says, not how long a busy machine takes over it."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
