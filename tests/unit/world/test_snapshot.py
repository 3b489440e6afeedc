"""Snapshots: whatever a world does after one, it does again when it was restored, wherever that is."""

from __future__ import annotations

import copy
import os
import pickle
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.captures import assert_holds_all
from wend import ALGORITHMS, Grid, Planner, Snapshot, World, create, parameter
from wend.errors import FormatError, ParameterError, SnapshotError, VersionError
from wend.planners.mapp.mapp import Mapp
from wend.world import snapshot as snapshots

ROOT = Path(__file__).resolve().parents[3]
TICKS = 8 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 24
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    *((key, {}) for key in ALGORITHMS), ("surge", {"threads": 2}), ("whca", {"abstraction": 1, "window": 5}),
    ("far", {"flow": "local", "commit": "slide"}), ("bmaa", {"heuristic": "blocks", "threads": 3}),
]  # fmt: skip


def make_world(key: str = "lra", *, seed: int = 3, **options: Any) -> World:
    draw = np.random.default_rng(7)
    return World(Grid(draw.random((21, 26)) < 0.85), create(key, **options), seed=seed)


def play(world: World, seed: int, ticks: int, budget: int | None) -> list[Any]:
    """Whatever a program may do, by chance; return all that can be seen of it."""
    draw = np.random.default_rng(seed)
    seen: list[Any] = []

    def vacant() -> tuple[int, int]:
        cells = world.grid.free_cells()
        taken = list(world._announced.values())
        return world.grid.xy(int(draw.choice(np.setdiff1d(cells[world.state.occupant[cells] < 0], taken))))

    for tick in range(ticks):
        cells, controlled = world.state.agents.cell, world.state.agents.controlled
        theirs = world._roster.handles[(cells >= 0) & controlled].tolist()
        mine = world._roster.handles[(cells >= 0) & ~controlled].tolist()
        if len(theirs) < 30:
            world.add(vacant(), vacant())
        if len(mine) < 2:
            world.add(vacant(), controlled=False)
        for agent in mine:
            around = [world.grid.cell(*place) for place in world.grid.neighbours(world.position(agent))]
            steps = [k for k in around if world.state.occupant[k] < 0 and k not in world._announced.values()]
            if steps:
                world.move(agent, world.grid.xy(steps[0]))
        if len(theirs) > 10:
            some = [int(agent) for agent in draw.choice(theirs, 8, replace=False)]
            match (tick + seed) % 8:
                case 0:
                    world.order_group(some, vacant(), "attack_move" if tick % 16 < 8 else "move")
                case 1:
                    for agent in some[:4]:
                        world.order(agent, (3, 3))
                case 2:
                    world.follow(some[0], some[1])
                case 3:
                    world.block([vacant(), vacant()])
                case 4:
                    world.unblock([(int(draw.integers(26)), int(draw.integers(21)))])
                case 5:
                    world.remove(some[0])
                case 6:
                    world.teleport(some[0], vacant())
                    world.pin(some[1])
        world.tick(budget=budget)
        agents = world.living().tolist()
        seen.append((
            world.state_hash(), world.events(), world.states().tolist(), world.quiet(),
            [world.order_of(agent) for agent in agents], [world.intent(agent) for agent in agents],
        ))  # fmt: skip
    return [*seen, searched(world)]


def searched(world: World) -> Any:
    """What the planner has done so far; MAPP knows the ways around obstacles from worlds before, and counts none."""
    return None if isinstance(world.planner, Mapp) else (world.expansions, world.planner.counters())


def recorded(world: World) -> list[Any]:
    """All of a trace but the times."""
    trace = world.trace()
    return [trace.moves.tolist(), trace.events, trace.waits.tolist(), trace.reasons, searched(world)]


@pytest.mark.small
@pytest.mark.parametrize("budget", [None, 150], ids=["no budget", "budget 150"])
@pytest.mark.parametrize(("key", "options"), OPTIONS, ids=str)
def test_a_restored_world_does_it_all_again(key: str, options: dict[str, Any], budget: int | None) -> None:
    world, ticks = make_world(key, **options), TICKS if ALGORITHMS[key].online else 5
    play(world, 1, ticks, budget)
    before = world.snapshot()
    seen, trace = play(world, 2, ticks, budget), recorded(world)
    later = world.snapshot()
    world.restore(before)
    assert world.ticks == before.tick == ticks
    assert world.state_hash() == before.state_hash
    play(world, 3, ticks // 2, None)            # what comes of another future is gone with it
    world.restore(before)
    assert play(world, 2, ticks, budget) == seen
    assert recorded(world) == trace
    after = play(world, 4, 4, budget)
    world.restore(later)                        # ahead in time, of which there is a trace too
    assert recorded(world) == trace
    assert play(world, 4, 4, budget) == after

    elsewhere = make_world(key, **options)
    elsewhere.restore(Snapshot.from_bytes(bytes(before)))
    assert play(elsewhere, 2, ticks, budget) == seen
    assert elsewhere.snapshot().state_hash == later.state_hash


@pytest.mark.parametrize(("key", "options"), OPTIONS, ids=str)
def test_what_snapshots_share_is_what_a_full_copy_has(key: str, options: dict[str, Any]) -> None:
    """A kernel that writes without setting its mark is found here: in a game in which many snapshots come and go."""
    draw = np.random.default_rng(6)
    world, elsewhere = make_world(key, **options), make_world(key, **options)
    held: list[Snapshot] = []
    for k in range(TICKS if ALGORITHMS[key].online else 4):
        play(world, k, 1, 100)
        held.append(world.snapshot())
        assert_holds_all(held[-1], world)
        if k % 3 == 2:
            then = held[int(draw.integers(len(held)))]
            world.restore(then)
            assert_holds_all(then, world)
            elsewhere.restore(then)
            assert_holds_all(then, elsewhere)
            assert_holds_all(elsewhere.snapshot(), elsewhere)
        if len(held) > 6:
            del held[int(draw.integers(len(held)))]


@pytest.mark.parametrize("key", ["weave", "surge"])
def test_another_process_goes_on_from_the_bytes(key: str, tmp_path: Path) -> None:
    world = make_world(key)
    play(world, 1, 12, 200)
    (tmp_path / "then").write_bytes(bytes(world.snapshot()))
    play(world, 2, 8, 200)
    program = f"""
import sys
from pathlib import Path
from tests.unit.world.test_snapshot import make_world, play
from wend import Snapshot
world = make_world({key!r})
world.restore(Snapshot.from_bytes(Path(sys.argv[1]).read_bytes()))
play(world, 2, 8, 200)
print(world.state_hash())
"""
    ran = subprocess.run([sys.executable, "-c", program, tmp_path / "then"], capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.strip() == world.state_hash(), ran.stderr


@pytest.mark.small
def test_a_trace_with_reasons_is_taken_back() -> None:
    world = World(Grid.from_text("......\n@@@@@."), "lra", record_reasons=True)
    for x in range(5):
        world.add((x, 0), (4 - x, 0))
    world.run(max_ticks=6)
    before = world.snapshot()
    world.run(max_ticks=12)
    trace = recorded(world)
    world.restore(before)
    assert recorded(world)[0] == trace[0][: before.tick]
    assert len(world.trace().reasons) <= len(trace[3])
    world.run(max_ticks=12)
    assert recorded(world) == trace


@pytest.mark.small
def test_listeners_stay_and_announced_moves_come_back() -> None:
    world = World(Grid.from_text("....."), "lra")
    heard: list[Any] = []
    world.on("arrived", heard.append)
    walker, runner = world.add((0, 0), controlled=False), world.add((3, 0), (4, 0))
    world.move(walker, (1, 0))
    before = world.snapshot()
    for _ in range(2):
        world.tick()
        assert world.position(walker) == (1, 0)
        assert world.position(runner) == (4, 0)
        assert len(heard) == 1
        heard.clear()
        world.restore(before)


def test_a_snapshot_from_bytes_has_no_trace_and_the_world_says_so() -> None:
    world = make_world()
    play(world, 1, 5, None)
    whole, bare = world.snapshot(), Snapshot.from_bytes(bytes(world.snapshot()))
    world.restore(bare)
    world.tick()
    with pytest.raises(ParameterError, match="restored from a snapshot that came without its trace"):
        world.trace()
    assert world.snapshot()._record is None
    world.restore(whole)
    assert world.trace().ticks == 5


def test_copies_and_pickles_of_a_snapshot_are_as_good() -> None:
    world = make_world()
    play(world, 1, 5, None)
    before = world.snapshot()
    assert copy.copy(before) is copy.deepcopy(before) is before
    seen = play(world, 2, 5, None)
    world.restore(pickle.loads(pickle.dumps(before)))
    assert play(world, 2, 5, None) == seen
    assert repr(before) == f"<Snapshot at tick 5, {before.nbytes:,} bytes>"


@pytest.mark.parametrize(("other", "what"), [
    (make_world("pibt"), "planner: 'wend.planners.local_repair:LocalRepair', and not 'wend.planners.pibt.pibt:Pibt'"),
    (make_world(noise=2), "parameters of the planner"),
    (make_world(seed=4), "seed: 3, and not 4"),
    (World(Grid.from_text("..."), "lra", seed=3), "map"),
])  # fmt: skip
def test_a_foreign_snapshot_is_refused_and_changes_nothing(other: World, what: str) -> None:
    other.add((0, 0))
    before = other.state_hash()
    with pytest.raises(SnapshotError, match=f"the snapshot is of another {what}"):
        other.restore(make_world().snapshot())
    assert other.state_hash() == before
    other.tick()


def test_a_snapshot_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "__version__", "0.0.9")
    old = make_world().snapshot()
    monkeypatch.undo()
    with pytest.raises(SnapshotError, match=r"of another version of Wend: '0\.0\.9'"):
        make_world().restore(old)


def test_bytes_that_are_no_snapshot_are_refused() -> None:
    whole = bytes(make_world().snapshot())
    for data in (b"", b"WENDSNAP", b"x" * 99, whole[:-1], whole[:-20] + whole[-16:], whole[:200] + b"!" + whole[201:]):
        with pytest.raises(FormatError):
            Snapshot.from_bytes(data)
    newer = whole[:8] + struct.pack("<I", 2) + whole[12:]
    with pytest.raises(VersionError, match="its format is 2, and this Wend reads formats up to 1"):
        Snapshot.from_bytes(newer)
    for wrong in (None, "text", 7):
        with pytest.raises(ParameterError):
            Snapshot.from_bytes(wrong)      # type: ignore[arg-type]
        with pytest.raises(ParameterError):
            make_world().restore(wrong)     # type: ignore[arg-type]


def forged(whole: bytes, old: bytes, new: bytes) -> bytes:
    """The bytes with something else of the same length in the header, and the hash that fits."""
    assert whole.count(old) >= 1
    assert len(old) == len(new)
    data = whole[:-16].replace(old, new, 1)
    return data + snapshots._digest(data)


def test_a_forged_header_ends_in_an_error_of_ours() -> None:
    world = make_world()
    play(world, 1, 3, None)
    whole, before = bytes(world.snapshot()), world.state_hash()
    for old, new in [
        (b"wend.world.world:World", b"wend.world.world:worls"), (b'["p",', b'["q",'), (b'"tree":', b'"free":'),
        (b"wend.planners.base:State", b"os.path.planner:basename"), (b'["o",0,', b'["o",["'),
        (b'"arrays":[["', b'"arrays":[[9'), (b'["r",', b'["R",'),
    ]:  # fmt: skip
        with pytest.raises((FormatError, SnapshotError)):
            world.restore(Snapshot.from_bytes(forged(whole, old, new)))
        assert world.state_hash() == before
    world.tick()


@dataclass
class Remembers(Planner):
    """A planner as its user writes it, with plain attributes."""

    step: int = parameter(1, "cells that an agent goes to the right", minimum=0)

    def bind(self, state, seed) -> None:
        super().bind(state, seed)
        self.seen: dict[int, list[int]] = {}
        self.on_plan = None

    def plan(self, proposal, budget) -> None:
        for agent, cell in enumerate(self.state.agents.cell.tolist()):
            self.seen.setdefault(agent, []).append(cell)
            if len(self.seen[agent]) % 2 and self.state.grid.free[cell + 1] and self.state.occupant[cell + 1] < 0:
                proposal.next_cell[agent] = cell + self.step


def test_a_planner_of_your_own_needs_to_do_nothing_for_it() -> None:
    world = World(Grid.from_text("........@"), Remembers())
    world.add((0, 0), (7, 0))
    world.tick()
    before = world.snapshot()
    world.run(max_ticks=6)
    seen, after = copy.deepcopy(world.planner.seen), world.state_hash()     # type: ignore[attr-defined]
    world.restore(Snapshot.from_bytes(bytes(before)))
    assert world.planner.seen == {0: [0]}                                   # type: ignore[attr-defined]
    world.run(max_ticks=6)
    assert (world.planner.seen, world.state_hash()) == (seen, after)        # type: ignore[attr-defined]
    world.planner.on_plan = np.random.default_rng()                         # type: ignore[attr-defined]
    with pytest.raises(SnapshotError, match=r"world\.planner\.on_plan is a Generator, which a snapshot cannot hold"):
        world.snapshot()


@pytest.mark.parametrize("key", ["far", "bmaa-f"])
def test_a_snapshot_holds_the_one_way_streets_that_are_being_annotated(key: str) -> None:
    """On a large map that takes several ticks after a wall; a world that goes back must not end it early or late."""
    grid = Grid(np.random.default_rng(1).random((256, 256)) < 0.9)
    starts, goals = (np.random.default_rng(seed).permutation(grid.largest_component())[:40] for seed in (2, 3))
    world = World(grid, key)
    for start, goal in zip(starts.tolist(), goals.tolist(), strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    world.tick()

    def streets_of_some_ticks() -> list[bytes]:
        found = []
        for _ in range(12):
            world.tick()
            found.append(world.planner.overlay("flow").tobytes())
        return found

    vacant = [cell for cell in grid.largest_component().tolist() if world.state.occupant[cell] < 0]
    world.block([grid.xy(vacant[len(vacant) // 2])])
    world.tick()
    taken = world.snapshot()
    before = streets_of_some_ticks()
    assert len(set(before)) > 1
    world.restore(taken)
    assert streets_of_some_ticks() == before
    world.restore(Snapshot.from_bytes(bytes(taken)))
    assert streets_of_some_ticks() == before
