"""Groups of units: orders to them, and whether they stay together."""
