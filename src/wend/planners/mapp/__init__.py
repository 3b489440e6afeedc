"""MAPP."""
