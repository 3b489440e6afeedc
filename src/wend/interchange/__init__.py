"""The formats of other solvers and viewers."""
