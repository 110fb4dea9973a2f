"""One file for each kind of X."""
