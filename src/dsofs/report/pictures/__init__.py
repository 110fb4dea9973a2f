"""One file per kind of picture: findings in, SVG out."""
