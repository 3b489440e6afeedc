"""Speed, as ratios to a baseline in the same run: `python -m benchmarks [NAME ...] [--json]`, or `make bench`.

One module per benchmark, each with a `run()` that returns rows; `measure` times and tells, `maps` has the map.
A benchmark is not a test: it prints whether its targets are met, and nothing fails when they are not.
`docs/benchmarks.md` says what each one measures.
"""
