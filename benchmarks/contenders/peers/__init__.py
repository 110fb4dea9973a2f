"""Contenders of the study ``peers``: the methods that the paper compares with."""
