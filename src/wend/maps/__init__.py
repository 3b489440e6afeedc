"""Maps: the grid, files, generators, and where maps are found."""
