"""What the estimators of several methods share."""
