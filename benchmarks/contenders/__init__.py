"""One file per contender of the study ``peers``.

``TASK`` says what it computes, ``NAME`` who does it, ``REQUIREMENTS`` what is installed for it in an environment of its
own (none: it runs in ours), and ``prepare(X, y)`` returns what is timed. X is standardised, y holds classes 0, 1, ...
"""
