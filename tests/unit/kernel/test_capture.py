from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from tests.captures import assert_same
from wend.errors import SnapshotError
from wend.kernel.arrays import ALL_ROWS, allocate, flags, grown, int32, int64, marks, record
from wend.kernel.capture import Captured, capture, check
from wend.kernel.keeping import Keeper, Kept
from wend.kernel.pools import CHUNK, Pool, enlarged, get, make_pool, put
from wend.kernel.recalling import recall

TRUSTED = (__name__.partition(".")[0],)


class Held(NamedTuple):
    rows: Annotated[np.ndarray, int32("rows", 40, fill=-1)]
    pool: Pool
    counts: Annotated[np.ndarray, record("rows")]
    side: int = 3

    def lengths_in_use(self) -> dict[str, int]:
        return {"rows": int(self.counts[0].rows), "items": int(self.counts[0].rows)}


class Table(NamedTuple):
    """Arrays with marks."""

    lines: Annotated[np.ndarray, int64("lines", 6, fill=-1, marked_by="written", rows_per_mark=2)]
    written: Annotated[np.ndarray, marks("pairs")]
    label: Annotated[np.ndarray, int32("cells", marked_by="edited", rows_per_mark=ALL_ROWS)]
    twin: Annotated[np.ndarray, int32("cells", marked_by="edited", rows_per_mark=ALL_ROWS)]
    edited: Annotated[np.ndarray, marks("edits")]
    still: Annotated[np.ndarray, int32("cells", fill=7)]
    ring: Annotated[np.ndarray, int32("cells", 3, used_by="is_used")]
    is_used: Annotated[np.ndarray, flags("cells")]
    seen: Annotated[np.ndarray, int32("cells", fill=-1, is_scratch=True)]
    guess: Annotated[np.ndarray, int32("cells", fill=-1, is_hint=True)]
    counts: Annotated[np.ndarray, record("lines")]

    def lengths_in_use(self) -> dict[str, int]:
        return {"lines": int(self.counts[0].lines)}


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
        self.table = allocate(Table, lines=8, pairs=4, cells=9, edits=1)
        self.label = self.table.label
        self.plain = np.arange(5000, dtype=np.int64) % 7
        self.scratch = object()
        self.call = print
        self.inner: Any = None
        self.values: dict[Any, Any] = {}


def state_of(thing: Thing) -> list[Any]:
    used = int(thing.held.counts[0].rows)
    values = {name: value for name, value in thing.values.items() if name != "bundle"}
    bundles = [(one.rows.tolist(), one.side, int(get(one.pool, 0))) for one in thing.values.get("bundle", ())]
    return [
        thing.held.rows.tolist(), thing.same is thing.held.rows, [int(get(thing.held.pool, k)) for k in range(used)],
        thing.table.lines[: thing.table.counts[0].lines].tolist(), [a.tolist() for a in thing.table[2:4]],
        thing.table.still.tolist(), thing.table.ring.tolist(), thing.label is thing.table.label,
        thing.plain.tolist(), values, bundles,
        None if thing.inner is None else sorted(vars(thing.inner).items()),
    ]  # fmt: skip


def go_back(thing: Thing, captured: Captured, times: int = 1, keeper: Keeper | None = None) -> None:
    steps = recall(thing, captured, TRUSTED, keeper)
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
    table = thing.table
    if draw.random() < 0.2:
        table = thing.table = grown(table, lines=len(table.lines) + 2, pairs=table.written.size + 1)
    table.counts[0].lines = min(int(table.counts[0].lines) + int(draw.integers(3)), len(table.lines))
    if table.counts[0].lines > 0:
        k = int(draw.integers(table.counts[0].lines))
        table.lines[k], table.written[k // 2] = draw.integers(9), True
    if draw.random() < 0.3:
        table.label[draw.integers(9)], table.twin[0], table.edited[0] = draw.integers(9), draw.integers(9), True
    table.still[draw.integers(9)] = draw.integers(9)
    if draw.random() < 0.5:
        cell = draw.integers(9)
        table.ring[cell, draw.integers(3)], table.is_used[cell] = draw.integers(3), True
    table.seen[draw.integers(9)] = table.guess[draw.integers(9)] = 5
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
@pytest.mark.parametrize("keeper", [None, Keeper()], ids=["whole", "shared"])
def test_whatever_has_happened_since_all_is_as_it_was(keeper: Keeper | None) -> None:
    draw = np.random.default_rng(8)
    thing, known = Thing(), []
    for _ in range(60):
        known.append((capture(thing, keeper), repr(state_of(thing))))
        assert_same(known[-1][0], capture(thing))
        if len(known) > 20:
            del known[int(draw.integers(len(known)))]
        change(thing, draw)
        captured, before = known[int(draw.integers(len(known)))]
        scratch, guess = thing.scratch, thing.table.guess.tolist()
        go_back(thing, captured, times=2, keeper=keeper)        # each step may be made twice
        assert repr(state_of(thing)) == before
        assert (thing.table.seen == -1).all()
        assert thing.table.guess.tolist() == guess
        if draw.random() < 0.5:
            change(thing, draw)                     # and on from there
        assert thing.scratch is scratch
        if "facts" in thing.values:
            assert thing.values["facts"][0] is thing.values["facts"][1] is thing.values["group"][8]
        fresh = Thing()
        go_back(fresh, captured)
        assert repr(state_of(fresh)) == before


@pytest.mark.small
def test_two_things_and_their_captures_do_not_mix() -> None:
    """Each goes back to what either of them has been, and both share their own captures only."""
    draw = np.random.default_rng(5)
    things, keepers, known = (Thing(), Thing()), (Keeper(), Keeper()), []
    for _ in range(40):
        for thing, keeper in zip(things, keepers, strict=True):
            change(thing, draw)
            known.append((capture(thing, keeper), repr(state_of(thing))))
            captured, before = known[int(draw.integers(len(known)))]
            go_back(thing, captured, keeper=keeper)
            assert repr(state_of(thing)) == before
            assert_same(capture(thing, keeper), capture(thing))


def lines_of(captured: Captured) -> Kept:
    return next(one for one in captured.arrays if isinstance(one, Kept) and one.shape[1:] == (6,))


@pytest.mark.small
def test_a_capture_copies_only_what_is_marked() -> None:
    thing, keeper = Thing(), Keeper()
    thing.table.counts[0].lines = 8
    first = capture(thing, keeper)
    thing.table.lines[2], thing.table.written[1] = 5, True
    thing.table.lines[5] = 6                        # without a mark: nobody finds out
    second = capture(thing, keeper)
    lines = [lines_of(captured) for captured in (first, second)]
    assert lines[0].shelf is lines[1].shelf
    assert (lines[0].places() == lines[1].places()).tolist() == [True, False, True, True]
    assert lines[0].content()[2].tolist() == [-1] * 6
    assert [row[0] for row in lines[1].content().tolist()] == [-1, -1, 5, -1, -1, -1, -1, -1]
    thing.table.lines[:] = 9                        # not marked either: to go back leaves it alone
    go_back(thing, first, keeper=keeper)
    assert thing.table.lines[:, 0].tolist() == [9, 9, -1, -1, 9, 9, 9, 9]


@pytest.mark.small
def test_a_shelf_that_is_used_again_and_again_does_not_grow() -> None:
    thing, keeper, held = Thing(), Keeper(), deque[Captured](maxlen=3)
    thing.table.counts[0].lines = 8
    for k in range(200):
        thing.table.lines[k % 8], thing.table.written[k % 8 // 2] = k, True
        held.append(capture(thing, keeper))
        if k % 7 == 0:
            go_back(thing, held[0], keeper=keeper)
    assert len(lines_of(held[0]).shelf.stock.content) == 16            # four times four pieces, as at first


@pytest.mark.small
def test_arrays_with_marks_are_shared_in_a_bundle_that_is_replaced_time_and_again() -> None:
    thing, keeper, shelves = Thing(), Keeper(), []
    thing.table.counts[0].lines = 8
    for k in range(5):
        thing.table = thing.table._replace(still=thing.table.still.copy())
        thing.table.lines[k], thing.table.written[k // 2] = k, True
        captured = capture(thing, keeper)
        shelves.append(lines_of(captured).shelf)
        assert_same(captured, capture(thing))
        thing.table.lines[6], thing.table.written[3] = k, True
        go_back(thing, captured, keeper=keeper)
        assert_same(captured, capture(thing))
    assert len(set(shelves)) == 1


@pytest.mark.small
def test_rows_that_are_not_used_are_neither_looked_at_nor_kept() -> None:
    thing, keeper = Thing(), Keeper()
    thing.table.ring[3], thing.table.is_used[3], thing.table.is_used[4] = 1, True, True
    thing.table.ring[5] = 1                         # without its flag: nobody finds out
    captured = capture(thing, keeper)
    assert np.flatnonzero(thing.table.is_used).tolist() == [3]
    thing.table.ring[3:5], thing.table.is_used[4] = 2, True
    go_back(thing, captured, keeper=keeper)
    assert thing.table.ring[:, 0].tolist() == [0, 0, 0, 1, 0, 1, 0, 0, 0]
    assert np.flatnonzero(thing.table.is_used).tolist() == [3]


@pytest.mark.small
def test_rows_that_do_not_lie_in_their_array_are_found_out() -> None:
    thing = Thing()
    thing.table.ring[3], thing.table.is_used[3] = 1, True
    captured = capture(thing)
    numbers, content = captured.tree[3][0]
    for wrong in ((content, numbers), (numbers, numbers)):
        with pytest.raises(SnapshotError, match="rows"):
            recall(thing, captured._replace(tree=(*captured.tree[:3], [wrong])), TRUSTED)
    words = captured.block.view(np.int32)
    words[captured.arrays[numbers].rest // 4] = 9
    with pytest.raises(SnapshotError, match="rows that do not lie in their array"):
        recall(thing, captured, TRUSTED)


@pytest.mark.small
def test_what_is_remembered_of_a_walk_holds_until_an_attribute_is_another() -> None:
    thing, keeper = Thing(), Keeper()
    signs = [capture(thing, keeper).sign for _ in range(2)]
    thing.values, thing.held.counts[0].rows = {1: 2}, 3         # what is looked at each time
    signs.append(capture(thing, keeper).sign)
    assert len(set(signs)) == 1
    for value in (None, 7, Inner(), Inner(), np.zeros(3)):
        thing.inner = value
        signs.append(capture(thing, keeper).sign)
    assert [one is two for one, two in pairwise(signs[2:])] == [True, True, False, False, False]
    for _ in range(4):                                          # what is replaced time and again comes later
        thing.inner = np.zeros(3)
        signs.append(capture(thing, keeper).sign)
    assert [one is two for one, two in pairwise(signs[-4:])] == [False, True, True]


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
