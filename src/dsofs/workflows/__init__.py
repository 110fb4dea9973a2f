"""What the commands do, as calls from Python."""
