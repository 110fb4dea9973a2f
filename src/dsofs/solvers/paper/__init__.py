"""The paper's own Algorithm 1."""
