"""A tree of a forest walked one node and one row at a time."""

from __future__ import annotations

from wend.selection.trees import LEAF, Forest


def predict(forest: Forest, row: list[float]) -> list[float]:
    """The mean over all trees of the leaf that the row comes to."""
    leaves = []
    for root in forest.root.tolist():
        node = root
        while forest.feature[node] != LEAF:
            node = int(forest.left[node]) + (row[forest.feature[node]] > forest.threshold[node])
        leaves.append(forest.value[node].tolist())
    return [sum(values) / len(values) for values in zip(*leaves, strict=True)]
