from __future__ import annotations

import contextlib
import json
import zipfile

import numpy as np
import pytest

from wend import Grid, Trace, World
from wend.errors import FormatError, ParameterError, VersionError
from wend.kernel import NO_CELL
from wend.rules import OFF_MAP
from wend.world.referee import judge_trace
from wend.world.trace import ABSENT, Wait


@pytest.fixture
def trace() -> Trace:
    """Agents that come late and leave early, an edit, and a new order."""
    world = World(Grid(np.ones((5, 6))), "lra")
    world.add((0, 0), (5, 0))
    world.tick()
    world.tick()
    late = world.add((0, 4), (0, 0))
    world.block([(0, 2), (3, 0)])
    world.tick()
    world.order(0, (5, 4))
    world.remove(late)
    for _ in range(6):
        world.tick()
    return world.trace(algorithm="lra", map="</script>")


def rewritten(path, out, **changes: bytes | None):
    """A copy of a trace with some entries replaced, or left out."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = changes.get(name.replace(".", "_"), old.read(name))
            if data is not None:
                new.writestr(name, data)
    return out


@pytest.mark.small
def test_positions_follow_who_comes_and_goes(trace: Trace) -> None:
    cells = trace.positions()
    assert cells.shape == (10, 2)
    assert trace.grid.xy(int(cells[0, 0])) == (0, 0)
    assert cells[:2, 1].tolist() == [NO_CELL, NO_CELL]
    assert trace.grid.xy(int(cells[2, 1])) == (0, 4)
    assert cells[3, 1] != NO_CELL
    assert set(cells[4:, 1].tolist()) == {NO_CELL}
    assert trace.starts() == [(0, 0), (0, 4)]
    assert trace.goals() == [(5, 4), (0, 0)]
    assert trace.grid.xy(int(cells[-1, 0])) == (5, 4)
    assert (trace.moves == ABSENT).sum() == 2 + 6
    assert judge_trace(trace) == []


def test_a_saved_trace_is_the_same_trace(trace: Trace, tmp_path) -> None:
    path = tmp_path / "run.wend"
    trace.save(path)
    loaded = Trace.load(path)
    assert loaded.grid == trace.grid
    assert np.array_equal(loaded.moves, trace.moves)
    assert np.array_equal(loaded.positions(), trace.positions())
    assert np.array_equal(loaded.plan_ms, trace.plan_ms)
    assert np.array_equal(loaded.expansions, trace.expansions)
    assert loaded.meta == trace.meta
    assert [(e.tick, e.kind, e.agent) for e in loaded.events] == [(e.tick, e.kind, e.agent) for e in trace.events]
    loaded.save(tmp_path / "again.wend")
    assert (tmp_path / "again.wend").read_bytes() == path.read_bytes()


@pytest.mark.small
def test_a_place_may_change_hands_between_two_ticks() -> None:
    world = World(Grid.from_text("....\n...."), "lra")
    first = world.add((0, 0), (3, 0))
    world.tick()
    world.remove(first)
    second = world.add((1, 0), (0, 0))
    world.tick()
    world.remove(second)
    world.block([(0, 0)])
    world.tick()
    assert judge_trace(world.trace()) == []


def test_who_appears_in_a_wall_or_on_another_is_found(trace: Trace) -> None:
    late = next(event for event in trace.events if event.kind == "added" and event.tick == 2)
    late.data["at"] = trace.grid.xy(int(trace.positions()[2, 0]))
    trace = Trace(trace.grid, trace.moves, trace.events, trace.plan_ms, trace.expansions)
    assert "tick 2: collision of agent 0 and 1" in str(judge_trace(trace)[0])


def test_planted_violations_are_found_in_a_trace(trace: Trace) -> None:
    trace.moves[0, 0] = 1       # north, off the map
    assert trace.positions()[1, 0] == OFF_MAP
    assert [v.kind for v in judge_trace(trace)][:1] == ["off-map"]


def header(path, **changes) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return json.dumps({**json.loads(archive.read("header.json")), **changes}).encode()


def test_a_newer_major_version_is_refused_and_a_newer_minor_is_read(trace: Trace, tmp_path) -> None:
    path = tmp_path / "run.wend"
    trace.save(path)
    newer = rewritten(path, tmp_path / "2.wend", header_json=header(path, version="2.0"))
    with pytest.raises(VersionError, match=r"2\.wend: written as version 2\.0; this Wend reads up to 1\.x"):
        Trace.load(newer)
    minor = rewritten(path, tmp_path / "1.wend", header_json=header(path, version="1.7", novelty=3))
    assert Trace.load(minor).ticks == trace.ticks


def test_damaged_files_are_refused_with_their_name_and_reason(trace: Trace, tmp_path) -> None:
    path = tmp_path / "run.wend"
    trace.save(path)
    whole = path.read_bytes()
    event = {"tick": 0, "kind": "added", "agent": 0, "at": [0, 0], "goal": [1, 1]}
    bad = {
        "no moves": {"moves_bin": None},
        "short moves": {"moves_bin": b"\0\0"},
        "unknown code": {"moves_bin": b"\x63" * trace.moves.size},
        "other format": {"header_json": header(path, format="zip")},
        "no json": {"header_json": b"{"},
        "no object": {"header_json": b"3"},
        "huge ticks": {"header_json": header(path, ticks=10**18)},
        "negative": {"header_json": header(path, ticks=-1, agents=-18)},
        "other size": {"header_json": header(path, width=7)},
        "bad map": {"map_txt": b"..\n..x\n"},
        "missing agent": {"events_jsonl": json.dumps(event).encode()},
        "off the map": {"events_jsonl": json.dumps({**event, "at": [99, 0]}).encode()},
        "late event": {"events_jsonl": json.dumps({**event, "tick": 99}).encode()},
        "bad meta": {"header_json": header(path, meta=3)},
    }
    for name, changes in bad.items():
        with pytest.raises(FormatError, match=f"{name}.wend"):
            Trace.load(rewritten(path, tmp_path / f"{name}.wend", **changes))
    for end in (0, 10, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.wend").write_bytes(whole[:end])
        with pytest.raises(FormatError, match=r"cut\.wend"):
            Trace.load(tmp_path / "cut.wend")
    with pytest.raises(FormatError, match="no such file"):
        Trace.load(tmp_path / "nowhere.wend")
    rng = np.random.default_rng(0)
    for _ in range(300):
        bent = bytearray(whole)
        for k in rng.integers(0, len(bent), 3).tolist():
            bent[k] = int(rng.integers(256))
        (tmp_path / "bent.wend").write_bytes(bent)
        with contextlib.suppress(FormatError):
            Trace.load(tmp_path / "bent.wend")


# --- why agents waited ----------------------------------------------------------------------------------------------


@pytest.fixture
def jam() -> Trace:
    """Agent 0 meets agent 1 in a corridor; both wait for each other until the end."""
    world = World(Grid.from_text("....."), "bmaa", record_reasons=True)
    world.add((0, 0), (4, 0))
    world.add((4, 0), (0, 0))
    for _ in range(9):
        world.tick()
    return world.trace(algorithm="bmaa")


@pytest.mark.small
def test_a_reason_is_stored_when_it_begins_and_holds_until_the_agent_moves(jam: Trace) -> None:
    waiting = [[jam.wait(agent, tick) is not None for tick in range(9)] for agent in (0, 1)]
    assert waiting == [(jam.moves[:, agent] == 0).tolist() for agent in (0, 1)]
    assert sum(map(sum, waiting)) > 10
    assert len(jam.waits) < 6
    assert jam.wait(0, 8) == Wait(1, "another agent is in its way")
    assert set(jam.reasons) <= {"another agent is in its way", "other agents wall it in"}
    for agent, tick in ((2, 0), (-1, 0), (0, 9), (0, -1), ("a", 0)):
        with pytest.raises(ParameterError):
            jam.wait(agent, tick)      # type: ignore[arg-type]


def test_reasons_are_saved_and_loaded(jam: Trace, trace: Trace, tmp_path) -> None:
    jam.save(tmp_path / "jam.wend")
    again = Trace.load(tmp_path / "jam.wend")
    assert again.waits.tolist() == jam.waits.tolist()
    assert again.reasons == jam.reasons
    assert repr(again) == (
        "<Trace of 2 agents over 9 ticks, bmaa, on <Grid 5x1, 5 passable cells in 1 component, 8 directions>>"
    )
    trace.save(tmp_path / "silent.wend")
    with zipfile.ZipFile(tmp_path / "silent.wend") as archive:
        assert not {"waits.bin", "reasons.json"} & set(archive.namelist())
    old = header(tmp_path / "silent.wend", version="1.1")
    without = json.dumps({key: value for key, value in json.loads(old).items() if key != "waits"}).encode()
    before = Trace.load(rewritten(tmp_path / "silent.wend", tmp_path / "old.wend", header_json=without))
    assert (len(before.waits), before.reasons, before.wait(0, 0)) == (0, [], None)


def test_reasons_that_cannot_be_are_refused(jam: Trace, tmp_path) -> None:
    path = tmp_path / "jam.wend"
    jam.save(path)
    for k, (column, value) in enumerate([(0, 9), (0, -1), (1, 2), (2, 2), (2, -2), (3, 9), (3, -1)]):
        bent = jam.waits.copy()
        bent[0, column] = value
        with pytest.raises(FormatError, match=f"{k}.wend"):
            Trace.load(rewritten(path, tmp_path / f"{k}.wend", waits_bin=bent.astype("<i4").tobytes()))
    for k, text in enumerate([b"3", b"[3]", b"{", b"[]"]):
        with pytest.raises(FormatError, match=f"r{k}.wend"):
            Trace.load(rewritten(path, tmp_path / f"r{k}.wend", reasons_json=text))
    with pytest.raises(FormatError, match=r"short\.wend"):
        Trace.load(rewritten(path, tmp_path / "short.wend", waits_bin=b"\0" * 8))
