"""BMAA* and Surge."""
