"""The replay page: what it carries, that nothing in a trace can break it, and that its script reads it correctly."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY
from wend.rules import OFF_MAP
from wend.viewer.replay import replay_page, write_replay
from wend.world.trace import ABSENT, WAIT, Event, Trace

RunScript = Callable[[str, Any], Any]

N, E, S = 1, 2, 3     # codes of moves
NASTY = "</script><b>'\"&<!--\ud800\u2028"


class Page(HTMLParser):
    """The tags of a page, and the text of its elements with an id."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self._id: str | None = None
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._id = dict(attrs).get("id")

    def handle_data(self, data: str) -> None:
        if self._id:
            self.text[self._id] = self.text.get(self._id, "") + data

    @property
    def data(self) -> str:
        """The run that it carries, in base64."""
        return self.text["data"]


def make_trace(grid: Grid, moves: Any, events: list[Event], meta: dict[str, Any] | None = None) -> Trace:
    moves = np.asarray(moves, dtype=np.uint8)
    return Trace(grid, moves, events, np.zeros(len(moves)), np.zeros(len(moves), dtype=np.int64), meta or {})


def added(tick: int, agent: int, at: tuple[int, int], goal: tuple[int, int]) -> Event:
    return Event(tick, "added", agent, {"at": list(at), "goal": list(goal)})


@pytest.fixture
def eventful() -> Trace:
    """Agents that come, go, wait and get another goal, and a wall that comes and goes."""
    moves = [[E, ABSENT], [E, ABSENT], [WAIT, N], [S, N], [ABSENT, WAIT]]
    events = [
        added(0, 0, (0, 0), (2, 1)),
        Event(1, "blocked", None, {"cells": [[0, 0], [0, 1]]}),
        added(2, 1, (3, 2), (3, 0)),
        Event(3, "unblocked", None, {"cells": [[0, 1], [1, 2]]}),
        Event(4, "ordered", 1, {"goal": [0, 2]}),
        Event(4, "removed", 0),
    ]
    return make_trace(Grid.from_text("....\n....\n.@.."), moves, events, {"algorithm": "bmaa", "seed": 3})


def random_walk(seed: int, ticks: int, agents: int) -> Trace:
    """Agents that wander and ignore each other; some enter late, some leave or jump, goals and walls change."""
    rng = np.random.default_rng(seed)
    grid = Grid(rng.random((12, 17)) > 0.1)
    free = grid.free_cells()
    moves = np.full((ticks, agents), ABSENT, dtype=np.uint8)
    events = []
    entries = np.sort(rng.integers(0, ticks // 2, agents) * rng.integers(0, 2, agents)).tolist()
    for agent, enters in enumerate(entries):
        leaves = int(rng.integers(enters, ticks)) if agent % 4 == 0 else ticks
        start, goal = (grid.xy(int(cell)) for cell in rng.choice(free, 2))
        events.append(added(enters, agent, start, goal))
        x, y = start
        for tick in range(enters, leaves):
            if rng.random() < 0.02:
                there = grid.xy(int(rng.choice(free)))
                events.append(Event(tick, "teleported", agent, {"at": [x, y], "to": list(there)}))
                x, y = there
            code = int(rng.integers(0, 9))
            x1, y1 = (x, y) if code == WAIT else (x + DX[code - 1], y + DY[code - 1])
            if not (0 <= x1 < grid.width and 0 <= y1 < grid.height):
                code, x1, y1 = WAIT, x, y
            moves[tick, agent], x, y = code, x1, y1
    for _ in range(20):
        tick, agent = int(rng.integers(0, ticks + 1)), int(rng.integers(0, agents))
        events.append(Event(tick, "ordered", agent, {"goal": list(grid.xy(int(rng.choice(free))))}))
        kind = ("blocked", "unblocked")[int(rng.integers(0, 2))]
        cells = [list(grid.xy(int(cell))) for cell in rng.integers(0, grid.size, 3)]
        events.append(Event(tick, kind, None, {"cells": cells}))
    return make_trace(grid, moves, sorted(events, key=lambda event: event.tick))


def test_the_page_stands_alone(eventful: Trace, tmp_path: Path) -> None:
    write_replay(eventful, tmp_path / "run.html")
    assert [path.name for path in tmp_path.iterdir()] == ["run.html"]
    page = Page(tmp_path / "run.html")
    assert not re.search(r"https?://|src=|@import|url\(", page.source)
    assert [attrs["href"] for _, attrs in page.tags if "href" in attrs] == ["data:,"]
    policies = [attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert [(policy or "").startswith("default-src 'none';") for policy in policies] == [True]


def test_every_button_has_a_name(eventful: Trace, tmp_path: Path) -> None:
    write_replay(eventful, tmp_path / "run.html")
    buttons = re.findall(r"<button([^>]*)>(.*?)</button>", (tmp_path / "run.html").read_text(encoding="utf-8"), re.S)
    assert len(buttons) > 10
    for attributes, inside in buttons:
        assert "aria-label=" in attributes or re.sub(r"<[^>]*>", "", inside).strip()


def test_the_page_carries_the_trace_as_it_is_saved(eventful: Trace, tmp_path: Path) -> None:
    write_replay(eventful, str(tmp_path / "run.html"))
    eventful.save(tmp_path / "run.wend")
    assert base64.b64decode(Page(tmp_path / "run.html").data) == (tmp_path / "run.wend").read_bytes()


def test_a_page_without_a_run_carries_none(tmp_path: Path) -> None:
    write_replay(None, tmp_path / "empty.html")
    assert Page(tmp_path / "empty.html").data.strip() == ""


def test_nothing_in_meta_can_break_the_page(eventful: Trace, tmp_path: Path, run_script: RunScript) -> None:
    write_replay(eventful, tmp_path / "plain.html")
    eventful.meta = {"map": NASTY, NASTY: [NASTY], "violations": [NASTY], "ratio": float("nan"), "limit": None, "n": 2}
    write_replay(eventful, tmp_path / "nasty.html")
    plain, nasty = Page(tmp_path / "plain.html"), Page(tmp_path / "nasty.html")
    assert nasty.tags == plain.tags
    content = run_script(META_HARNESS, nasty.data)
    assert content["violations"] == [NASTY]
    assert {name: value for name, value in content["meta"].items() if name != NASTY} == {"map": NASTY, "n": "2"}
    assert json.loads(content["meta"][NASTY]) == [NASTY]


def test_meta_of_a_foreign_trace_may_hold_anything(eventful: Trace, tmp_path: Path, run_script: RunScript) -> None:
    eventful.meta = {"violations": "none", "algorithm": {"name": "x"}, "where": Path("a")}
    write_replay(eventful, tmp_path / "run.html")
    content = run_script(META_HARNESS, Page(tmp_path / "run.html").data)
    assert content["violations"] == []
    assert content["meta"] == {"violations": "none", "algorithm": '{"name":"x"}', "where": "a"}


def test_a_page_that_cannot_be_written_leaves_the_old_one(
    eventful: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.html"
    path.write_text("old")

    def disk_full(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", disk_full)
    with pytest.raises(OSError, match="No space"):
        write_replay(eventful, path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]


def test_the_page_itself_is_light() -> None:
    assert len(replay_page().encode()) < 120_000


def test_a_large_run_stays_small(tmp_path: Path) -> None:
    ticks, agents = 500, 500
    rng = np.random.default_rng(0)
    moves = rng.integers(0, 9, (ticks, agents))     # the worst case: nothing to compress but the range
    events = [added(0, agent, (0, 0), (1, 1)) for agent in range(agents)]
    write_replay(make_trace(Grid(np.ones((512, 512))), moves, events), tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size < 0.7 * ticks * agents + 150_000


# --- the script's modules, where Node can run them ------------------------------------------------------------------

READING = """
import { Recording, survey } from "./recording.js";
import { readTrace } from "./trace.js";
const given = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const readRun = async (data) => new Recording(await readTrace(Uint8Array.from(Buffer.from(data, "base64"))));
"""

META_HARNESS = READING + """
readRun(given).then(({ meta, violations }) => console.log(JSON.stringify({ meta, violations })));
"""

HARNESS = READING + """
import { Moment } from "./moment.js";
const { data, ticks } = given;
readRun(data).then((recording) => {
  const { counts, checkpoints } = survey(recording);
  const moment = new Moment(recording, checkpoints);
  const seen = ticks.map((tick) => {
    moment.seek(tick, 0);
    const waited = Array.from({ length: recording.agents }, (_, agent) => recording.waited(agent, tick));
    return {
      cells: [...moment.cell], goals: [...moment.goal], blocked: [...moment.blocked], waited,
      counts: counts.map((count) => count[tick]), states: [...moment.state],
    };
  });
  console.log(JSON.stringify(seen));
});
"""

PLAYER_HARNESS = """
import { Player } from "./player.js";
const player = new Player(100, () => {});
const log = [];
const note = () => log.push([player.state, player.time]);
const acts = [
  () => player.toggle(), () => player.advance(1.1), () => player.toggle(), () => player.step(10), () => player.step(-1),
  () => player.toggle(), () => player.seek(50), () => player.step(1), () => player.seek(Infinity),
  () => player.advance(1), () => player.toggle(), () => player.advance(1000), () => player.step(-10),
  () => player.step(-1000),
];
for (const act of acts) { act(); note(); }
console.log(JSON.stringify(log));
"""


def goals_and_walls(trace: Trace, tick: int) -> tuple[list[int], list[int]]:
    """All goals, and the map, after the events up to a tick; for agents yet to come, the goal that they will bring."""
    grid = trace.grid
    goal = {event.agent: event.data["goal"] for event in trace.events_of("added")}
    blocked = ~grid.passable.copy()
    for event in trace.events:
        if event.tick > tick:
            continue
        if event.kind == "ordered":
            goal[event.agent] = event.data["goal"]
        for x, y in event.data.get("cells", []):
            blocked[y, x] = event.kind == "blocked"
    return [grid.cell(*goal[agent]) for agent in range(trace.agents)], blocked.ravel().astype(int).tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_script_shows_every_tick_as_the_trace_has_it(
    run_script: RunScript, seed: int, tmp_path: Path
) -> None:
    trace = random_walk(seed, ticks=200, agents=15)
    write_replay(trace, tmp_path / "run.html")
    ticks = [0, 200, *np.random.default_rng(seed).integers(0, 201, 60).tolist(), *range(60, 70), 0]
    seen = run_script(HARNESS, {"data": Page(tmp_path / "run.html").data, "ticks": ticks})
    positions = trace.positions()
    at_goal = np.array([positions[tick] == goals_and_walls(trace, tick)[0] for tick in range(trace.ticks + 1)])
    for tick, shown in zip(ticks, seen, strict=True):
        goals, blocked = goals_and_walls(trace, tick)
        assert [max(cell, NO_CELL) for cell in shown["cells"]] == positions[tick].tolist()
        present = positions[tick] >= 0
        assert np.array(shown["goals"])[present].tolist() == np.array(goals)[present].tolist()
        assert shown["blocked"] == blocked
        assert shown["counts"] == [shown["states"].count(state) for state in range(3)]
        assert shown["counts"][2] == at_goal[tick].sum()
        assert sum(shown["counts"]) == present.sum()
        still = (positions[:tick] >= 0) & ((trace.moves[:tick] == WAIT) | (trace.moves[:tick] == ABSENT))
        assert shown["waited"] == (still & ~at_goal[:tick]).sum(axis=0).tolist()


def test_an_order_counts_from_its_tick_on(run_script: RunScript, eventful: Trace, tmp_path: Path) -> None:
    write_replay(eventful, tmp_path / "run.html")
    seen = run_script(HARNESS, {"data": Page(tmp_path / "run.html").data, "ticks": [3, 4, 5]})
    moving, waiting, home, gone = range(4)
    assert [shown["states"] for shown in seen] == [[moving, moving], [home, waiting], [gone, waiting]]
    assert [shown["counts"] for shown in seen] == [[2, 0, 0], [0, 1, 1], [0, 1, 0]]


def test_the_script_finds_an_agent_again_that_was_led_off_the_map(run_script: RunScript, tmp_path: Path) -> None:
    trace = make_trace(Grid.from_text("..\n.."), [[N], [S], [ABSENT]], [added(0, 0, (1, 0), (0, 1))])
    write_replay(trace, tmp_path / "run.html")
    seen = run_script(HARNESS, {"data": Page(tmp_path / "run.html").data, "ticks": [0, 1, 2, 3]})
    assert trace.positions().ravel().tolist() == [1, OFF_MAP, 1, NO_CELL]
    assert [shown["cells"][0] for shown in seen[::2]] == [1, 1]
    assert [shown["states"][0] for shown in seen] == [0, 0, 1, 3]


def test_the_player_is_the_state_machine_that_it_declares(run_script: RunScript) -> None:
    assert run_script(PLAYER_HARNESS, None) == [
        ["playing", 0], ["playing", 5.5], ["paused", 6], ["paused", 16], ["paused", 15],
        ["playing", 15], ["playing", 50], ["paused", 51], ["ended", 100], ["ended", 100],
        ["playing", 0], ["ended", 100], ["paused", 90], ["paused", 0],
    ]  # fmt: skip


WAYPOINT_HARNESS = READING + """
const { data, ticks } = given;
readRun(data).then((recording) => {
  console.log(JSON.stringify(ticks.map((tick) => recording.waypoints(0, tick))));
});
"""


def test_the_script_knows_which_waypoints_are_still_to_come(run_script: RunScript, tmp_path: Path) -> None:
    """An agent walks east, past two waypoints; in tick 20 it is given others, and in tick 22 none."""
    events = [
        added(0, 0, (0, 0), (39, 0)),
        Event(0, "routed", 0, {"waypoints": [[1, 0]]}),
        Event(0, "routed", 0, {"waypoints": [[12, 0], [24, 0], [36, 0]]}),      # of one tick, the last counts
        Event(20, "routed", 0, {"waypoints": [[30, 0]]}),
        Event(22, "routed", 0, {"waypoints": []}),
    ]
    write_replay(make_trace(Grid(np.ones((1, 40))), [[E]] * 25, events), tmp_path / "run.html")
    given = {"data": Page(tmp_path / "run.html").data, "ticks": [0, 8, 9, 19, 20, 22, 25]}
    seen = run_script(WAYPOINT_HARNESS, given)
    assert seen == [[12, 24, 36], [12, 24, 36], [24, 36], [24, 36], [30], [], []]


ACCUSED_HARNESS = """
import { accusedIn } from "./recording.js";
console.log(JSON.stringify([...accusedIn(JSON.parse(require("node:fs").readFileSync(0, "utf8")))]));
"""


def test_the_script_knows_who_makes_an_illegal_move_in_a_tick(run_script: RunScript) -> None:
    lines = [
        "tick 1: swap of agent 0 and 12 at (1, 0)",
        "tick 1: wall of agent 3 at (0, 0)",
        "tick 4: off-map of agent 5 off the map",
        "tick 0: agent 7 is at (0, 0), its start is (1, 1)",
        "something else",
    ]
    assert run_script(ACCUSED_HARNESS, lines) == [[1, [0, 12, 3]], [4, [5]], [0, [7]]]


SPREAD_HARNESS = READING + """
import { spreadName } from "./page.js";
readRun(given).then(({ spread, spreadPeak }) => {
  console.log(JSON.stringify([[...spread], [...spread].map(spreadName), spreadPeak]));
});
"""


def test_the_page_shows_how_far_the_group_is_spread(run_script: RunScript, tmp_path: Path) -> None:
    """Two agents that walk apart, and are a group from tick 1 on."""
    events = [
        added(0, 0, (4, 0), (4, 2)),
        added(0, 1, (4, 0), (9, 0)),
        Event(1, "group", None, {"agents": [0, 1], "target": [9, 0], "mode": "move"}),
    ]
    write_replay(make_trace(Grid(np.ones((5, 10))), [[WAIT, E]] * 3, events), tmp_path / "run.html")
    page = Page(tmp_path / "run.html")
    assert {"spread", "spread-key", "spread-peak", "spread-caption"} <= {attrs.get("id") for _, attrs in page.tags}
    assert run_script(SPREAD_HARNESS, page.data) == [[None, 0.5, 1, 1.5], ["\u2013", "0.5", "1.0", "1.5"], 1.5]


WAIT_HARNESS = READING + """
import { Moment } from "./moment.js";
const { data, ticks } = given;
readRun(data).then((recording) => {
  const moment = new Moment(recording, survey(recording).checkpoints);
  console.log(JSON.stringify(ticks.map((tick) => {
    moment.seek(tick, 0);
    return [0, 1, 2].map((agent) => [moment.wait(agent), moment.waitsFor(agent)]);
  })));
});
"""


def test_the_page_knows_whom_an_agent_waits_for_and_why(run_script: RunScript, tmp_path: Path) -> None:
    """Agent 0 waits for 1, which waits for 2, until 2 moves; then 0 and 1 wait for each other, 2 for nobody."""
    moves = [[WAIT, WAIT, WAIT], [WAIT, WAIT, E], [WAIT, WAIT, WAIT], [E, WAIT, WAIT]]
    trace = make_trace(Grid(np.ones((1, 9))), moves, [added(0, k, (2 * k, 0), (8, 0)) for k in range(3)])
    trace.reasons = ["in its way", NASTY]
    trace.waits = np.array([[0, 0, 1, 0], [0, 1, 2, 0], [0, 2, -1, 1], [2, 1, 0, 0], [2, 2, -1, 0]], np.int32)
    write_replay(trace, tmp_path / "run.html")
    data = Page(tmp_path / "run.html").data
    seen = run_script(WAIT_HARNESS, {"data": data, "ticks": [0, 1, 2, 3, 4]})
    chains = [[waits_for for _, waits_for in shown] for shown in seen]
    assert chains == [[[1, 2], [2], []], [[1, 2], [2], []], [[1, 0], [0, 1], []], [[], [0], []], [[], [0], []]]
    told = [[wait and wait["waitsFor"] for wait, _ in shown] for shown in seen]
    assert told == [[1, 2, -1], [1, 2, None], [1, 0, -1], [None, 0, -1], [None, 0, -1]]
    for tick, shown in enumerate(seen[:4]):
        for agent, (wait, _) in enumerate(shown):
            expected = trace.wait(agent, tick)
            assert (wait is None) == (expected is None)
            if expected is not None:
                assert wait["waitsFor"] == (-1 if expected.waits_for is None else expected.waits_for)


FLAG_HARNESS = READING + """
import { Moment } from "./moment.js";
const { data, ticks } = given;
readRun(data).then((recording) => {
  const moment = new Moment(recording, survey(recording).checkpoints);
  console.log(JSON.stringify(ticks.map((tick) => {
    moment.seek(tick, 0);
    return [[...moment.flags], [...moment.leader]];
  })));
});
"""


def test_the_page_knows_who_is_pinned_follows_or_is_moved_by_the_program(
    run_script: RunScript, tmp_path: Path
) -> None:
    events = [
        Event(0, "added", 0, {"at": [0, 0], "goal": [8, 0], "controlled": True, "pinned": False}),
        Event(0, "added", 1, {"at": [2, 0], "goal": [2, 0], "controlled": False, "pinned": True}),
        Event(1, "followed", 0, {"other": 1}),
        Event(2, "pinned", 0, {"pinned": True}),
        Event(3, "followed", 0, {"other": None}),
        Event(3, "pinned", 1, {"pinned": False}),
    ]
    write_replay(make_trace(Grid(np.ones((1, 9))), [[WAIT, WAIT]] * 4, events), tmp_path / "run.html")
    seen = run_script(FLAG_HARNESS, {"data": Page(tmp_path / "run.html").data, "ticks": [0, 1, 2, 3, 4, 2, 0]})
    follows, pinned, uncontrolled = 1, 2, 4
    by_tick = [
        [[0, pinned | uncontrolled], [-1, -1]],
        [[follows, pinned | uncontrolled], [1, -1]],
        [[follows | pinned, pinned | uncontrolled], [1, -1]],
        [[pinned, uncontrolled], [-1, -1]],
    ]
    assert seen == [by_tick[tick] for tick in (0, 1, 2, 3, 3, 2, 0)]


EVENTS_HARNESS = READING + """
import { itemsOf } from "./events.js";
readRun(given).then((recording) => {
  const items = itemsOf(recording).map((item) => ({ ...item, text: item.text() }));
  console.log(JSON.stringify(items.map(({ tick, title, agents, text }) => [tick, title, agents, text])));
});
"""


def test_everything_that_happened_is_listed_by_tick(run_script: RunScript, tmp_path: Path) -> None:
    events = [
        Event(0, "added", 0, {"at": [0, 0], "goal": [1, 0], "asked": [1, 0], "controlled": True, "pinned": False}),
        Event(0, "added", 1, {"at": [3, 0], "goal": [2, 0], "asked": [1, 0], "controlled": False, "pinned": True}),
        Event(2, "group", None, {"agents": [0, 1], "target": [4, 0], "mode": "move"}),
        Event(2, "blocked", None, {"cells": [[x, 0] for x in range(5, 9)]}),
        Event(3, "followed", 0, {"other": None}),
        Event(3, "planner", None, {"algorithm": "surge", "parameters": {"spread": 16}, "reason": "none arrived"}),
        Event(3, "dreamt", 1, {"of": {"sheep": 2}, "cells": []}),
    ]
    meta = {"violations": ["no tick at all", "tick 3: swap of agent 0 and 1 at (1, 0)"]}
    write_replay(make_trace(Grid(np.ones((1, 9))), [[WAIT, WAIT]] * 4, events, meta), tmp_path / "run.html")
    assert run_script(EVENTS_HARNESS, Page(tmp_path / "run.html").data) == [
        [0, "added, agent 0", [0], "at (0, 0), goal (1, 0)"],
        [0, "added, agent 1", [1], "at (3, 0), goal (2, 0), asked (1, 0), controlled false, pinned true"],
        [2, "group", [0, 1], "2 agents, target (4, 0), mode move"],
        [2, "blocked", [], "4 cells"],
        [3, "followed, agent 0", [0], "other none"],
        [3, "planner", [], "surge: none arrived"],
        [3, "dreamt, agent 1", [1], 'of {"sheep":2}, cells none'],
        [3, "violation", [0, 1], "swap of agent 0 and 1 at (1, 0)"],
        [None, "violation", [], "no tick at all"],
    ]
