"""The live page without a browser: its weight, and the modules that read frames, keep units and find jams."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import pytest

from wend.theme import stylesheet
from wend.viewer.assets import join, static

RunScript = Callable[[str, Any], Any]

MOVING, WAITING, HOME, STUCK, GONE = range(5)
MAP, FULL, MOVES, OVERLAY, CELLS = range(1, 6)
N, E, S, W, NE = range(1, 6)        # codes of moves


def test_the_page_weighs_less_than_200_kb() -> None:
    styles = re.findall(r'<link rel="stylesheet" href="(\w+\.css)">', static("play.html"))
    weights = [len(static("play.html")), len(join("play"))]
    weights += [len(stylesheet() if name == "theme.css" else static(name)) for name in styles]
    assert len(styles) == 3
    assert sum(weights) < 200_000


def test_the_page_obeys_a_strict_policy() -> None:
    """Nothing in it is inline, and nothing comes from elsewhere."""
    page = static("play.html")
    assert re.findall(r"<script[^>]*>", page) == ['<script type="module" src="play.js">']
    assert not re.search(r'<style|\sstyle=|\son\w+=|(?:src|href)="(?!data:,|\w+\.)', page)
    assert not re.search(r"\beval\b|new Function|fetch\(|https?:/|innerHTML|setAttribute", join("play"))


def frame(kind: int, body: bytes, *, count: int, tick: int = 0, extra: int = 0, pane: int = 0) -> str:
    """A frame as hexadecimal digits, by what docs/formats/live.md says."""
    return (struct.pack("<BBHIIII", kind, pane, 7, 9, tick, count, extra) + body).hex()


def units(*rows: tuple[int, int, int, int, int]) -> bytes:
    return b"".join(struct.pack("<HHBBH", *row) for row in rows)


HARNESS = """
import { readFrame } from "./frames.js";
import { Units } from "./units.js";
const given = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16)).buffer;
const units = new Units();
const shown = given.map((digits) => {
  let frame;
  try {
    frame = readFrame(bytes(digits));
  } catch (error) {
    return error.message;
  }
  const fits = frame.kind === 2 ? (units.replace(frame), true) : units.advance(frame);
  const numbers = [...Array(units.count).keys()];
  return {
    fits,
    tick: units.tick,
    cells: numbers.map((unit) => units.cell(unit)),
    states: numbers.map((unit) => units.state(unit)),
    since: [...units.since],
    half: numbers.map((unit) => units.middle(unit, 0.5)),
  };
});
console.log(JSON.stringify(shown));
"""


def test_units_follow_the_frames(run_script: RunScript) -> None:
    """A full frame, two ticks of moves, one that does not follow, and a full frame three ticks later."""
    start = units((5, 5, 0, MOVING, 0), (2, 3, 0, WAITING, 4), (9, 9, 0, HOME, 0))
    change = struct.pack("<IB3x", 1, MOVING | 16)
    late = units((9, 8, 0, HOME, 0), (30, 3, 0, STUCK, 4), (9, 9, 0, GONE, 0))
    seen = run_script(
        HARNESS,
        [
            frame(FULL, start, count=3, tick=10),
            frame(MOVES, bytes([E | N << 4, 0]) + change, count=3, tick=11, extra=1),
            frame(MOVES, bytes([NE, 0]), count=3, tick=12),
            frame(MOVES, bytes([E, 0]), count=3, tick=14),
            frame(FULL, late, count=3, tick=15),
        ],
    )
    assert [shown["fits"] for shown in seen] == [True, True, True, False, True]
    assert [shown["tick"] for shown in seen] == [10, 11, 12, 12, 15]
    assert [shown["cells"][0] for shown in seen] == [[5, 5], [6, 5], [7, 4], [7, 4], [9, 8]]
    assert [shown["cells"][1] for shown in seen] == [[2, 3], [2, 2], [2, 2], [2, 2], [30, 3]]
    assert [shown["states"][1] for shown in seen] == [WAITING, MOVING, MOVING, MOVING, STUCK]
    assert [shown["since"][1] for shown in seen] == [10, 11, 11, 11, 15]
    assert seen[0]["half"][0] == [5.5, 5.5]                         # nothing glides into the first frame
    assert seen[1]["half"][0] == [6, 5.5]
    assert seen[2]["half"][0] == [7, 5]
    assert seen[4]["half"][:2] == [[8.5, 6.5], [30.5, 3.5]]         # the second has come too far to glide


def test_units_that_are_added_come_at_the_end(run_script: RunScript) -> None:
    first, second = units((1, 1, 0, HOME, 0)), units((1, 1, 0, MOVING, 0), (4, 4, 0, HOME, 0))
    seen = run_script(HARNESS, [frame(FULL, first, count=1, tick=3), frame(FULL, second, count=2, tick=5)])
    assert seen[1]["cells"] == [[1, 1], [4, 4]]
    assert seen[1]["since"] == [5, 5]


@pytest.mark.parametrize(
    ("digits", "reason"),
    [
        ("", "a frame of 0 bytes has no header"),
        (frame(FULL, b"", count=1), "a frame of kind 2 with 0 bytes instead of 8"),
        (frame(MOVES, b"\0", count=2, extra=1), "a frame of kind 3 with 1 bytes instead of 9"),
        (frame(99, b"", count=0), "a frame of the unknown kind 99"),
    ],
)
def test_a_broken_frame_is_named(run_script: RunScript, digits: str, reason: str) -> None:
    assert run_script(HARNESS, [digits]) == [reason]


JAM_HARNESS = """
import { readFrame } from "./frames.js";
import { findJam } from "./jam.js";
import { Units } from "./units.js";
const given = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const units = new Units();
units.replace(readFrame(Uint8Array.from(given.match(/../g), (pair) => parseInt(pair, 16)).buffer));
console.log(JSON.stringify(findJam(units)));
"""


def test_the_jam_is_where_most_units_stand(run_script: RunScript) -> None:
    rows = [(x, y, 0, WAITING, 0) for x in (20, 21, 22) for y in (10, 11, 12)]      # nine that wait
    rows += [(x, 3, 0, HOME, 0) for x in range(20)]                                 # more that are home
    rows += [(35, 25, 0, STUCK, 0), (1, 25, 0, WAITING, 0)]
    jam = run_script(JAM_HARNESS, frame(FULL, units(*rows), count=len(rows), tick=8))
    assert jam["units"] == 9
    assert abs(jam["cell"][0] - 21) <= 1
    assert abs(jam["cell"][1] - 11) <= 1


def test_two_units_that_wait_are_no_jam(run_script: RunScript) -> None:
    rows = [(5, 5, 0, WAITING, 0), (6, 5, 0, WAITING, 0), (30, 20, 0, WAITING, 0)]
    assert run_script(JAM_HARNESS, frame(FULL, units(*rows), count=3)) is None


MENU_HARNESS = """
import { mapText, parseMap } from "./menu.js";
import { line } from "./tools.js";
import { costOf } from "./curves.js";
const parameters = [{ name: "seed", value: 0 }, { name: "blocked", value: 0.2 }];
console.log(JSON.stringify([
  parseMap("random:seed=3,blocked=0.4"),
  parseMap("given"),
  mapText("random", parameters, { seed: 3, blocked: 0.2 }),
  mapText("random", parameters, { seed: 0, blocked: 0.2 }),
  line([0, 0], [4, 2]),
  line([3, 3], [3, 3]),
  costOf(7, [{ tick_ms: 1.234, expansions: 1500 }], ["A"]),
  costOf(7, [{ tick_ms: 1.234, expansions: 1500 }, { tick_ms: 20, expansions: 3 }], ["A", "B"]),
]));
"""


def test_maps_lines_and_costs_in_words(run_script: RunScript) -> None:
    assert run_script(MENU_HARNESS, None) == [
        {"name": "random", "set": {"seed": 3, "blocked": 0.4}},
        {"name": "given", "set": {}},
        "random:seed=3",
        "random:",
        [[0, 0], [1, 1], [2, 1], [3, 2], [4, 2]],
        [[3, 3]],
        "Tick 7 cost 1.2 ms and 1,500 expansions.",
        "Tick 7 cost A 1.2 ms and 1,500 expansions, B 20.0 ms and 3 expansions.",
    ]


LINK_HARNESS = """
import { Link } from "./link.js";
const told = [];
const sockets = [];
globalThis.location = { href: "http://localhost:9/?token=T", search: "?token=T", protocol: "http:" };
globalThis.WebSocket = class {
  static OPEN = 1;
  readyState = 1;
  constructor(address) { sockets.push(this); this.address = String(address); this.sent = []; }
  send(text) { this.sent.push(JSON.parse(text).type); }
};
const link = new Link({ linkChanged: (state, seconds) => told.push([state, seconds]), heard() {}, framed() {} });
const waits = [];
globalThis.setTimeout = (_, milliseconds) => waits.push(milliseconds);
const early = link.send({ type: "pause" });
link.connect();
sockets[0].onopen();
sockets[0].onmessage({ data: '{"type": "welcome"}' });
link.send({ type: "pause" });
sockets[0].onclose({ code: 1006, reason: "" });
link.connect();
sockets[1].onclose({ code: 1006, reason: "" });
link.connect();
sockets[2].onopen();
sockets[2].onclose({ code: 1008, reason: "the token is wrong" });
console.log(JSON.stringify([told, waits, early, sockets[0].sent, sockets[0].address]));
"""


def test_the_link_is_the_state_machine_that_it_declares(run_script: RunScript) -> None:
    told, waits, early, sent, address = run_script(LINK_HARNESS, None)
    assert told == [
        ["connecting", 0], ["greeting", 0], ["open", 0], ["waiting", 0.5], ["connecting", 0], ["waiting", 1],
        ["connecting", 0], ["greeting", 0], ["refused", 0],
    ]  # fmt: skip
    assert waits == [500, 1000]         # it waits longer every time, and does not knock at a door that was closed
    assert early is False
    assert sent == ["hello", "pause"]
    assert address == "ws://localhost:9/live?token=T"
