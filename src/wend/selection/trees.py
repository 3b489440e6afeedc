"""Regression by a forest of extremely randomized trees, in NumPy.

Geurts, Ernst, Wehenkel: Extremely randomized trees (Machine Learning 63, 2006). Every tree sees all rows; a node draws
one threshold for each feature and takes the one that leaves least variance, of all outputs together. A prediction is
the mean over the trees.

A forest is five arrays, so that it can be kept in a file that holds nothing but numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAF = -1


class Forest(NamedTuple):
    """Trees one after the other; a node's children come after it, the right one directly after the left one."""

    root: NDArray[np.int32]         # [trees] its first node
    feature: NDArray[np.int32]      # [nodes] that decides, or LEAF
    threshold: NDArray[np.float64]  # [nodes] rows with at most this go to the left
    left: NDArray[np.int32]         # [nodes] the left child, 0 of a leaf
    value: NDArray[np.float64]      # [nodes, outputs] the mean of the rows that came here


def grow_forest(
    features: NDArray[np.float64], outputs: NDArray[np.float64], *, trees: int = 100, leaf: int = 3, seed: int = 0
) -> Forest:
    """Learn rows of outputs [rows, outputs] from rows of features [rows, features]; a leaf has `leaf` rows at least."""
    rng = np.random.default_rng(seed)
    nodes: list[tuple[int, float, int, NDArray[np.float64]]] = []
    roots = []
    for _ in range(trees):
        roots.append(len(nodes))
        _grow(features, outputs, leaf, rng, nodes)
    feature, threshold, left, value = zip(*nodes, strict=True)
    return Forest(
        np.array(roots, np.int32), np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32),
        np.stack(value),
    )  # fmt: skip


def _grow(
    features: NDArray[np.float64],
    outputs: NDArray[np.float64],
    leaf: int,
    rng: np.random.Generator,
    nodes: list[tuple[int, float, int, NDArray[np.float64]]],
) -> None:
    """Add one tree to the nodes."""
    nodes.append((LEAF, 0.0, 0, outputs.mean(axis=0)))
    waiting = [(len(nodes) - 1, np.arange(len(features)))]
    while waiting:
        node, rows = waiting.pop()
        split = _split(features[rows], outputs[rows], leaf, rng)
        if split is None:
            continue
        feature, threshold = split
        goes_left = features[rows, feature] <= threshold
        left = len(nodes)
        nodes[node] = feature, threshold, left, nodes[node][3]
        for child, part in ((left, rows[goes_left]), (left + 1, rows[~goes_left])):
            nodes.append((LEAF, 0.0, 0, outputs[part].mean(axis=0)))
            waiting.append((child, part))


def _split(
    features: NDArray[np.float64], outputs: NDArray[np.float64], leaf: int, rng: np.random.Generator
) -> tuple[int, float] | None:
    """Feature and threshold that leave least variance, or None if these rows stay together."""
    count = len(features)
    low, high = features.min(axis=0), features.max(axis=0)
    thresholds = low + rng.random(low.size) * (high - low)
    if count < 2 * leaf or (outputs == outputs[0]).all():
        return None
    goes_left = features <= thresholds
    on_left = goes_left.sum(axis=0)
    sums = goes_left.T.astype(np.float64) @ outputs
    others = outputs.sum(axis=0) - sums
    allowed = (on_left >= leaf) & (count - on_left >= leaf)
    if not allowed.any():
        return None
    counts = np.maximum(on_left, 1), np.maximum(count - on_left, 1)
    kept = (sums**2).sum(axis=1) / counts[0] + (others**2).sum(axis=1) / counts[1]
    best = int(np.where(allowed, kept, -np.inf).argmax())
    return best, float(thresholds[best])


def predict(forest: Forest, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """[rows, outputs] what the forest expects of each row."""
    node = np.broadcast_to(forest.root, (len(features), forest.root.size)).astype(np.int64)
    row = np.arange(len(features))[:, None]
    while True:
        feature = forest.feature[node]
        inside = feature != LEAF
        if not inside.any():
            break
        goes_right = features[row, np.maximum(feature, 0)] > forest.threshold[node]
        node = np.where(inside, forest.left[node] + goes_right, node)
    return np.asarray(forest.value[node].mean(axis=1))
