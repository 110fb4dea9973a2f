"""Examine one selection: how good it is, how stable, whether better than chance, and where it may be wrong."""
