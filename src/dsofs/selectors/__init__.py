"""scikit-learn estimators: one class per file; ``fit`` is validate -> problem -> solve -> rank -> attributes."""
