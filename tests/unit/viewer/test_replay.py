"""The replay page: what it carries, that nothing in a trace can break it, and that its script reads it correctly."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY
from wend.rules import OFF_MAP
from wend.viewer.replay import write_replay
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
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.text["data"])
        return content

    def array(self, name: str, dtype: str, *shape: int) -> NDArray[Any]:
        return np.frombuffer(zlib.decompress(base64.b64decode(self.content[name])), dtype=dtype).reshape(shape)


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


def test_the_run_can_be_read_back(eventful: Trace, tmp_path: Path) -> None:
    write_replay(eventful, str(tmp_path / "run.html"))
    page = Page(tmp_path / "run.html")
    content = page.content
    assert (content["width"], content["height"], content["ticks"], content["agents"]) == (4, 3, 5, 2)
    bits = np.unpackbits(page.array("blocked", "u1", -1), count=12).reshape(3, 4)
    assert (bits == ~eventful.grid.passable).all()
    assert (eventful.moves == page.array("moves", "u1", 2, 5).T).all()
    assert page.array("added", "<i4", 2, 3).tolist() == [[0, 0, 6], [2, 11, 3]]
    assert page.array("orders", "<i4", -1, 3).tolist() == [[4, 1, 8]]
    assert page.array("jumps", "<i4", -1, 3).tolist() == []
    assert page.array("edits", "<i4", -1, 3).tolist() == [[1, 0, 1], [1, 4, 1], [3, 4, 0], [3, 9, 0]]
    assert content["meta"] == {"algorithm": "bmaa", "seed": "3"}


def test_events_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    events = [
        Event(2, "ordered", 0, {"goal": [1, 0]}),
        Event(1, "ordered", 0, {"goal": [0, 0]}),
        added(0, 0, (0, 0), (1, 0)),
    ]
    write_replay(make_trace(Grid.from_text(".."), [[WAIT], [WAIT]], events), tmp_path / "run.html")
    assert Page(tmp_path / "run.html").array("orders", "<i4", -1, 3).tolist() == [[1, 0, 0], [2, 0, 1]]


def test_nothing_in_meta_can_break_the_page(eventful: Trace, tmp_path: Path) -> None:
    write_replay(eventful, tmp_path / "plain.html")
    eventful.meta = {"map": NASTY, NASTY: [NASTY], "violations": [NASTY], "ratio": float("nan"), "limit": None, "n": 2}
    write_replay(eventful, tmp_path / "nasty.html")
    plain, nasty = Page(tmp_path / "plain.html"), Page(tmp_path / "nasty.html")
    assert nasty.tags == plain.tags
    content = nasty.content
    assert content["violations"] == [NASTY]
    assert content["meta"] == {"map": NASTY, NASTY: json.dumps([NASTY], ensure_ascii=False), "ratio": "NaN", "n": "2"}


def test_meta_of_a_foreign_trace_may_hold_anything(eventful: Trace, tmp_path: Path) -> None:
    eventful.meta = {"violations": "none", "algorithm": {"name": "x"}, "where": Path("a")}
    write_replay(eventful, tmp_path / "run.html")
    content = Page(tmp_path / "run.html").content
    assert content["violations"] == []
    assert content["meta"] == {"violations": "none", "algorithm": '{"name": "x"}', "where": '"a"'}


def test_an_empty_trace_gives_a_page(tmp_path: Path) -> None:
    write_replay(make_trace(Grid.from_text("."), np.zeros((0, 0)), []), tmp_path / "run.html")
    page = Page(tmp_path / "run.html")
    assert (page.content["ticks"], page.content["agents"]) == (0, 0)
    assert [page.array(name, "u1", -1).size for name in ("moves", "added", "orders", "edits", "spread")] == [0] * 5


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


def test_a_large_run_stays_small(tmp_path: Path) -> None:
    ticks, agents = 500, 500
    rng = np.random.default_rng(0)
    moves = rng.integers(0, 9, (ticks, agents))     # the worst case: nothing to compress but the range
    events = [added(0, agent, (0, 0), (1, 1)) for agent in range(agents)]
    write_replay(make_trace(Grid(np.ones((512, 512))), moves, events), tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size < 0.65 * ticks * agents + 100_000


# --- the script's modules, where Node can run them ------------------------------------------------------------------

HARNESS = """
import { Moment } from "./moment.js";
import { Recording, survey } from "./recording.js";
const { data, ticks } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
Recording.read(data).then((recording) => {
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
    seen = run_script(HARNESS, {"data": Page(tmp_path / "run.html").text["data"], "ticks": ticks})
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
    seen = run_script(HARNESS, {"data": Page(tmp_path / "run.html").text["data"], "ticks": [3, 4, 5]})
    moving, waiting, home, gone = range(4)
    assert [shown["states"] for shown in seen] == [[moving, moving], [home, waiting], [gone, waiting]]
    assert [shown["counts"] for shown in seen] == [[2, 0, 0], [0, 1, 1], [0, 1, 0]]


def test_the_script_finds_an_agent_again_that_was_led_off_the_map(run_script: RunScript, tmp_path: Path) -> None:
    trace = make_trace(Grid.from_text("..\n.."), [[N], [S], [ABSENT]], [added(0, 0, (1, 0), (0, 1))])
    write_replay(trace, tmp_path / "run.html")
    seen = run_script(HARNESS, {"data": Page(tmp_path / "run.html").text["data"], "ticks": [0, 1, 2, 3]})
    assert trace.positions().ravel().tolist() == [1, OFF_MAP, 1, NO_CELL]
    assert [shown["cells"][0] for shown in seen[::2]] == [1, 1]
    assert [shown["states"][0] for shown in seen] == [0, 0, 1, 3]


def test_the_player_is_the_state_machine_that_it_declares(run_script: RunScript) -> None:
    assert run_script(PLAYER_HARNESS, None) == [
        ["playing", 0], ["playing", 5.5], ["paused", 6], ["paused", 16], ["paused", 15],
        ["playing", 15], ["playing", 50], ["paused", 51], ["ended", 100], ["ended", 100],
        ["playing", 0], ["ended", 100], ["paused", 90], ["paused", 0],
    ]  # fmt: skip


WAYPOINT_HARNESS = """
import { Recording } from "./recording.js";
const { data, ticks } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
Recording.read(data).then((recording) => {
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
    given = {"data": Page(tmp_path / "run.html").text["data"], "ticks": [0, 8, 9, 19, 20, 22, 25]}
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


SPREAD_HARNESS = """
import { spreadName } from "./page.js";
import { Recording } from "./recording.js";
const { data } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
Recording.read(data).then((recording) => {
  console.log(JSON.stringify([[...recording.spread].map(spreadName), recording.spreadPeak]));
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
    assert np.isnan(page.array("spread", "<f4", 4)[0])
    assert page.array("spread", "<f4", 4)[1:].tolist() == [0.5, 1, 1.5]
    assert {"spread", "spread-key", "spread-peak", "spread-caption"} <= {attrs.get("id") for _, attrs in page.tags}
    assert run_script(SPREAD_HARNESS, {"data": page.text["data"]}) == [["\u2013", "0.5", "1.0", "1.5"], 1.5]


WAIT_HARNESS = """
import { Moment } from "./moment.js";
import { Recording, survey } from "./recording.js";
const { data, ticks } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
Recording.read(data).then((recording) => {
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
    data = Page(tmp_path / "run.html").text["data"]
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
