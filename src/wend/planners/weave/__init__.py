"""Weave: agents plan some steps ahead, as a wish, and PIBT decides who goes where."""
