"""Problems that are linear programs."""
