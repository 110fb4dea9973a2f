"""What the methods that DSO is compared with compute: plain functions, for the estimators of ``selectors``."""
