"""The outer loop and its certificate."""
