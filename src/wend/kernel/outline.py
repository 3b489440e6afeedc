# mypy: disallow-untyped-calls=False
"""Outlines: what a walk through an object finds, and what of it stays the same until the next walk.

From one snapshot to the next, a world has the same objects, and these hold the same bundles and arrays. So all of them
are found once, and remembered as an outline. It holds as long as every attribute in it is the very object that it was
then. What a snapshot has to look at each time is what does not stay:

- plain values, and how much of an array is in use;
- what comes later: lists and the like, and bundles and arrays that were replaced time and again.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel.arrays import fields_of
from wend.kernel.pools import CHUNK, Pool, carried
from wend.kernel.storing import Layout, Marked, Sparse, layout_of, listing_of

# The first item of what stands in the tree for a value that is not plain.
ARRAY, ROWS, POOL, BUNDLE, OBJECT, AGAIN = "a", "w", "p", "t", "o", "r"
INNER, FLOAT, BYTES, DICT, FEW = "i", "x", "b", "d", "m"
SERIES: dict[str, type[Any]] = {"l": list, "u": tuple, "s": set, "f": frozenset, "q": deque}
PLAIN_SERIES = {tag.upper(): kind for tag, kind in SERIES.items()}      # of plain values alone
TAG_OF = {kind: tag for tag, kind in SERIES.items()}
PLAIN = frozenset((type(None), bool, int, str))

Names = tuple[str, ...]
Attribute = tuple[type[Any], str]       # of all objects of a class


class Unheld(Exception):
    """Something that cannot be captured, and how one gets there."""

    def __init__(self, value: object) -> None:
        self.kind = type(value)
        self.path: list[str] = []


class Sized(NamedTuple):
    """A bundle that knows how much is in use of its arrays, and of those in bundles that it holds."""

    bundle: Any
    arrays: list[tuple[int, str, int]]  # the number of each, the name of its first axis, and what it is filled with


class Part:
    """An object of an outline."""

    __slots__ = (
        "_held", "_names", "_plain_values", "_steady", "_steady_values", "later", "path", "plain", "thing",
    )  # fmt: skip

    def __init__(self, thing: Any, path: str) -> None:
        self.thing = thing
        self.path = path                # how one gets there
        self.plain: Names = ()          # its attributes with plain values
        self.later: Names = ()          # ... and with what is looked at each time
        self._names: Names = ()         # all of them
        self._steady: Names = ()        # those that are to stay,
        self._held: tuple[Any, ...] = ()    # ... and what they hold
        self._plain_values = self._steady_values = _getter(())

    def sort(self, plain: list[str], steady: list[str], later: list[str]) -> None:
        """Say which attributes are what."""
        self._names = tuple(vars(self.thing))
        self.plain, self._steady, self.later = tuple(plain), tuple(steady), tuple(later)
        self._plain_values, self._steady_values = _getter(self.plain), _getter(self._steady)
        self._held = self._steady_values(vars(self.thing))

    def plain_values(self) -> tuple[Any, ...]:
        """The plain values of its attributes."""
        return self._plain_values(vars(self.thing))

    def holds(self) -> bool:
        """Whether nothing is different but plain values, and what comes later."""
        now = vars(self.thing)
        return (
            tuple(now) == self._names
            and all(map(operator.is_, self._steady_values(now), self._held))
            and PLAIN.issuperset(map(type, self._plain_values(now)))
        )

    def replaced(self) -> set[Attribute]:
        """Its arrays and bundles that are others now."""
        now, kind = vars(self.thing), type(self.thing)
        return {
            (kind, name)
            for name, then in zip(self._steady, self._held, strict=True)
            if now.get(name) is not then and isinstance(then, (np.ndarray, tuple))
        }


def _getter(names: Names) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """What has a dict's values of these names."""
    if len(names) > 1:
        return operator.itemgetter(*names)
    (name,) = names or (None,)
    return (lambda table: (table[name],)) if name is not None else lambda _table: ()


class Findings:
    """What a walk has met: bundles, objects and arrays, by number. A second walk counts on from the first."""

    def __init__(self, before: Findings | None = None) -> None:
        self.things: list[Any] = [] if before is None else before.things.copy()     # objects and bundles
        self.number: dict[int, int] = {} if before is None else before.number.copy()            # ... by id
        self._arrays_before = 0 if before is None else len(before.layouts)
        self.layouts: list[Layout] = []     # of arrays that the walk before has not met,
        self.rows: list[int] = []           # ... and how many rows are in use
        self.array_number: dict[int, int] = {} if before is None else before.array_number.copy()
        self.sparse: list[Sparse] = [] if before is None else before.sparse.copy()
        self.scratch: list[tuple[NDArray[Any], int]] = []       # and what it is filled with
        self.sized: list[Sized] = []
        self.pools: list[Pool] = []
        self.is_sharing: bool = before is not None and before.is_sharing    # whether there is a keeper: it
        self.marked: dict[int, Marked] = {} if before is None else before.marked.copy()     # ... has these arrays, by
                                                                        # ... number, and their layouts have no rows

    def meet(self, thing: Any) -> int:
        """The number of an object or a bundle that was not met before."""
        number = self.number[id(thing)] = len(self.things)
        self.things.append(thing)
        return number

    def bundle(self, bundle: Any, sized: Sized | None = None, lengths: Mapping[str, int] | None = None) -> Any:
        """What stands for a bundle in the tree; `sized` is the one around it that knows how much is in use."""
        number = self.number.get(id(bundle))
        if number is not None:
            return AGAIN, number
        kind: Any = type(bundle)
        if PLAIN.issuperset(map(type, bundle)):
            return BUNDLE, self.meet(bundle), name_of(kind), tuple(bundle)
        if hasattr(kind, "lengths_in_use"):
            sized, lengths = Sized(bundle, []), bundle.lengths_in_use()
            self.sized.append(sized)
        if kind is Pool:
            self.pools.append(carried(bundle))
            items = self._part(bundle.items, "items", 0, sized, lengths, (bundle.written, CHUNK))
            return POOL, self.meet(bundle), items, self.array(bundle.written, 0)
        values: list[Any] = []
        for value, field in zip(bundle, fields_of(kind), strict=True):
            if field.axis is None:
                values.append(self.field(value, sized, lengths))
            elif field.is_left or field.is_scratch:
                values.append((ARRAY, self.array(value, 0)))
                if field.is_scratch:
                    self.scratch.append((value, field.fill))
            elif field.flags >= 0:
                self.sparse.append(Sparse(value, bundle[field.flags]))
                values.append((ROWS, self.array(value, 0), len(self.sparse) - 1))
            else:
                marks = None if field.marks < 0 else (bundle[field.marks], field.rows_per_mark or len(value))
                values.append((ARRAY, self._part(value, field.axis, field.fill, sized, lengths, marks)))
        return BUNDLE, self.meet(bundle), name_of(kind), tuple(values)

    def field(self, value: Any, sized: Sized | None, lengths: Mapping[str, int] | None) -> Any:
        """What stands for a value in a bundle that is no declared array."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is np.ndarray:
            return ARRAY, self.array(value)
        if kind is float:
            return FLOAT, value.hex()
        return self.bundle(value, sized, lengths)

    def _part(
        self, array: NDArray[Any], axis: str, fill: int, sized: Sized | None, lengths: Mapping[str, int] | None,
        marks: tuple[NDArray[np.bool_], int] | None,
    ) -> int:  # fmt: skip
        """The number of an array of which perhaps only a part is in use, and which perhaps has marks."""
        is_new = id(array) not in self.array_number
        rows = len(array) if lengths is None else lengths.get(axis, len(array))
        is_kept = marks is not None and self.is_sharing and array.size > 0
        number = self.array(array, 0 if is_kept else rows)
        if is_new and sized is not None:
            sized.arrays.append((number, axis, fill))
        if is_new and is_kept and marks is not None:
            self.marked[number] = Marked(array, *marks, rows)
        return number

    def array(self, array: NDArray[Any], rows: int | None = None) -> int:
        """The number of an array of which so many rows are in use."""
        number = self.array_number.get(id(array))
        if number is None:
            if array.ndim == 0:
                raise Unheld(array)
            number = self.array_number[id(array)] = self._arrays_before + len(self.layouts)
            self.layouts.append(layout_of(array if array.flags.c_contiguous else array.copy()))
            self.rows.append(len(array) if rows is None else rows)
        return number


class Outline(Findings):
    """The objects, bundles and arrays of an object, found in one walk."""

    def __init__(self, root: object, varying: set[Attribute], *, is_sharing: bool) -> None:
        """`varying` are attributes that are looked at each time."""
        super().__init__()
        self.root = root
        self.sign = object()            # of captures that have it: these do not keep the root alive
        self.is_sharing = is_sharing
        self.parts: list[Part] = []
        self._varying = varying
        self.tree = self._object(root, type(root).__name__.lower())
        self.arrays = {number: layout.array for number, layout in enumerate(self.layouts)}
        self._lengths: list[Mapping[str, int] | None] = [None] * len(self.sized)    # as they were looked at last
        self.fill = {number: fill for sized in self.sized for number, _, fill in sized.arrays}
        self.listing, self.kinds = listing_of(self.layouts), [layout.kind for layout in self.layouts]

    def _object(self, thing: Any, path: str) -> Any:
        number = self.number.get(id(thing))
        if number is not None:
            return AGAIN, number
        kind: Any = type(thing)
        number, place = self.meet(thing), len(self.parts)
        part = Part(thing, path)
        self.parts.append(part)
        plain, steady, later, nodes = list[str](), list[str](), list[str](), dict[str, Any]()
        for name, value in vars(thing).items():
            if name in left_out(kind):
                continue
            if type(value) in PLAIN:
                plain.append(name)
            elif callable(value):
                steady.append(name)
            elif (kind, name) not in self._varying and _is_steady(value):
                steady.append(name)
                nodes[name] = (ARRAY, self.array(value)) if type(value) is np.ndarray else self.bundle(value)
            elif not is_object(value):
                later.append(name)
            else:
                steady.append(name)
                nodes[name] = self._object(value, f"{path}.{name}")
        part.sort(plain, steady, later)
        return OBJECT, number, name_of(kind), place, part.plain, nodes

    def holds(self) -> bool:
        """Whether all that it has found is still there."""
        return all(part.holds() for part in self.parts)

    def replaced(self) -> set[Attribute]:
        """Arrays and bundles that are others now."""
        return set[Attribute]().union(*(part.replaced() for part in self.parts))

    def measure(self) -> None:
        """Look again how much of its arrays is in use."""
        for pool in self.pools:
            if pool.counts["until"].item() > 0:
                carried(pool)
        for k, (bundle, arrays) in enumerate(self.sized):
            lengths = bundle.lengths_in_use()
            if lengths == self._lengths[k]:
                continue
            self._lengths[k] = lengths
            for number, axis, _ in arrays:
                rows = lengths.get(axis, len(self.arrays[number]))
                if number in self.marked:
                    self.marked[number].rows = rows
                else:
                    self.rows[number] = rows


class Outlines:
    """The last outline of an object, and which of its attributes were replaced time and again."""

    def __init__(self) -> None:
        self._last: Outline | None = None
        self._replaced: set[Attribute] = set()      # between the last two outlines
        self._varying: set[Attribute] = set()

    def of(self, root: object) -> Outline:
        """The outline of an object as it is now."""
        last = self._last
        if last is not None and last.root is root:
            if last.holds():
                last.measure()
                return last
            replaced = last.replaced()
            self._varying |= replaced & self._replaced
            self._replaced = replaced
        self._last = Outline(root, self._varying, is_sharing=True)
        return self._last

    def signed(self, sign: object, root: object) -> Outline | None:
        """The outline with this sign, if it is the last one and holds for an object."""
        last = self._last
        return last if last is not None and last.sign is sign and last.root is root and last.holds() else None


def is_object(value: Any) -> bool:
    """Whether a value has attributes to walk through."""
    return type(value) is not np.ndarray and not isinstance(value, tuple) and hasattr(value, "__dict__")


def _is_steady(value: Any) -> bool:
    """Whether a value is an array, or a bundle of nothing but numbers, arrays and other such bundles."""
    kind = type(value)
    if kind is np.ndarray:
        return value.ndim > 0 and bool(value.flags.c_contiguous)
    return is_bundle(value) and all(
        type(one) in PLAIN or type(one) is float or (isinstance(one, (np.ndarray, tuple)) and _is_steady(one))
        for one in value
    )


def is_bundle(value: Any) -> bool:
    """Whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


@functools.cache
def name_of(kind: Any) -> str:
    """How a class is called in the tree."""
    return f"{kind.__module__}:{kind.__qualname__}"


@functools.cache
def left_out(kind: Any) -> frozenset[str]:
    """The attributes that a class and its bases name in `uncaptured`."""
    return frozenset(name for base in kind.__mro__ for name in vars(base).get("uncaptured", ()))
