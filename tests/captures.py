"""Whether two captures hold the same, in whatever order they found it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wend import Snapshot, World
from wend.kernel.capture import Captured, capture, in_one_block
from wend.kernel.outline import AGAIN, ARRAY, BUNDLE, INNER, OBJECT, POOL, ROWS
from wend.kernel.storing import Source, dtype_of


class _Reader:
    """What the nodes of a capture stand for."""

    def __init__(self, captured: Captured) -> None:
        self.tree, self.plain, self.later, self.rows = captured.tree
        _, stored, block, _ = in_one_block(captured)
        self.stored: Any = stored
        self.arrays: list[Any] = []
        source = Source(block)
        for one in self.stored:
            self.arrays.append(np.zeros((one.rows, *one.shape[1:]), dtype_of(one.dtype)))
            source.write(self.arrays[-1], one)
        step, given = source.step()
        step(*given)
        self.defined: dict[int, Any] = {}
        self._define(captured.tree)

    def _define(self, node: Any) -> None:
        if isinstance(node, dict):
            node = tuple(node.values())
        elif isinstance(node, (tuple, list)) and node and node[0] in (OBJECT, INNER, BUNDLE, POOL):
            self.defined[node[1]] = node
        if isinstance(node, (tuple, list)):
            for one in node:
                self._define(one)

    def resolve(self, node: Any) -> Any:
        """The node itself, or the one that it repeats; of an object all attributes."""
        if isinstance(node, tuple) and node[:1] == (AGAIN,):
            node = self.defined[node[1]]
        if isinstance(node, tuple) and node[:1] == (OBJECT,):
            _, number, name, place, names, nodes = node
            plain = dict(zip(names, self.plain[place], strict=True))
            return INNER, number, name, {**nodes, **plain, **self.later[place]}
        return node


class _Comparison:
    def __init__(self, one: Captured, other: Captured) -> None:
        self.one, self.other = _Reader(one), _Reader(other)
        self.pairs: dict[tuple[str, int], int] = {}     # things and arrays: the number in the one, and in the other

    def is_new_pair(self, kind: str, number: int, other: int, path: str) -> bool:
        is_new = (kind, number) not in self.pairs
        assert self.pairs.setdefault((kind, number), other) == other, f"{path} is shared with another"
        return is_new

    def compare(self, a: Any, b: Any, path: str) -> None:
        a, b = self.one.resolve(a), self.other.resolve(b)
        if isinstance(a, dict):
            assert a.keys() == b.keys(), path
            for name in a:
                self.compare(a[name], b[name], f"{path}.{name}")
        elif not isinstance(a, (tuple, list)):
            assert (type(a), a) == (type(b), b), path
        else:
            assert len(a) == len(b), f"{path}: {a} and {b}"
            if a[:1] == (ARRAY,) == b[:1]:
                self.compare_arrays(a[1], b[1], path)
            elif a[:1] == (ROWS,) == b[:1]:
                self.compare_arrays(a[1], b[1], path)
                for number, other in zip(self.one.rows[a[2]], self.other.rows[b[2]], strict=True):
                    self.compare_arrays(number, other, f"{path} rows")
            elif a[:1] == (POOL,) == b[:1]:
                if self.is_new_pair("thing", a[1], b[1], path):
                    self.compare_arrays(a[2], b[2], path)
            elif a[:1] in ((INNER,), (BUNDLE,)) and a[:1] == b[:1]:
                if self.is_new_pair("thing", a[1], b[1], path):
                    self.compare(a[2:], b[2:], path)
            elif a[:1] in (("S",), ("F",)):             # sets, which are in no order
                assert (a[0], sorted(a[1])) == (b[0], sorted(b[1])), path
            else:
                for k, (one, other) in enumerate(zip(a, b, strict=True)):
                    self.compare(one, other, f"{path}[{k}]")

    def compare_arrays(self, number: int, other: int, path: str) -> None:
        if not self.is_new_pair("array", number, other, path):
            return
        a, b = self.one.stored[number], self.other.stored[other]
        assert (a.dtype, a.shape) == (b.dtype, b.shape), path
        assert a.rows == b.rows or max(a.rows, b.rows) == a.shape[0], path      # met first where all of it counts
        rows = min(a.rows, b.rows)
        np.testing.assert_array_equal(self.one.arrays[number][:rows], self.other.arrays[other][:rows], err_msg=path)


def assert_same(one: Captured, other: Captured) -> None:
    """Two captures hold the same."""
    comparison = _Comparison(one, other)
    comparison.compare(comparison.one.tree, comparison.other.tree, "")


def assert_holds_all(taken: Snapshot, world: World) -> None:
    """A snapshot of the world as it is now, which shares arrays with others, holds the same as one that shares none."""
    assert_same(taken._captured, capture(world))
