"""Jobs that a single paper needs."""
