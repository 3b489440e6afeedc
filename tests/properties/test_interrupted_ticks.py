"""Every tick of a run is interrupted at a line drawn at random: world, trace and hash agree after each of them.

It runs for every planner and for every option. For longer runs, by hand:

    WEND_INTERRUPTED_TICKS=30000 python -m pytest -n auto tests/properties/test_interrupted_ticks.py
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.golden.runs import OPTIONS
from tests.interrupts import Interrupt
from wend import Grid, World, create, warm_up
from wend.kernel import NO_AGENT, NO_CELL
from wend.world.referee import judge_trace

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT") != "1"
TICKS = int(os.environ.get("WEND_INTERRUPTED_TICKS", "48" if IS_COMPILED else "8"))
TICKS_PER_WORLD = 24 if IS_COMPILED else 8
# How long those search that plan beforehand, where there is no plan.
SHORT = {"lacam": {"max_expansions": 100}, "ca": {"max_states": 200}, "hca": {"max_states": 200}}


class Chain:
    """The hash of a world, made from nothing but its trace."""

    def __init__(self, grid: Grid) -> None:
        self.ticks = 0
        self._events = 0
        self._hash = b""
        self._join(grid.digest().encode())

    def follow(self, world: World) -> str:
        """What the hash is after what the trace has since the last call."""
        trace = world.trace()
        assert trace.ticks == world.ticks
        positions = trace.positions()
        for tick in range(self.ticks, trace.ticks + 1):
            while self._events < len(trace.events) and trace.events[self._events].tick <= tick:
                event = trace.events[self._events]
                written = json.dumps([event.tick, event.kind, event.agent, event.data], sort_keys=True)
                self._join(written.encode())
                self._events += 1
            if tick < trace.ticks:
                cells = positions[tick + 1]
                self._join(cells[cells != NO_CELL].astype("<i4").tobytes())
        self.ticks = trace.ticks
        there = world.living().tolist()
        assert [world.grid.xy(int(positions[-1][agent])) for agent in there] == list(map(world.position, there))
        return self._hash.hex()

    def _join(self, data: bytes) -> None:
        self._hash = hashlib.blake2b(self._hash + data, digest_size=16).digest()


class Scene:
    """A small world in which something is done before most ticks."""

    def __init__(self, key: str, options: dict[str, Any], seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        grid = Grid(self.draw.random((7, 9)) < 0.85, connectivity=(4, 8)[seed % 2])
        self.chain = Chain(grid)
        self.world = World(grid, create(key, **options), seed=seed)
        for _ in range(6):
            if (place := self.vacant()) is not None:
                self.world.add(place, self.place())
        if (place := self.vacant()) is not None:
            self.world.add(place, controlled=False)

    def place(self) -> tuple[int, int]:
        return int(self.draw.integers(9)), int(self.draw.integers(7))

    def vacant(self) -> tuple[int, int] | None:
        place = self.place()
        cell = self.world.grid.cell(*place)
        is_vacant = self.world.grid.free[cell] and self.world.state.occupant[cell] == NO_AGENT
        return place if is_vacant else None

    def disturb(self) -> None:
        """An order, a wall, a death, a birth, a leap, or nothing."""
        world = self.world
        there = world.living().tolist()
        agent, place, vacant = int(self.draw.choice(there)) if there else None, self.place(), self.vacant()
        match int(self.draw.integers(9)):
            case 0 | 1 if agent is not None:
                world.order(agent, place)
            case 2 if vacant is not None:
                world.block([vacant])
            case 3:
                world.unblock([place])
            case 4 if len(there) > 3 and agent is not None:
                world.remove(agent)
            case 5 if vacant is not None and len(there) < 9:
                world.add(vacant, place)
            case 6 if vacant is not None and agent is not None:
                world.teleport(agent, vacant)


def looks(world: World) -> tuple[Any, ...]:
    """What a program sees of a world."""
    return (
        world.ticks, world.expansions, world.state_hash(), world.grid.digest(), world.events(),
        *(array.tolist() for array in (world.positions(), world.goals(), world.states())),
        [array.tolist() for array in world.state.agents], world.state.occupant.tolist(),
    )  # fmt: skip


def lines_of(call: Callable[[], Any]) -> int:
    """How many lines of Wend a call comes to."""
    never = 10**9
    counter = Interrupt(never)
    counter.during(call)
    return never - counter.lines_left + 8


@pytest.mark.small
@pytest.mark.parametrize(("key", "options"), OPTIONS, ids=str)
def test_world_trace_and_hash_agree_after_every_interrupted_tick(key: str, options: dict[str, Any]) -> None:
    options = {**SHORT.get(key, {}), **options}
    warm_up(create(key, **options))
    struck, made, seed = 0, 0, 0                        # ticks interrupted, and made
    while struck < TICKS:
        scene = Scene(key, options, seed)
        world, draw = scene.world, scene.draw
        lines = lines_of(world.tick)                    # about how many lines a tick has
        for _ in range(TICKS_PER_WORLD):
            scene.disturb()
            budget, is_in_step = None if draw.random() < 0.5 else int(draw.integers(1, 60)), draw.random() < 0.8
            if is_in_step:
                world.tick(budget=budget)       # the planner forgot everything in the last one, and is bound again
            first = max(1, lines - 200) if draw.random() < 0.5 else 1       # near its end, or anywhere
            before, at = looks(world), int(draw.integers(first, lines if is_in_step else lines + 4000))
            interrupt = Interrupt(at)
            if interrupt.during(lambda world=world, budget=budget: world.tick(budget=budget)):
                struck += 1
            elif is_in_step:
                lines = at - interrupt.lines_left + 8
            if world.ticks == before[0]:
                assert looks(world) == before, interrupt.at
                lines += lines // 16 if is_in_step else 0
            else:
                assert world.ticks == before[0] + 1
                made += 1
            assert scene.chain.follow(world) == world.state_hash(), interrupt.at
        assert judge_trace(world.trace()) == []
        seed += 1
    assert made > 0
