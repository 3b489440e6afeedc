from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from wend.errors import SnapshotError
from wend.kernel.arrays import allocate, grown, int32, record
from wend.kernel.capture import Captured, capture, check, recall
from wend.kernel.pools import CHUNK, Pool, enlarged, get, make_pool, put

TRUSTED = (__name__.partition(".")[0],)


class Held(NamedTuple):
    rows: Annotated[np.ndarray, int32("rows", 40, fill=-1)]
    pool: Pool
    counts: Annotated[np.ndarray, record("rows")]
    side: int = 3

    def lengths_in_use(self) -> dict[str, int]:
        return {"rows": int(self.counts[0].rows), "items": int(self.counts[0].rows)}


@dataclass(frozen=True)
class Fact:
    name: str
    places: tuple[int, ...]


class Inner:
    pass


class Thing:
    uncaptured = ("scratch",)

    def __init__(self) -> None:
        self.held = allocate(Held, {"pool": make_pool(3 * CHUNK), "side": 3}, rows=8)
        self.same = self.held.rows
        self.plain = np.arange(5000, dtype=np.int64) % 7
        self.scratch = object()
        self.call = print
        self.inner: Any = None
        self.values: dict[Any, Any] = {}


def state_of(thing: Thing) -> list[Any]:
    used = int(thing.held.counts[0].rows)
    return [
        thing.held.rows.tolist(), thing.same is thing.held.rows, [int(get(thing.held.pool, k)) for k in range(used)],
        thing.plain.tolist(), thing.values, None if thing.inner is None else vars(thing.inner),
    ]  # fmt: skip


def go_back(thing: Thing, captured: Captured, times: int = 1) -> None:
    steps = recall(thing, captured, TRUSTED)
    for step, given in times * steps:
        step(*given)


def change(thing: Thing, draw: np.random.Generator) -> None:
    """Anything may have happened, growth included."""
    held = thing.held
    if draw.random() < 0.4:
        held = thing.held = grown(held, rows=len(held.rows) + int(draw.integers(3)))
        thing.same = held.rows
    if draw.random() < 0.3:
        held = thing.held = held._replace(pool=enlarged(held.pool))
    used = min(int(held.counts[0].rows) + int(draw.integers(4)), len(held.rows))
    for k in range(int(held.counts[0].rows), used):
        held.rows[k] = draw.integers(9, size=40)
        put(held.pool, k, int(draw.integers(100)))
    held.counts[0].rows = used
    thing.plain = thing.plain[:: int(draw.integers(1, 3))].copy()
    thing.plain[draw.integers(thing.plain.size, size=3)] = 9
    fact = Fact("again", (1, int(draw.integers(9))))
    thing.values = {
        1: [1.5, math.inf, None, True], "b": deque([int(draw.integers(9))]), (2, 3): {4, 5}, "f": frozenset([6]),
        "facts": [fact, fact], "group": dict.fromkeys(range(9), fact), "bytes": b"\x00\xff",
        "bundle": [Held(*thing.held[:3], 5)],
    }  # fmt: skip
    thing.inner = None if draw.random() < 0.5 else Inner()
    if thing.inner is not None:
        thing.inner.array, thing.inner.back = held.rows, 7


@pytest.mark.small
def test_whatever_has_happened_since_all_is_as_it_was() -> None:
    draw = np.random.default_rng(8)
    thing, known = Thing(), []
    for _ in range(60):
        known.append((capture(thing), repr(state_of(thing))))
        change(thing, draw)
        captured, before = known[int(draw.integers(len(known)))]
        scratch = thing.scratch
        go_back(thing, captured, times=2)           # each step may be made twice
        assert repr(state_of(thing)) == before
        assert thing.scratch is scratch
        if "facts" in thing.values:
            assert thing.values["facts"][0] is thing.values["facts"][1] is thing.values["group"][8]
        fresh = Thing()
        go_back(fresh, captured)
        assert repr(state_of(fresh)) == before


@pytest.mark.small
def test_rows_that_were_not_in_use_are_empty_again() -> None:
    thing = Thing()
    captured = capture(thing)
    thing.held.rows[:2], thing.held.counts[0].rows = 5, 2
    put(thing.held.pool, 1, 6)
    go_back(thing, captured)
    assert (thing.held.rows == -1).all()
    assert get(thing.held.pool, 1) == 0


def test_values_that_others_hold_are_not_written_over() -> None:
    thing = Thing()
    thing.values = {"facts": [Fact("then", ())]}
    captured = capture(thing)
    thing.values = {"facts": [Fact("now", ())]}
    mine = thing.values["facts"]
    go_back(thing, captured)
    assert mine == [Fact("now", ())]
    assert thing.values == {"facts": [Fact("then", ())]}


def test_what_cannot_be_held_is_named() -> None:
    thing = Thing()
    thing.inner = Inner()
    thing.inner.odd = iter([1])
    with pytest.raises(SnapshotError, match=r"thing\.inner\.odd is a list_iterator, which a snapshot cannot hold"):
        capture(thing)
    thing.inner.odd = np.array([object()])
    with pytest.raises(SnapshotError, match="an array of object"):
        capture(thing)


def test_a_class_that_is_not_trusted_is_never_made() -> None:
    thing = Thing()
    thing.values = {"fact": Fact("a", ())}
    captured = capture(thing)
    with pytest.raises(SnapshotError, match="no part of this world"):
        recall(thing, captured, ("wend",))
    tree = repr(captured.tree).replace(":Fact'", ":TRUSTED'")
    with pytest.raises(SnapshotError, match="no class"):
        recall(thing, captured._replace(tree=eval(tree)), TRUSTED)


def test_arrays_that_do_not_lie_in_the_block_are_found_out() -> None:
    captured = capture(Thing())
    check(captured)
    size = captured.block.size
    packed = next(k for k, stored in enumerate(captured.arrays) if stored.words)
    plain = next(k for k, stored in enumerate(captured.arrays) if stored.rows and not stored.words)
    for k, wrong in [
        (packed, {"begin": size}), (packed, {"words": captured.arrays[packed].words + 1}), (packed, {"begin": -1}),
        (plain, {"rest": 8 * size}), (plain, {"rest": -8}), (plain, {"rows": 2}),
        (plain, {"shape": (-1,)}), (plain, {"dtype": "|O"}), (plain, {"dtype": "no"}), (plain, {"shape": ()}),
    ]:  # fmt: skip
        bad = captured.arrays[k]._replace(**wrong)
        with pytest.raises((ValueError, TypeError, LookupError)):
            check(captured._replace(arrays=[*captured.arrays[:k], bad, *captured.arrays[k + 1 :]]))
