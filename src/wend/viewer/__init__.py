"""Looking at runs: the replay page."""
