"""Speed, as ratios to a baseline in the same run: `python -m benchmarks [NAME ...] [--json]`, or `make bench`.

One module per benchmark, each with a `run()` that returns rows; `measure` does the timing, `maps` provides the map.
A benchmark is not a test: it prints whether its targets are met, and does not fail if they are not.
`docs/benchmarks.md` says what each one measures.
"""
