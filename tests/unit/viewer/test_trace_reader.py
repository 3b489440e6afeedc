"""The page's own reader of traces, in Node: what Python writes is read byte for byte, and bad files are refused."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wend.errors import FormatError
from wend.maps.grid import Grid
from wend.world.trace import Event, Trace
from wend.world.world import World

RunScript = Callable[[str, Any], Any]

DOCS = Path(__file__).parents[3] / "docs" / "formats" / "trace.md"

HARNESS = """
import { readTrace } from "./trace.js";
import { FileError } from "./archive.js";
const { files } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const bytesOf = ({ buffer, byteOffset, byteLength }) =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");
async function answer(file) {
  try {
    const trace = await readTrace(Uint8Array.from(Buffer.from(file, "base64")));
    for (const name of ["blocked", "moves", "planMs", "expansions", "waits"]) trace[name] = bytesOf(trace[name]);
    return trace;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { refused: error.message };
  }
}
Promise.all(files.map(answer)).then((answers) => console.log(JSON.stringify(answers)));
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    """A run in which everything happens that a trace can tell of."""
    world = World(Grid.from_text("........\n.@@@@@@.\n........\n........"), "lra", record_reasons=True)
    world.add((0, 0), (7, 3))
    world.add((7, 3), (0, 0))
    world.add((3, 3), controlled=False)
    world.add((4, 2), pinned=True)
    world.tick()
    world.block([(1, 0)])
    world.follow(0, 3)
    world.order_group([0, 1], (0, 3))
    world.tick()
    world.unblock([(1, 0)])
    world.teleport(1, (7, 0))
    world.pin(3, False)
    world.add((5, 3), (0, 2))
    for _ in range(3):
        world.tick()
    world.remove(4)
    world.tick()
    trace = world.trace(map="räume", violations=["tick 1: swap of agent 0 and 1 at (1, 1)"], limit=float("inf"))
    trace.waits, trace.reasons = np.array([[0, 0, 1, 0], [2, 1, -1, 1]], np.int32), ["in its way", "no way"]
    return trace


def read(run_script: RunScript, *files: bytes) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = run_script(HARNESS, {"files": [base64.b64encode(f).decode() for f in files]})
    return answers


def test_every_array_is_read_as_python_wrote_it(trace: Trace, run_script: RunScript, tmp_path: Path) -> None:
    trace.save(tmp_path / "run.wend")
    [seen] = read(run_script, (tmp_path / "run.wend").read_bytes())

    def array(name: str, dtype: str, *shape: int) -> Any:
        return np.frombuffer(base64.b64decode(seen[name]), dtype=dtype).reshape(shape)

    grid = trace.grid
    assert (seen["ticks"], seen["agents"], seen["width"], seen["height"]) == (6, 5, grid.width, grid.height)
    assert (seen["connectivity"], seen["corner_cutting"]) == (8, False)
    assert (array("blocked", "u1", grid.height, grid.width) == ~grid.passable).all()
    assert (array("moves", "u1", trace.ticks, trace.agents) == trace.moves).all()
    assert array("planMs", "<f8", trace.ticks).tobytes() == trace.plan_ms.tobytes()
    assert (array("expansions", "<i8", trace.ticks) == trace.expansions).all()
    assert (array("waits", "<i4", 2, 4) == trace.waits).all()
    assert seen["reasons"] == trace.reasons
    assert {event["kind"] for event in seen["events"]} >= {"added", "removed", "teleported", "ordered", "followed"}
    again = Trace.load(tmp_path / "run.wend")
    assert seen["meta"] == again.meta
    expected = [{"tick": e.tick, "kind": e.kind, "agent": e.agent, **e.data} for e in again.events]
    assert [{"agent": None, **event} for event in seen["events"]] == expected


def test_the_bytes_are_those_that_the_docs_describe(run_script: RunScript) -> None:
    """A file made by hand from docs/formats/trace.md alone: Python writes the same, and the page reads the same."""
    events = [
        {"tick": 0, "kind": "added", "agent": 0, "at": [0, 0], "goal": [1, 1]},
        {"tick": 1, "kind": "added", "agent": 1, "at": [2, 1], "goal": [2, 1]},
    ]
    header = {
        "format": "wend-trace", "version": DOCS.read_text().split("version ")[1].split()[0], "ticks": 2, "agents": 2,
        "width": 3, "height": 2, "connectivity": 8, "corner_cutting": False, "waits": 1,
        "meta": {"map": "r\u00e4ume", "limit": "inf"},
    }  # fmt: skip
    by_hand = {
        "header.json": json.dumps(header).encode(),
        "map.txt": b"..@\n...\n",
        "moves.bin": bytes([2, 9, 0, 0]),                       # agent 0 goes east, then waits; agent 1 comes late
        "events.jsonl": "".join(json.dumps(event) + "\n" for event in events).encode(),
        "plan_ms.bin": struct.pack("<2d", 0.5, 1.25),
        "expansions.bin": struct.pack("<2q", 7, 2**40),
        "waits.bin": struct.pack("<4i", 1, 0, -1, 0),
        "reasons.json": json.dumps(["no way"]).encode(),
    }
    trace = Trace(
        Grid.from_text("..@\n..."), np.array([[2, 9], [0, 0]], np.uint8),
        [Event(event.pop("tick"), event.pop("kind"), event.pop("agent"), event) for event in events],
        np.array([0.5, 1.25]), np.array([7, 2**40]), {"map": "r\u00e4ume", "limit": float("inf")},
        waits=np.array([[1, 0, -1, 0]], np.int32), reasons=["no way"],
    )  # fmt: skip
    written = entries_of(trace)
    assert written.keys() == by_hand.keys()
    for name, data in by_hand.items():
        if name.endswith((".bin", ".txt")):
            assert written[name] == data, name
        else:       # the spaces in JSON are free
            lines = [each.splitlines() if name.endswith("l") else [each] for each in (written[name], data)]
            assert [json.loads(line) for line in lines[0]] == [json.loads(line) for line in lines[1]], name
    ours, theirs = read(run_script, trace.to_bytes(), zipped(by_hand))
    assert ours == theirs
    assert base64.b64decode(theirs["expansions"]) == by_hand["expansions.bin"]


def test_entries_that_are_stored_are_read_too(trace: Trace, run_script: RunScript) -> None:
    """As those are that would deflate to so little that they would pass for bombs."""
    packed, stored = read(run_script, trace.to_bytes(), zipped(entries_of(trace), zipfile.ZIP_STORED))
    assert packed == stored
    assert "refused" not in packed


# --- bad files -------------------------------------------------------------------------------------------------------


def entries_of(trace: Trace) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(trace.to_bytes())) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def zipped(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def with_header(trace: Trace, **fields: Any) -> bytes:
    entries = entries_of(trace)
    return zipped({**entries, "header.json": json.dumps({**json.loads(entries["header.json"]), **fields}).encode()})


def with_event(trace: Trace, event: Any) -> bytes:
    entries = entries_of(trace)
    return zipped({**entries, "events.jsonl": entries["events.jsonl"] + json.dumps(event).encode() + b"\n"})


def changed(trace: Trace, name: str, data: bytes | None) -> bytes:
    """The file with another entry in place of one, or without it."""
    entries = {**entries_of(trace), name: b"" if data is None else data}
    if data is None:
        del entries[name]
    return zipped(entries)


def damaged(data: bytes) -> bytes:
    """A bit of the moves is wrong; they are stored, so that the zip itself is as it was."""
    place = data.index(b"moves.bin") + len("moves.bin") + 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


BAD: dict[str, tuple[Callable[[Trace], bytes], str]] = {
    "nothing": (lambda _: b"", "no zip file"),
    "a text": (lambda _: b"agents=2\nsolution=\n" * 9, "no zip file"),
    "half a file": (lambda t: t.to_bytes()[:700], "no zip file"),
    "without its beginning": (lambda t: t.to_bytes()[300:], "damaged"),
    "a wrong bit": (lambda t: damaged(zipped(entries_of(t), zipfile.ZIP_STORED)), "checksum"),
    "another zip": (lambda _: zipped({"a.txt": b"hello"}), "header.json is missing"),
    "another method": (lambda t: zipped(entries_of(t), zipfile.ZIP_BZIP2), "other than deflate"),
    "a bomb": (lambda t: changed(t, "events.jsonl", b" " * (9 * 2**20)), "over the limit"),
    "another format": (lambda t: with_header(t, format="zip"), "wend-trace"),
    "a newer version": (lambda t: with_header(t, version="2.0"), "version 2.0"),
    "no version": (lambda t: with_header(t, version="?"), "version"),
    "a count that is none": (lambda t: with_header(t, agents=-1), "agents is not a whole number"),
    "more agents than moves": (lambda t: with_header(t, agents=9), "moves.bin"),
    "a giant map": (lambda t: with_header(t, width=2**20, height=2**20), "cells"),
    "no meta": (lambda t: with_header(t, meta=[]), "meta"),
    "no JSON": (lambda t: changed(t, "header.json", b"{"), "not valid JSON"),
    "no moves": (lambda t: changed(t, "moves.bin", None), "moves.bin is missing"),
    "short moves": (lambda t: changed(t, "moves.bin", b"\0" * 29), "29 bytes where 30 belong"),
    "an unknown move": (lambda t: changed(t, "moves.bin", b"\x0a" * 30), "unknown code"),
    "no number": (lambda t: changed(t, "plan_ms.bin", b"\xff" * 48), "not a number"),
    "a short map": (lambda t: changed(t, "map.txt", b"........\n"), "1 rows where 4 belong"),
    "a narrow map": (lambda t: changed(t, "map.txt", b".......\n" * 4), "line 1"),
    "a map of letters": (lambda t: changed(t, "map.txt", b".......x\n" * 4), "letters"),
    "no text": (lambda t: changed(t, "events.jsonl", b"\xff\xfe\n"), "UTF-8"),
    "an event of no agent": (lambda t: with_event(t, {"tick": 0, "kind": "removed", "agent": 5}), "never added"),
    "an event without agent": (lambda t: with_event(t, {"tick": 0, "kind": "removed"}), "the field agent"),
    "an event too late": (lambda t: with_event(t, {"tick": 7, "kind": "removed", "agent": 0}), "no such tick"),
    "an event off the map": (lambda t: with_event(t, {"tick": 0, "kind": "blocked", "cells": [[8, 0]]}), "place"),
    "an event that is none": (lambda t: with_event(t, [1]), "an event has a kind"),
    "an agent twice": (
        lambda t: with_event(t, {"tick": 0, "kind": "added", "agent": 0, "at": [0, 0], "goal": [0, 0]}), "in order"
    ),
    "an agent too few": (lambda t: changed(t, "events.jsonl", b""), "adds 0 of 5 agents"),
    "an unknown reason": (
        lambda t: changed(t, "waits.bin", np.array([[0, 0, 1, 0], [2, 1, -1, 2]], "<i4").tobytes()), "waits.bin"
    ),
    "reasons that are none": (lambda t: changed(t, "reasons.json", b'{"0": "x"}'), "reasons.json"),
}  # fmt: skip


def test_a_bad_file_is_refused_with_a_reason_as_it_is_in_python(
    trace: Trace, run_script: RunScript, tmp_path: Path
) -> None:
    files = {name: make(trace) for name, (make, _) in BAD.items()}
    for name, seen in zip(BAD, read(run_script, *files.values()), strict=True):
        assert BAD[name][1] in seen.get("refused", ""), (name, seen)
        (tmp_path / "bad.wend").write_bytes(files[name])
        with pytest.raises(FormatError):
            Trace.load(tmp_path / "bad.wend")


def test_no_damage_goes_unnoticed_or_breaks_the_reader(trace: Trace, run_script: RunScript) -> None:
    """Bits that are wrong anywhere in the file, but in fields that no reader of zips needs."""
    whole, rng = trace.to_bytes(), np.random.default_rng(0)
    files = []
    for _ in range(300):
        data = bytearray(whole)
        data[int(rng.integers(0, len(data)))] ^= 1 << int(rng.integers(0, 8))
        files.append(bytes(data))
    [expected, *seen] = read(run_script, whole, *files)
    refused = [answer for answer in seen if "refused" in answer]
    assert len(refused) > 150
    assert all(answer == expected for answer in seen if "refused" not in answer)
