"""Quadratic programs with bounds."""
