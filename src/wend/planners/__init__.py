"""The algorithms: one family of a paper, one file that reads like the paper."""
