"""WHCA* and Weave."""
