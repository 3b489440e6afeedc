from __future__ import annotations

import numpy as np
import pytest

from wend import Grid
from wend.kernel.arrays import grown
from wend.search import paths as stacks
from wend.search.paths import Paths, cells_ahead, is_walkable


def moves_of(paths: Paths, agent: int) -> list[int]:
    packet, moves = paths.top[agent], []
    for _ in range(paths.left[agent]):
        moves.append(int(stacks.direction(packet)))
        packet = stacks.after(paths, packet)
    return moves


@pytest.mark.small
def test_paths_are_stacks_of_moves_while_the_pool_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "_FIRST_PACKETS", 1)
    rng = np.random.default_rng(4)
    paths = grown(stacks.make_paths(40), agents=5)
    reference: list[list[int]] = [[] for _ in range(5)]
    growths = 0
    for _ in range(200):
        agent, what = int(rng.integers(5)), rng.random()
        if what < 0.6:
            moves = rng.integers(0, 8, int(rng.integers(1, 200))).tolist()
            while not stacks.has_space(paths, len(moves)):
                before = paths.packets.items
                paths = stacks.with_space(paths)
                assert paths.packets.older is before         # nothing was copied
                growths += 1
            for d in moves:
                stacks.put_move(paths, agent, d)
                reference[agent].insert(0, d)
        elif what < 0.9:
            for _ in range(min(int(rng.integers(1, 90)), len(reference[agent]))):
                assert stacks.take_move(paths, agent) == reference[agent].pop(0)
        elif what < 0.96:
            kept = min(int(rng.integers(0, 99)), len(reference[agent]))
            stacks.shorten(paths, agent, kept)
            reference[agent] = reference[agent][len(reference[agent]) - kept :]
        else:
            paths.left[agent] = 0                           # forgotten, and given back before it is written anew
            stacks.shorten(paths, agent, 0)
            reference[agent] = []
        assert [moves_of(paths, each) for each in range(5)] == reference
        assert paths.left.tolist() == [len(moves) for moves in reference]
    assert growths >= 3
    for agent in range(5):
        stacks.shorten(paths, agent, 0)
    assert paths.counts[0].spares == paths.counts[0].used - 1       # no packet was lost


@pytest.mark.small
def test_an_edit_drops_the_paths_that_it_cuts() -> None:
    grid = Grid(np.ones((3, 30)))
    paths = grown(stacks.make_paths(grid.size), agents=3)
    start = np.array([grid.cell(0, y) for y in range(3)], np.int32)
    for agent in range(3):
        for _ in range(29):
            stacks.put_move(paths, agent, 1)
    for _ in range(7):
        start[2] += stacks.take_move(paths, 2)
    assert cells_ahead(grid.tables, paths, 1, int(start[1])) == tuple(range(31, 60))
    grid.block([(20, 1), (3, 2)])                           # agent 2 is past the wall in its row
    stacks.drop_cut_paths(grid.tables, start, paths)
    assert paths.left.tolist() == [29, 0, 22]
    assert cells_ahead(grid.tables, paths, 1, int(start[1])) == ()


@pytest.mark.small
def test_cells_are_walkable_if_every_step_is_legal_now() -> None:
    grid = Grid.from_text("...\n...\n...")
    for cells, walkable in (
        ([0], True),
        ([], True),
        ([0, 0, 4, 8, 7, 7], True),
        ([0, 2], False),
        ([2, 3], False),        # neighbours by number only
        ([0, 1, 2, 1, 0, 3], True),
    ):
        assert bool(is_walkable(grid.tables, np.array(cells, np.int32))) == walkable
    grid.block([(1, 0)])
    assert not is_walkable(grid.tables, np.array([0, 1], np.int32))
    assert not is_walkable(grid.tables, np.array([0, 4], np.int32))         # cuts the corner
    assert is_walkable(grid.tables, np.array([0, 3, 4], np.int32))
    assert is_walkable(grid.tables, np.array([1, 1], np.int32))             # nobody moves
