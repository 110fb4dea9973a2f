"""From a file to a result: what the commands do, as calls. They join users' tables, methods, examination and report."""
