"""One selection examined: how good, how stable, better than chance, and where it may err."""
