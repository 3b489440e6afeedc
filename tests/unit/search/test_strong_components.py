from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from wend.kernel.arrays import allocate
from wend.search.strong_components import StrongComponents, label_strong_components


def joined(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which nodes reach each other both ways: the closure of the edges, and of the same edges reversed."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    for k in range(len(edges)):
        reach |= np.outer(reach[:, k], reach[k])
    return np.asarray(reach & reach.T)


def label(edges: NDArray[np.bool_], found: StrongComponents) -> int:
    begin = np.concatenate([[0], np.cumsum(edges.sum(axis=1))])
    return label_strong_components(begin, np.nonzero(edges)[1].astype(np.int32), found)


@pytest.mark.small
def test_components_are_the_nodes_that_reach_each_other() -> None:
    draw = np.random.default_rng(1)
    found = allocate(StrongComponents, nodes=12)            # used again and again: nothing of before may be left
    for _ in range(200):
        nodes = int(draw.integers(1, 13))
        edges = draw.random((nodes, nodes)) < draw.choice([0.05, 0.1, 0.2, 0.4])
        count = label(edges, found)
        component = found.component[:nodes]
        assert np.array_equal(component[:, None] == component, joined(edges))
        assert sorted(set(component.tolist())) == list(range(count))


@pytest.mark.small
def test_a_long_ring_is_one_component_and_a_long_chain_none() -> None:
    nodes = 20_000                                          # far deeper than Python could recurse
    found = allocate(StrongComponents, nodes=nodes)
    ring = np.roll(np.arange(nodes, dtype=np.int32), -1)
    assert label_strong_components(np.arange(nodes + 1), ring, found) == 1
    chain = np.append(np.arange(nodes), nodes - 1)
    assert label_strong_components(chain, ring[:-1], found) == nodes
