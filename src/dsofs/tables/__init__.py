"""Users' files: ``readers/`` (one file per format), :mod:`~dsofs.tables.labelled` (samples, features and classes of a
file) and :mod:`~dsofs.tables.selection` (what was selected, to keep and to apply to another file)."""
