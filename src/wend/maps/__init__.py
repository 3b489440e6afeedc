"""Maps: terrain and grid, files, drawings, and where maps are found."""
