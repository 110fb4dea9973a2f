"""``python -m dsofs``."""

from dsofs.cli import main

main()
