"""Broken files of every kind: each is read or ends in one clear error, and none makes its reader allocate much.

The inputs are seeded mutations of small valid files, which stand here. WEND_FUZZ is the number of inputs for all
readers together.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from wend import Grid, Snapshot, Trace, World
from wend.errors import FormatError, ParameterError, WendError
from wend.experiments.foreign import rows_of
from wend.experiments.report import make_report
from wend.experiments.spec import load_spec
from wend.experiments.store import COLUMNS, Store
from wend.files import parse_json
from wend.interchange.formats import WRITERS, read_plan, write_plan
from wend.interchange.plan import check_plan
from wend.maps import data as data_folder
from wend.maps.movingai import parse_map, parse_scen
from wend.planners.auto import model
from wend.selection.evaluation import Portfolio
from wend.selection.features import FEATURES
from wend.selection.lessons import read_answers
from wend.selection.networks import Lessons, save_answers
from wend.selection.selector import Selector, train_selector
from wend.viewer.replay import write_replay
from wend.world.referee import judge_trace

ALL_INPUTS = int(os.environ.get("WEND_FUZZ", "6000"))
INPUTS = ALL_INPUTS // 4            # for each of the two parsers; the readers of files share the rest

MAPS = [
    b"type octile\nheight 3\nwidth 4\nmap\n..@T\n.GSW\nO...\n",
    b"type octile\r\nheight 2\r\nwidth 9\r\nmap\r\n.........\r\n@@@@.@@@@\r\n",
    b"type octile\nwidth 1\nheight 1\nmap\n.",
]
SCENS = [
    b"version 1\n0\tmaps/a b.map\t49\t50\t1\t11\t1\t12\t1\n4\tmaps/a b.map\t49\t50\t0\t0\t48\t49\t68.88225099\n",
    b"version 1.0\n0 a.map 4 4 0 0 3 3 4.24264\n",
    b"0\ta.map\t1\t2\t3\t4\t2.82842712\r\n1\ta.map\t9\t2\t3\t4\t6.82842712\r\n",
]
NUMBERS = [
    b"0", b"-1", b"1", b"2", b"7", b"2147483648", b"999999999", b"1000000000", b"1" * 5000, b"1e9", b"1e400", b"nan",
    b"-inf", b"0x10", b"1_0", b"", b" ", b"3.0", "٣".encode(), b"+3",
]
WORDS = [
    b"type", b"octile", b"height", b"width", b"map", b"version", b"\n", b"\r\n", b"\r", b"\t", b" ", b"\0",
    b"[", b"]", b"{", b"}", b'"', b",", b":", b"NaN", b"Infinity", b"null", b"true", b"\\ud800", b"\xff",
    b"\x1b[31m", b"[" * 2000, b"(", b")", b"'", b";", b"--", b"{0}", b"{0..99999999}", b"=", b"inf", b"nan",
    b"-1", b"1979-05-27", b"a.b", b"agent", b"PK\5\6",
]  # fmt: skip


def mutate(data: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """A small disaster, or a few."""
    for _ in range(rng.geometric(0.6)):
        a, b = sorted(int(n) for n in rng.integers(0, len(data) + 1, size=2))
        number = NUMBERS[rng.integers(len(NUMBERS))]
        match rng.integers(9):
            case 0 if a < len(data):        # flip bits
                data = data[:a] + bytes([data[a] ^ int(rng.integers(1, 256))]) + data[a + 1:]
            case 1:                         # delete
                data = data[:a] + data[min(b, a + 8):]
            case 2:                         # insert bytes
                data = data[:a] + rng.bytes(int(rng.integers(1, 5))) + data[a:]
            case 3:                         # insert a word
                data = data[:a] + WORDS[rng.integers(len(WORDS))] + data[a:]
            case 4:                         # duplicate
                data = data[:b] + data[a:b] * int(rng.integers(1, 4)) + data[b:]
            case 5:                         # cut off
                data = data[:b]
            case 6:                         # splice with another file
                other = others[rng.integers(len(others))]
                data = data[:a] + other[rng.integers(len(other)):]
            case 7:                         # swap two lines
                lines = data.split(b"\n")
                i, j = rng.integers(len(lines), size=2)
                lines[i], lines[j] = lines[j], lines[i]
                data = b"\n".join(lines)
            case _:                         # replace a number
                places = list(re.finditer(rb"\d+", data))
                if places:
                    place = places[rng.integers(len(places))]
                    data = data[: place.start()] + number + data[place.end():]
    return data


def check_map(data: bytes) -> None:
    passable = parse_map(data, "fuzz.map")
    assert passable.dtype == np.bool_
    assert passable.ndim == 2
    assert 0 < passable.size <= len(data)


def check_scen(data: bytes) -> None:
    for row in parse_scen(data, "fuzz.scen").rows:
        assert 0 <= row.optimal < float("inf")
        for x, y in (row.start, row.goal):
            assert x >= 0
            assert y >= 0
            assert row.width is None or x < row.width
            assert row.height is None or y < row.height


def failure(check: Callable[[bytes], None], data: bytes) -> FormatError | None:
    try:
        check(data)
    except FormatError as error:
        return error
    except Exception as error:
        error.add_note(f"input: {data!r}")
        raise
    return None


@pytest.mark.parametrize(("check", "originals"), [(check_map, MAPS), (check_scen, SCENS)], ids=["map", "scen"])
def test_mutated_files_parse_or_end_in_a_format_error(
    check: Callable[[bytes], None], originals: list[bytes]
) -> None:
    assert not any(failure(check, data) for data in originals)
    rng = np.random.default_rng(20)
    parsed = 0
    tracemalloc.start()
    try:
        for _ in range(INPUTS):
            data = mutate(originals[rng.integers(len(originals))], originals, rng)
            error = failure(check, data)
            if error is None:
                parsed += 1
            else:
                assert error.source.startswith("fuzz."), data
                assert error.line is None or 1 <= error.line <= data.count(b"\n") + 1, data
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    print(f"{INPUTS} inputs, {parsed} parsed, {INPUTS - parsed} FormatErrors, {peak} bytes at most")    # shown by -rP
    assert 0 < parsed < INPUTS      # the mutations are neither all harmless nor all fatal
    assert peak < 2**20


# --- readers of files -------------------------------------------------------------------------------------------------


def a_trace() -> Trace:
    world = World(Grid.from_text("......\n.@....\n......"), "lra", record_reasons=True)
    world.add((0, 0), (5, 2))
    world.add((5, 0), (0, 2), pinned=True)
    world.tick(budget=1)        # too little to find a path: they wait
    world.block([(3, 1)])
    world.order_group([0, 1], (4, 1))
    world.tick()
    world.remove(1)
    world.tick()
    return world.trace(algorithm="lra", map="a", violations=["none"], parameters={"noise": 1})


def entries_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def mutated_zip(entries: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """A zip of which one entry is mutated, or the file itself."""
    if rng.random() < 0.3:
        return mutate(zipped(entries), [zipped(entries)], rng)
    name = sorted(entries)[rng.integers(len(entries))]
    return zipped({**entries, name: mutate(entries[name], list(entries.values()), rng)})


class TraceFiles:
    """Runs, and everything that is made of them."""

    def __init__(self, folder: Path) -> None:
        a_trace().save(folder / "whole.wend")
        self.entries = entries_of(folder / "whole.wend")
        self.path, self.out = folder / "fuzz.wend", folder / "out"

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutated_zip(self.entries, rng)

    def read(self) -> None:
        trace = Trace.load(self.path)
        judge_trace(trace)
        for agent in range(min(trace.agents, 3)):
            for tick in range(min(trace.ticks, 3)):
                trace.wait(agent, tick)
        write_replay(trace, self.out)
        for format in WRITERS:
            with contextlib.suppress(ParameterError):       # it has agents that leave, or an edit
                write_plan(trace, format, self.out)
        trace.save(self.out)


PLANS = [
    b"agents=2\nmap_file=a.map\nstarts=(0,0),(1,0),\ngoals=(1,1),(0,1),\nsolution=\n0:(0,0),(1,0),\n1:(1,1),(0,1),\n",
    b"Agent 0: (0,1)->(0,2)->(0,3)->\nAgent 1: (0,2)->(0,1)->\n",
    b"statistics:\n  cost: 2\nschedule:\n  agent0:\n    - x: 0\n      y: 0\n      t: 0\n"
    b"  agent1:\n    - x: 1\n      y: 0\n      t: 0\n",
]


class PlanFiles:
    """Plans of other solvers."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fuzz.txt"
        self.grid = Grid.from_text("....\n....")

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutate(PLANS[rng.integers(len(PLANS))], PLANS, rng)

    def read(self) -> None:
        check_plan(read_plan(self.path), self.grid)


SPECS = [
    b'''title = "A test"
metrics = ["completion_rate", "ticks"]
baseline = "LRA*"
[problem]
kind = "random"
connectivity = 4
[limits]
max_ticks = 50
[scales.quick]
maps = ["open:width=8,height=8", "random:seed={0..1}"]
agents = [1, 2]
instances = 2
[[algorithms]]
name = "lra"
parameters = { noise = 4 }
[[figures]]
id = "f"
title = "F"
y = "completion_rate"
where = "agents > 1"
[[tables]]
id = "t"
title = "T"
rows = "label"
columns = "agents"
values = ["ticks"]
where = "map <> 'x' AND (ticks > 1)"
[[numbers]]
place = "Table I"
value = 0.5
metric = "ticks"
where = "label = 'LRA*'"
[[claims]]
sentence = "It is so."
sql = "SELECT avg(ticks) > 1 FROM results WHERE agents IN (1, 2)"
''',
    b'''title = "B"
metrics = ["ticks"]
[problem]
scen = "mapf/{map}-random-{instance}"
[scales.full]
maps = ["mapf/a"]
agents = [5]
instances = 1
[[algorithms]]
name = "every"
limits = { max_ticks = 3 }
[views.a]
title = "a"
''',
]


class SpecFiles:
    """Specs, the jobs that they make, and the report of what is done of them."""

    def __init__(self, folder: Path) -> None:
        self.path, self.folder = folder / "fuzz.toml", folder / "results"
        self.path.write_bytes(SPECS[0])
        store, row = Store.create(self.folder, "fuzz"), dict.fromkeys(COLUMNS)
        for job in load_spec(str(self.path)).jobs("quick"):
            known = {key: value for key, value in job.items() if key in ("id", "map", "agents", "instance", "label")}
            store.put({**row, **known, "ticks": 3.0})

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutate(SPECS[rng.integers(len(SPECS))], SPECS, rng)

    def read(self) -> None:
        spec = load_spec(str(self.path))
        for scale in spec.scales:
            spec.jobs(scale)
        make_report(spec, Store(self.folder)).to_json()


class ResultFiles:
    """Results folders: the label, the rows, and those of other solvers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "results"
        store = Store.create(self.folder, "a/b")
        store.put({**dict.fromkeys(COLUMNS), "id": "one", "ticks": 3.0})
        store.put_foreign([{**dict.fromkeys(COLUMNS), "id": "two", "ticks": 4.0}])
        names = ("jobs/one.parquet", "foreign.parquet", "store.json")
        self.originals = {self.folder / name: (self.folder / name).read_bytes() for name in names}
        self.path = self.folder / names[0]

    def mutated(self, rng: np.random.Generator) -> bytes:
        for path, content in self.originals.items():
            path.write_bytes(content)
        self.path = list(self.originals)[rng.choice(3, p=[0.4, 0.4, 0.2])]
        content = self.originals[self.path]
        return mutate(content, [content], rng)

    def read(self) -> None:
        Store(self.folder).check("a/b")
        Store(self.folder).made_with()


RESULTS = [
    b"map,scen,agents,solver,solved,sum_of_costs,ticks,plan\na,a-random-1,1,X,true,3,,\na,a-random-1,1,Y,,,,plan.txt\n",
    b'[{"map": "a.map", "scen": "a-random-1", "agents": 1, "solver": "X", "solved": true, "seconds": 2.5}]',
]


class ForeignFiles:
    """Results of other solvers."""

    def __init__(self, folder: Path) -> None:
        (folder / "data" / "mine").mkdir(parents=True)
        (folder / "data" / "mine" / "a.map").write_bytes(MAPS[2])
        (folder / "data" / "mine" / "a-random-1.scen").write_text("version 1\n0\ta.map\t1\t1\t0\t0\t0\t0\t0\n")
        (folder / "plan.txt").write_text("Agent 0: (0,0)->\n")
        spec = SPECS[1].replace(b'"mapf/', b'"mine/').replace(b"agents = [5]", b"agents = [1]")
        (folder / "a.toml").write_bytes(spec)
        self.path, self.spec = folder / "fuzz.csv", load_spec(str(folder / "a.toml"))
        self.store = Store.create(folder / "results", "a")

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutate(RESULTS[rng.integers(len(RESULTS))], RESULTS, rng)

    def read(self) -> None:
        self.store.put_foreign(rows_of(self.path, self.spec)[0])


class DataZips:
    """Zips that are added to the data folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fuzz.zip"

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutated_zip({"a.map": MAPS[0], "b.scen": SCENS[1], "c.txt": b"c"}, rng)

    def read(self) -> None:
        data_folder.add(self.path)
        data_folder.list_sets()


class JsonFiles:
    """JSON of all kinds."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fuzz.json"

    def mutated(self, rng: np.random.Generator) -> bytes:
        original = json.dumps({"a": [1, 2.5, None, True, "text"], "b": {"c": [[0, 1], [2, 3]]}}).encode()
        return mutate(original, [original], rng)

    def read(self) -> None:
        value = parse_json(self.path.read_bytes(), self.path)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


class SelectorFiles:
    """Selectors, and what they choose."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        features, quality = rng.random((12, len(FEATURES))), rng.random((12, 2, 3))
        names = tuple(map(str, range(12)))
        data = Portfolio(("a", "b"), names, names, names, features, quality)
        train_selector(data, trees=2).save(folder / "whole.npz")
        self.entries, self.features = entries_of(folder / "whole.npz"), features[0]
        self.path = folder / "fuzz.npz"

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutated_zip(self.entries, rng)

    def read(self) -> None:
        Selector.load(self.path).choose_by(self.features)


class AutoFiles:
    """Models of auto, and what it chooses."""

    def __init__(self, folder: Path) -> None:
        self.whole = model.SHIPPED.read_bytes()
        self.path = folder / "fuzz.json"

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutate(self.whole, [self.whole], rng)

    def read(self) -> None:
        model.Model.load(self.path)


class AnswerFiles:
    """What networks have answered."""

    def __init__(self, folder: Path) -> None:
        none = np.zeros((2, 5), np.int8)
        lessons = Lessons(np.zeros((5, 1, 1, 3), np.uint8), ["a", "b"], none, none, none, none)
        save_answers(folder / "whole.npz", lessons, np.random.default_rng(0).random((2, 5, 3), np.float32), [])
        self.entries = entries_of(folder / "whole.npz")
        self.path = folder / "fuzz.npz"

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutated_zip(self.entries, rng)

    def read(self) -> None:
        read_answers(self.path)


class SnapshotFiles:
    """Snapshots of a world."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fuzz.snapshot"
        self.world = World(Grid.from_text("....\n.@.."), "lra")
        self.world.add((0, 0), (3, 1))
        self.original = bytes(self.world.snapshot())

    def mutated(self, rng: np.random.Generator) -> bytes:
        return mutate(self.original, [self.original], rng)

    def read(self) -> None:
        self.world.restore(Snapshot.from_bytes(self.path.read_bytes()))


READERS = {
    TraceFiles: 0.4, PlanFiles: 0.2, ForeignFiles: 0.05, SpecFiles: 0.05, ResultFiles: 0.02, DataZips: 0.08,
    JsonFiles: 0.1, SelectorFiles: 0.03, AutoFiles: 0.02, AnswerFiles: 0.05, SnapshotFiles: 0.1,
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_mutated_files_are_read_or_end_in_an_error_of_ours(reader, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))
    target = reader(tmp_path)
    rng = np.random.default_rng(21)
    inputs, parsed, said = int(ALL_INPUTS / 2 * READERS[reader]), 0, 0
    for _ in range(inputs):
        data = target.mutated(rng)
        target.path.write_bytes(data)
        try:
            target.read()
            parsed += 1
        except WendError as error:
            said = max(said, len(str(error)))
        except Exception as error:
            error.add_note(f"input: {data!r}")
            raise
    print(f"{reader.__name__}: {inputs} inputs, {parsed} read, {inputs - parsed} errors of ours")
    assert 0 < parsed < inputs
    assert said < 20_000
