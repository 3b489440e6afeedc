from __future__ import annotations

import copy
import mmap
import pickle
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from wend.kernel import jit
from wend.kernel.arrays import (
    ahead,
    allocate,
    copied,
    flags,
    grown,
    int32,
    int64,
    make_in_huge_pages,
    record,
    uint8,
    zeros,
)


class Inner(NamedTuple):
    mark: Annotated[np.ndarray, uint8("cells")]


class Outer(NamedTuple):
    goal: Annotated[np.ndarray, int32("agents", fill=-1)]
    way: Annotated[np.ndarray, int64("agents", "ticks")]
    done: Annotated[np.ndarray, flags("agents")]
    corner: Annotated[np.ndarray, int32(8)]
    counts: Annotated[np.ndarray, record("searches", "pushes")]
    inner: Inner
    window: int


class Filled(NamedTuple):
    cell: Annotated[np.ndarray, int32("agents", "ticks", fill=-1)]


@jit
def _count(outer, agent):
    outer.counts[0].searches += 1
    outer.goal[agent] = outer.window
    return outer.counts[0].searches


def make() -> Outer:
    return allocate(Outer, {"window": 7}, agents=3, ticks=4, cells=5)


@pytest.mark.small
def test_allocation_follows_the_declaration() -> None:
    outer = make()
    assert (outer.goal.dtype, outer.goal.tolist()) == (np.int32, [-1, -1, -1])
    assert (outer.way.dtype, outer.way.shape) == (np.int64, (3, 4))
    assert (outer.done.dtype, outer.corner.shape) == (np.bool_, (8,))
    assert (outer.inner.mark.dtype, outer.inner.mark.shape, outer.window) == (np.uint8, (5,), 7)


@pytest.mark.small
def test_a_number_must_be_given_and_an_inner_bundle_may_be() -> None:
    with pytest.raises(TypeError, match=r"Outer\.window"):
        allocate(Outer, agents=3, ticks=4, cells=5)
    inner = allocate(Inner, cells=9)
    assert allocate(Outer, {"inner": inner, "window": 1}, agents=3, ticks=4).inner is inner


@pytest.mark.small
def test_counters_are_named_in_kernels_and_in_python() -> None:
    outer = make()
    assert [_count(outer, 1), _count(outer, 2)] == [1, 2]
    outer.counts[0].pushes += 5
    assert (int(outer.counts[0].searches), int(outer.counts[0].pushes)) == (2, 5)
    assert outer.goal.tolist() == [-1, 7, 7]


@pytest.mark.small
def test_growth_keeps_what_was_there_and_fills_the_rest() -> None:
    outer = make()
    outer.goal[:], outer.way[2, 3], outer.inner.mark[4] = 5, 9, 6
    larger = grown(outer, agents=5, cells=7)
    assert larger.goal.tolist() == [5, 5, 5, -1, -1]
    assert (larger.way.shape, int(larger.way[2, 3]), int(larger.way.sum())) == ((5, 4), 9, 9)
    assert larger.inner.mark.tolist() == [0, 0, 0, 0, 6, 0, 0]
    assert larger.corner is outer.corner
    assert larger.counts is outer.counts
    assert grown(larger, agents=2).goal is larger.goal


@pytest.mark.small
@pytest.mark.skipif(not hasattr(mmap, "MAP_PRIVATE"), reason="there is no address space to be had without memory")
def test_a_large_array_gets_more_rows_without_a_copy() -> None:
    outer = allocate(Outer, {"window": 3}, agents=64, ticks=512, cells=3)
    outer.way[63, 511] = 9
    larger = grown(outer, agents=4096)
    assert larger.way.ctypes.data == outer.way.ctypes.data
    assert (larger.way.shape, int(larger.way[63, 511]), int(larger.way.sum())) == ((4096, 512), 9, 9)
    longer, wider = grown(larger, agents=4097), grown(larger, ticks=513)
    for copy_of in (longer, wider, copied(larger), pickle.loads(pickle.dumps(larger))):
        assert not np.shares_memory(copy_of.way, larger.way)
        assert (int(copy_of.way[63, 511]), int(copy_of.way.sum())) == (9, 9)
    filled = allocate(Filled, agents=64, ticks=512)
    filled.cell[:] = 5
    assert grown(filled, agents=128).cell[:, 0].tolist() == [5] * 64 + [-1] * 64


@pytest.mark.small
@pytest.mark.parametrize("items", [3, 1 << 17, 1 << 20])        # from NumPy, from the system, in huge pages
def test_zeros_begin_with_a_line_of_the_cache_whatever_was_freed_before(items: int) -> None:
    used = zeros((items,), np.dtype(np.int64))
    used[:] = 7
    del used
    fresh = zeros((items,), np.dtype(np.int64))
    assert (fresh.shape, fresh.ctypes.data % 64, fresh.any()) == ((items,), 0, False)
    fresh[-1] = 5
    assert pickle.loads(pickle.dumps(fresh))[-1] == 5


@pytest.mark.small
@pytest.mark.parametrize("rows", [64, 4096])            # with rows ahead of them, and without
def test_memory_made_in_huge_pages_holds_what_it_held(rows: int) -> None:
    array = allocate(Outer, {"window": 3}, agents=rows, ticks=512, cells=3).way
    array[:, 7] = 3
    before = array.copy()
    for items in (0, 100, 1 << 19, 1 << 30):
        make_in_huge_pages(array, items)
        assert np.array_equal(array, before)


@pytest.mark.small
def test_copies_are_independent() -> None:
    outer = make()
    for twin in (copied(outer), copy.deepcopy(outer)):
        twin.goal[0], twin.inner.mark[0], twin.counts[0].searches = 1, 1, 1
        assert isinstance(twin, Outer)
        assert (int(outer.goal[0]), int(outer.inner.mark[0]), int(outer.counts[0].searches)) == (-1, 0, 0)


@pytest.mark.small
def test_room_doubles() -> None:
    assert [ahead(0, 1), ahead(64, 64), ahead(64, 65), ahead(64, 500)] == [64, 64, 128, 500]


@pytest.mark.small
def test_a_record_refuses_names_that_every_numpy_scalar_has() -> None:
    with pytest.raises(TypeError, match="size"):
        record("searches", "size")
