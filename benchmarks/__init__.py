"""Benchmarks: results file first, tables from it."""
