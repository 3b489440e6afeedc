"""What holds for all plan files: what is written is read back, and damaged files end in a FormatError."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.interchange.plans import (
    MARCH,
    OPEN,
    READ_BACK,
    ROOM,
    TEXTS,
    assert_refused,
    plan_from,
    random_walk,
    trace_of,
)
from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.interchange.formats import WRITERS, read_plan, write_plan
from wend.interchange.plan import check_plan
from wend.maps.grid import Grid
from wend.world.trace import Event, Trace


@pytest.mark.parametrize("name", READ_BACK)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_read_back(name: str, seed: int, tmp_path: Path) -> None:
    trace = random_walk(seed)
    cells = trace.positions().tolist()
    while len(cells) > 1 and cells[-1] == cells[-2]:    # all agents are home: the plan is over
        cells.pop()

    write_plan(trace, name, tmp_path / "plan")
    plan = read_plan(tmp_path / "plan")

    assert plan.format == name
    assert plan.positions.dtype == np.int32
    assert plan.positions.tolist() == [[list(trace.grid.xy(cell)) for cell in row] for row in cells]


def test_a_plan_ends_when_the_last_agent_is_home(tmp_path: Path) -> None:
    for name in READ_BACK:
        write_plan(trace_of(Grid.from_text(OPEN), [((0, 0), (1, 0), "E - - -")]), name, tmp_path / "plan")
        assert read_plan(tmp_path / "plan").positions.tolist() == [[[0, 0]], [[1, 0]]]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("events", "moves", "reason"),
    [
        ([Event(1, "removed", 1)], "E gone", "agent 1 is not on the map at tick 2"),
        ([Event(0, "blocked", None, {"cells": [[3, 0]]})], "E -", "the map was edited at tick 0"),
        ([], "W -", "agent 1 is not on the map at tick 1"),
    ],
)
def test_a_run_that_is_no_plan_is_refused_and_the_old_file_stays(
    name: str, events: list[Event], moves: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "plan").write_text("old")
    trace = trace_of(Grid.from_text(OPEN), [((0, 1), (0, 1), "- -"), ((0, 0), (1, 0), moves)], events=events)
    with pytest.raises(ParameterError, match=reason):
        write_plan(trace, name, tmp_path / "plan")
    assert [file.name for file in tmp_path.iterdir()] == ["plan"]
    assert (tmp_path / "plan").read_text() == "old"


def test_an_agent_that_comes_later_is_no_part_of_a_plan(tmp_path: Path) -> None:
    trace = trace_of(Grid.from_text(OPEN), [((0, 1), (0, 1), "- -"), ((0, 0), (1, 0), "gone E")])
    trace.events[1] = Event(1, "added", 1, trace.events[1].data)
    with pytest.raises(ParameterError, match=r"agent 1 is not on the map at tick 0: .* added later or removed"):
        write_plan(trace, "lacam", tmp_path / "plan")


def test_an_unknown_format_and_a_run_without_agents(tmp_path: Path) -> None:
    nobody = Trace(Grid.from_text(OPEN), np.empty((0, 0), np.uint8), [], np.empty(0), np.empty(0, np.int32))
    with pytest.raises(UnknownNameError, match=r"'lacan'\. Did you mean 'lacam'.*eecbs, yaml, tracker"):
        write_plan(nobody, "lacan", tmp_path / "plan")
    with pytest.raises(ParameterError, match="without agents"):
        write_plan(nobody, "lacam", tmp_path / "plan")


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        changed = b"\xef\xbb\xbf\r\n" + text(MARCH).replace("\n", "\r\n").encode() + b"\r\n"
        plan = plan_from(tmp_path, changed)
        assert (plan.format, plan.positions.transpose(1, 0, 2).tolist()) == (name, np.array(MARCH).tolist())


def test_a_small_file_cannot_ask_for_much_memory(tmp_path: Path) -> None:
    long_and_many = "Agent 0: " + "(0,0)->" * 9000 + "\n" + "".join(f"Agent {i}: (0,1)->\n" for i in range(1, 9000))
    with pytest.raises(FormatError, match="9000 agents for 9000 ticks are more than"):
        plan_from(tmp_path, long_and_many)


def test_what_is_no_readable_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        read_plan(tmp_path / "none")
    with pytest.raises(FormatError, match="not a file"):
        read_plan(tmp_path)
    with pytest.raises(FormatError, match="not text in UTF-8"):
        plan_from(tmp_path, b"agents=1\n" + bytes(range(256)))
    with (tmp_path / "large").open("wb") as file:
        file.truncate(256 * 2**20 + 1)
    with pytest.raises(FormatError, match="over the limit of 134,217,728"):
        read_plan(tmp_path / "large")


@pytest.mark.parametrize("name", READ_BACK)
def test_damaged_files_end_in_a_plan_or_a_format_error(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    write_plan(random_walk(1, agents=3, ticks=6), name, tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    grid = Grid.from_text(ROOM)
    plans = errors = 0
    for _ in range(400):
        data = bytearray(good)
        for _ in range(int(rng.integers(1, 4))):
            at, length = int(rng.integers(len(data))), int(rng.integers(1, 9))
            kind = int(rng.integers(5))
            if kind == 0:
                data[at] = int(rng.integers(256))
            elif kind == 1:
                data[at : at + length] = b""
            elif kind == 2:
                data[at:at] = data[max(at - length, 0) : at]
            elif kind == 3:
                data[at:at] = bytes(rng.choice(np.frombuffer(b"0123456789-(),:=>\n *&[]{}", np.uint8), length))
            elif len(data) > 1:
                del data[max(at, 1) :]
        try:
            plan = plan_from(tmp_path, bytes(data))
        except FormatError:
            errors += 1
        else:
            plans += 1
            assert plan.positions.ndim == 3
            assert all(line.startswith("tick ") for line in check_plan(plan, grid))
    assert plans > 20
    assert errors > 100


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "not a plan in a known format"),
        ("\n\nversion 1\n", 3, "begins with `agents=`.*this file with 'version 1'"),
        ("agents=1\n" + "\n" * 2**20, 2**20 + 1, "more than 1048576 lines"),
        ("- 1\n", 1, "not a plan in a known format"),
    ],
)
def test_bad_files_are_told_where_and_why(text: str, line: int | None, reason: str, tmp_path: Path) -> None:
    assert_refused(text, line, reason, tmp_path)
