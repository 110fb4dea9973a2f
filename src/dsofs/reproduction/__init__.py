"""The paper's tables and figures, computed again: what is run for them, and how the results file is drawn."""
