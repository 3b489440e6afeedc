"""WHCA*, with options for jams."""
