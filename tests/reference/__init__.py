"""Slow, obvious versions of the kernels, with dicts and heapq. Tests compare the two step by step."""
