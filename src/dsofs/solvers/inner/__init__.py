"""Inner steps: the quadratic problem for fixed weights, for each constraint, loss and shape of X."""
