"""Measuring selectors: results files now; splits, protocols and significance as they come."""
