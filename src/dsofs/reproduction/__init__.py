"""The paper's tables and figures made anew: what is run for them, and how they are drawn from the results file."""
