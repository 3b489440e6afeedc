# mypy: disallow-untyped-calls=False
"""Recalling: the way back to what was captured (capture.py).

`recall` leads an object of the same making back to a state. It changes nothing yet: it answers with the steps that do,
each of which can be made twice without harm. What is there already is written over, so that those who share an array go
on sharing it; what has another shape by now is made anew. Where an outline still holds there is nothing to look for.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import SnapshotError
from wend.kernel.arrays import fields_of, zeros
from wend.kernel.capture import Captured
from wend.kernel.keeping import Keeper, Kept, clear_marks
from wend.kernel.outline import (
    AGAIN,
    ARRAY,
    BUNDLE,
    BYTES,
    DICT,
    FEW,
    FLOAT,
    INNER,
    OBJECT,
    PLAIN,
    PLAIN_SERIES,
    POOL,
    SERIES,
    Outline,
    left_out,
    name_of,
)
from wend.kernel.packing import put_rows, words_of
from wend.kernel.pools import CHUNK, Pool, carried, make_pool
from wend.kernel.storing import Marked, Source, Sparse, Step, Stored, dtype_of, is_packable, rows_of, take_out


def recall(root: object, captured: Captured, trusted: tuple[str, ...], keeper: Keeper | None = None) -> list[Step]:
    """The steps that lead an object back to a state; `trusted` are the packages that its classes come from."""
    try:
        return _Recall(captured, trusted, keeper or Keeper()).run(root)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise SnapshotError(f"the snapshot is damaged ({type(error).__name__}: {error})") from error


class _Recall:
    """One way back."""

    def __init__(self, captured: Captured, trusted: tuple[str, ...], keeper: Keeper) -> None:
        self._captured = captured
        self._source = Source(captured.block)
        self._keeper = keeper
        self._trusted = trusted
        self._steps: list[Step] = []
        self._later: list[tuple[dict[str, Any], dict[str, Any]]] = []   # attributes of objects, and what they are to be
        self._things: dict[int, Any] = {}           # objects and bundles, by number
        self._arrays: dict[int, NDArray[Any]] = {}
        self._taken: set[int] = set()               # ids of the arrays that are written over
        self._sparse: dict[int, Sparse] = {}        # arrays that are written by rows
        self._shared: list[tuple[Marked, Kept]] = []    # arrays with marks, and what is to be written over them
        self._marks: list[Step] = []                # what is done with the marks when all is written
        self._is_checked = True                     # it may come from anywhere
        self._written: dict[int, bool] = {}         # by number of marks: whether the keeper does not know their arrays

    def run(self, root: object) -> list[Step]:
        tree, _, _, rows = self._captured.tree
        outline = self._keeper.outlines.signed(self._captured.sign, root)
        self._is_checked = outline is None
        if outline is not None:
            self._follow(outline)
        elif self._value(tree, root) is not root:
            raise SnapshotError(f"the snapshot is not that of a {type(root).__name__}")
        for now, nodes in self._later:
            self._attributes(now, nodes)
        for k, stored in enumerate(rows):
            self._put_rows(self._sparse[k], stored)
        self._marks += [(_fill, (self._arrays[number], value)) for number, value in self._written.items()]
        return [self._source.step(), *self._steps, (self._keeper.bring_back, (self._shared,)), *self._marks]

    # --- what is as it was

    def _follow(self, outline: Outline) -> None:
        """Everything in an outline is where it was."""
        _, plain, later, _ = self._captured.tree
        arrays: Any = self._captured.arrays
        outline.measure()
        self._things = dict(enumerate(outline.things))
        self._taken = set(outline.array_number)
        self._arrays = outline.arrays.copy()
        self._sparse.update(enumerate(outline.sparse))
        for part, values, nodes in zip(outline.parts, plain, later, strict=True):
            if values:
                self._steps.append((dict.update, (vars(part.thing), dict(zip(part.plain, values, strict=True)))))
            if nodes:
                self._later.append((vars(part.thing), nodes))
        self._steps += [(_fill, scratch) for scratch in outline.scratch]
        where = arrays.where[: len(outline.rows)]
        for number in np.flatnonzero(rows_of(where) < outline.rows).tolist():
            rows = self._arrays[number][rows_of(where)[number] : outline.rows[number]]
            self._steps.append((_fill, (rows, outline.fill[number])))
        self._steps.append((take_out, (outline.listing, where, self._captured.block, outline)))
        for number, marked in outline.marked.items():
            kept = arrays.elsewhere[number]
            if kept.rows < marked.rows:
                self._steps.append((_fill, (marked.array[kept.rows : marked.rows], outline.fill[number])))
            self._shared.append((marked, kept))
        self._marks.append((clear_marks, (list(outline.marked.values()),)))

    # --- what may be another

    def _value(self, node: Any, there: Any, lengths: Mapping[str, int] | None = None) -> Any:
        """What a node stands for; `there` is what stands in its place now."""
        if not isinstance(node, (tuple, list)):
            return node
        tag = node[0]
        if tag in PLAIN_SERIES:
            return PLAIN_SERIES[tag](node[1])
        if tag == ARRAY:
            return self._array(node[1], there)
        if tag in (OBJECT, INNER):
            return self._object(node, there)
        if tag == BUNDLE:
            return self._bundle(node, there, lengths)
        if tag == AGAIN:
            return self._things[node[1]]
        if tag == POOL:
            return self._pool(node, there, lengths)
        if tag == DICT:
            keys, values = (self._value(part, None) for part in node[1:])
            return dict(zip(keys, values, strict=True))
        if tag in SERIES:
            return self._series(SERIES[tag], node[1], there)
        if tag == FEW:
            few = self._value(node[1], None)
            return [few[k] for k in node[2]]
        if tag == FLOAT:
            return float.fromhex(node[1])
        if tag == BYTES:
            return bytes.fromhex(node[1])
        raise ValueError(f"{tag!r} stands for nothing")

    def _series(self, kind: type[Any], nodes: tuple[Any, ...], there: Any) -> Any:
        """A list or the like. Bundles in it are written over; objects are not, which others may hold as values."""
        is_fit = type(there) is kind and kind in (list, tuple) and len(there) == len(nodes)
        before = [one if isinstance(one, tuple) else None for one in there] if is_fit else [None] * len(nodes)
        return kind(self._value(node, one) for node, one in zip(nodes, before, strict=True))

    def _object(self, node: Any, there: Any) -> Any:
        tag, number, name, *_, nodes = node
        kind: Any = type(there)
        if name_of(kind) != name:
            kind = self._class_of(name)
            there = object.__new__(kind)
        self._things[number] = there
        now = vars(there)
        held = set(nodes)
        if tag == OBJECT:                       # plain values and what comes later are not in the outline
            _, plain, later, _ = self._captured.tree
            values = dict(zip(node[4], plain[node[3]], strict=True))
            self._steps.append((dict.update, (now, values)))
            self._later.append((now, later[node[3]]))       # in the order in which it was captured
            held.update(values, later[node[3]])
        self._attributes(now, nodes)
        for attribute, before in now.items():
            if attribute not in held and attribute not in left_out(kind) and not callable(before):
                self._steps.append((dict.pop, (now, attribute, None)))
        return there

    def _attributes(self, now: dict[str, Any], nodes: dict[str, Any]) -> None:
        values = {name: self._value(node, now.get(name)) for name, node in nodes.items()}
        self._steps.append((dict.update, (now, values)))

    def _bundle(self, node: Any, there: Any, lengths: Mapping[str, int] | None) -> Any:
        _, number, name, nodes = node
        kind: Any = type(there)
        if name_of(kind) != name:
            kind, there = self._class_of(name), None
            if not issubclass(kind, tuple):
                raise TypeError(f"{name} is no bundle")
        elif hasattr(kind, "lengths_in_use"):
            lengths = there.lengths_in_use()
        before = [None] * len(nodes) if there is None else there
        is_plain = PLAIN.issuperset(map(type, nodes))
        values = list(nodes) if is_plain else self._fields(kind, nodes, before, lengths)
        is_same = there is not None and all(a is b for a, b in zip(values, there, strict=True))
        bundle = self._things[number] = there if is_same else tuple.__new__(kind, values)
        return bundle

    def _fields(self, kind: Any, nodes: Any, before: Any, lengths: Mapping[str, int] | None) -> list[Any]:
        """What the nodes of a bundle's fields stand for."""
        values: list[Any] = []
        for one, there_now, field in zip(nodes, before, fields_of(kind), strict=True):
            if field.axis is None:
                values.append(self._value(one, there_now, lengths))
                continue
            marks = None
            if field.marks >= 0:
                marks = self._marks_of(nodes[field.marks][1], before[field.marks], field.rows_per_mark)
            in_use = 0 if field.is_left or field.flags >= 0 else lengths.get(field.axis) if lengths else None
            values.append(self._array(one[1], there_now, in_use=in_use, fill=field.fill, marks=marks))
            if field.flags >= 0:
                flags = self._array(nodes[field.flags][1], before[field.flags], in_use=0)
                self._sparse[one[2]] = Sparse(values[-1], flags)
        return values

    def _pool(self, node: Any, there: Any, lengths: Mapping[str, int] | None) -> Pool:
        """A pool of which all items are in one array."""
        _, number, array, written = node
        before = carried(there) if isinstance(there, Pool) else make_pool(0)
        marks = self._marks_of(written, before.written, CHUNK)
        items = self._array(array, before.items, in_use=lengths.get("items") if lengths else None, marks=marks)
        is_same = items is before.items and self._arrays[written] is before.written
        pool = self._things[number] = before if is_same else before._replace(items=items, written=self._arrays[written])
        return pool

    def _marks_of(self, number: int, there: Any, rows_per_mark: int) -> tuple[int, int]:
        """Make sure that there are marks of this number; for `_array`."""
        self._array(number, there, in_use=0, fill=True)
        return number, rows_per_mark

    def _array(
        self, number: int, there: Any, *, in_use: int | None = None, fill: int = 0, marks: tuple[int, int] | None = None
    ) -> NDArray[Any]:
        """An array, written over the one that is there if that has the same shape; so many rows of it are in use.

        `marks` are the number of its marks and the rows that each of them stands for.
        """
        stored = self._captured.arrays[number]
        if marks is not None:
            self._written[marks[0]] = self._written.get(marks[0], False) or not self._keeper.owns(stored)
        if number in self._arrays:
            return self._arrays[number]
        target: NDArray[Any] = self._target(stored, there)
        unused = len(target) if fill else 0                 # of a new array
        last = unused if target is not there else len(target) if in_use is None else in_use
        self._arrays[number] = target
        self._taken.add(id(target))
        if stored.rows < last:
            self._steps.append((_fill, (target[stored.rows : last], fill)))
        if not isinstance(stored, Kept):
            self._source.write(target, stored)
        elif marks is not None:
            marked = Marked(target, self._arrays[marks[0]], marks[1] or len(target), stored.rows)
            self._shared.append((marked, stored))
        else:
            raise ValueError(f"array {number} has no marks")
        return target

    def _target(self, stored: Stored | Kept, there: Any) -> Any:
        """The array to write over: the one that is there, if it is like the one to come."""
        shape, dtype = tuple(stored.shape), dtype_of(stored.dtype)
        is_fit = isinstance(there, np.ndarray) and there.shape == shape and there.dtype == dtype
        is_plain = isinstance(stored, Kept) or stored.words == 0
        if is_fit and there.flags.c_contiguous and there.flags.writeable and (is_plain or is_packable(there)):
            return there if id(there) not in self._taken else zeros(shape, dtype)
        return zeros(shape, dtype)

    def _put_rows(self, sparse: Sparse, stored: Any) -> None:
        """Write an array that is stored by rows."""
        numbers, rows = (self._source.read(self._captured.arrays[number]) for number in stored)
        array = sparse.array
        if rows.shape != (numbers.size, *array.shape[1:]) or numbers.dtype != np.int32 or rows.dtype != array.dtype:
            raise ValueError(f"{numbers.size} rows of the shape {rows.shape}")
        if self._is_checked and numbers.size and not 0 <= numbers.min() <= numbers.max() < len(array):
            raise ValueError("rows that do not lie in their array")
        self._steps.append((_put_rows, (sparse, numbers, rows)))

    def _class_of(self, name: str) -> type[Any]:
        """A class by its name. It is loaded already, or it is none of ours."""
        module, _, path = name.partition(":")
        if module.partition(".")[0] not in self._trusted:
            raise SnapshotError(f"the snapshot holds a {name}, which is no part of this world")
        kind = functools.reduce(getattr, path.split("."), sys.modules[module])
        if not isinstance(kind, type):
            raise TypeError(f"{name} is no class")
        return kind


def _fill(rows: NDArray[Any], value: int) -> None:
    rows[...] = value


def _put_rows(sparse: Sparse, numbers: NDArray[np.int32], rows: NDArray[Any]) -> None:
    """Write some rows of an array, and zeros into all others."""
    put_rows(words_of(sparse.array), sparse.flags, np.flatnonzero(sparse.flags), numbers, words_of(rows))
