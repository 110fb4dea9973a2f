"""RFS and the general form, Eqns. 31 and 32: sums of norms of residuals and of rows."""
