"""Pictures of findings: charts, images, samples on two axes, confusions. Values in, SVG out."""
