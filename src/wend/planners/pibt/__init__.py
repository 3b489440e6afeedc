"""PIBT: every agent decides its next step alone, and those in its way make way."""
