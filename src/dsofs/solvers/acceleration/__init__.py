"""Faster proposals for the loop: Newton's steps, working sets, rows removed."""
