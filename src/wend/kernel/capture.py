# mypy: disallow-untyped-calls=False
"""Capture: the state of an object and of all that it holds, as numbers and one block of bytes, and back again.

`capture` walks from an object through its attributes, and writes down what it finds as a tree of plain values. The
arrays go into one block: those of a pool, or of any bundle that says so in `lengths_in_use`, only as far as they are
used, and long ones packed (storing.py). Of arrays with marks, only what was written since the last capture is copied,
if there is a keeper (keeping.py); the marks themselves are not captured.

`recall` leads an object of the same making back to what was captured. It changes nothing yet: it answers with the steps
that do, each of which can be made twice without harm. What is there already is written over, so that those who share an
array go on sharing it; what has another shape by now is made anew.

No code comes out of a capture: a class is known by its name, and must be one that is loaded already, from the modules
that the caller trusts. Functions, and the attributes that a class names in `uncaptured`, are left as they are.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import SnapshotError
from wend.kernel.arrays import fields_of, zeros
from wend.kernel.keeping import Keeper, Kept, Marked
from wend.kernel.pools import CHUNK, Pool, carried, make_pool
from wend.kernel.storing import Block, Layout, Source, Step, Stored, check_stored, code_of, dtype_of, store

# The first item of what stands in the tree for a value that is not plain.
_ARRAY, _POOL, _BUNDLE, _OBJECT, _AGAIN, _FLOAT, _BYTES, _DICT, _FEW = "a", "p", "t", "o", "r", "x", "b", "d", "m"
_SERIES: dict[str, type[Any]] = {"l": list, "u": tuple, "s": set, "f": frozenset, "q": deque}
_PLAIN_SERIES = {tag.upper(): kind for tag, kind in _SERIES.items()}       # of plain values alone
_TAG_OF = {kind: tag for tag, kind in _SERIES.items()}
_PLAIN = frozenset((type(None), bool, int, str))

class Captured(NamedTuple):
    """The state of an object."""

    tree: Any
    arrays: Sequence[Stored | Kept]
    block: Block

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take, what they share with other captures included."""
        return self.block.nbytes + sum(stored.nbytes for stored in self.arrays if isinstance(stored, Kept))


def capture(root: object, keeper: Keeper | None = None) -> Captured:
    """The state of an object, and of all that it holds. With its keeper it shares arrays with captures before it."""
    return _Capture(keeper).run(root)


def recall(
    root: object, captured: Captured, trusted: tuple[str, ...], keeper: Keeper | None = None
) -> list[Step]:
    """The steps that lead an object back to a state; `trusted` are the packages that its classes come from."""
    try:
        return _Recall(captured, trusted, keeper or Keeper()).run(root)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise SnapshotError(f"the snapshot is damaged ({type(error).__name__}: {error})") from error


def in_one_block(captured: Captured) -> Captured:
    """The same with all arrays in its block."""
    source = Source(captured.block)
    layouts: list[Layout] = []
    for stored in captured.arrays:
        if isinstance(stored, Kept):
            layouts.append(Layout(stored.content(), stored.rows, stored.shape))
        else:
            rows = zeros((stored.rows, *stored.shape[1:]), dtype_of(stored.dtype))
            layouts.append(Layout(rows, stored.rows, stored.shape))
            for step, given in source.steps_into(layouts[-1], stored):
                step(*given)
    return Captured(captured.tree, *store(layouts))


def check(captured: Captured) -> None:
    """Raise a ValueError if an array does not lie in the block: kernels do not look where they read."""
    for stored in captured.arrays:
        if isinstance(stored, Stored):
            check_stored(stored, captured.block)


# --- there ----------------------------------------------------------------------------------------------------------


class _Unheld(Exception):
    """Something that cannot be captured, and how one gets there."""

    def __init__(self, value: object) -> None:
        self.kind = type(value)
        self.path: list[str] = []


class _Steady(NamedTuple):
    """A bundle of nothing but numbers, whole arrays without marks and other such bundles, as a walk met it.

    As long as it is the same one, and was met in the same place, so are they: there is no need to look at each.
    """

    bundle: Any
    node: Any                   # what stands for it in the tree
    things: dict[int, Any]      # it and the bundles in it, by number
    numbers: dict[int, int]     # ... by id: the number
    first: int                  # number of its first array
    layouts: list[Layout]
    arrays: dict[int, int]      # by id: the number


class _Capture:
    """One walk."""

    def __init__(self, keeper: Keeper | None) -> None:
        self._keeper = keeper
        self._things: list[Any] = []            # objects and bundles that were met
        self._number: dict[int, int] = {}       # ... by id
        self._found: list[Layout] = []          # of arrays
        self._array_number: dict[int, int] = {}
        self._marked: dict[int, Marked] = {}    # by number: arrays for the keeper, of which _found has no rows
        self._layouts = {} if keeper is None else keeper.layouts
        self._steady_before = {} if keeper is None else keeper.steady
        self._steady: dict[int, _Steady] = {}
        self._unsteady = 0                      # how often something was met that no steady bundle has

    def run(self, root: object) -> Captured:
        try:
            tree = self._value(root)
        except _Unheld as unheld:
            path = ".".join((type(root).__name__.lower(), *reversed(unheld.path)))
            raise SnapshotError(
                f"{path} is a {unheld.kind.__name__}, which a snapshot cannot hold: keep state in numbers, texts, "
                f"arrays, lists and dicts, or name the attribute in `uncaptured`"
            ) from None
        stored, block = store(self._found)
        if self._keeper is None:
            return Captured(tree, stored, block)
        self._keeper.layouts = {id(one.array): one for one in self._found}
        self._keeper.steady = self._steady
        kept = self._keeper.keep(list(self._marked.values()))
        shared = dict(zip(self._marked, kept, strict=True))
        return Captured(tree, [shared.get(k, one) for k, one in enumerate(stored)], block)

    def _value(self, value: Any, lengths: Mapping[str, int] | None = None) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is np.ndarray:
            return _ARRAY, self._array(value)
        if isinstance(value, tuple) and hasattr(kind, "_fields") and id(value) not in self._number:
            return self._bundle(value, lengths)
        self._unsteady += 1
        if kind in _TAG_OF:
            return self._series(value)
        if kind is dict:
            return _DICT, self._series(list(value)), self._series(list(value.values()))
        if kind is float:
            return _FLOAT, value.hex()
        if kind is bytes:
            return _BYTES, value.hex()
        number = self._number.get(id(value))
        if number is not None:
            return _AGAIN, number
        if callable(value) or not hasattr(value, "__dict__"):
            raise _Unheld(value)
        return self._object(value)

    def _series(self, values: Any) -> Any:
        tag = _TAG_OF[type(values)]
        if _PLAIN.issuperset(map(type, values)):
            return tag.upper(), tuple(values)
        few = {id(value): value for value in values}
        if type(values) is list and 4 * len(few) <= len(values):        # the order of a group, for each of its agents
            place = {key: k for k, key in enumerate(few)}
            return _FEW, self._series(list(few.values())), tuple(place[id(value)] for value in values)
        return tag, tuple(self._value(value) for value in values)

    def _object(self, thing: Any) -> Any:
        number = self._meet(thing)
        kind: Any = type(thing)
        held, left_out = {}, _left_out(kind)
        for name, value in vars(thing).items():
            if name in left_out or callable(value):
                continue
            try:
                held[name] = value if type(value) in _PLAIN else self._value(value)
            except _Unheld as unheld:
                unheld.path.append(name)
                raise
        return _OBJECT, number, _name_of(kind), held

    def _meet(self, thing: Any) -> int:
        """The number of an object or a bundle that was not met before."""
        number = self._number[id(thing)] = len(self._things)
        self._things.append(thing)
        return number

    def _bundle(self, bundle: Any, lengths: Mapping[str, int] | None) -> Any:
        kind: Any = type(bundle)
        if hasattr(kind, "lengths_in_use"):
            lengths = bundle.lengths_in_use()
        elif lengths is None:
            return self._perhaps_steady(bundle)
        self._unsteady += 1
        return self._pool(bundle, lengths) if kind is Pool else self._fields(bundle, lengths)

    def _perhaps_steady(self, bundle: Any) -> Any:
        """A bundle that may be as it was at the last snapshot."""
        first, first_array, unsteady = len(self._things), len(self._found), self._unsteady
        steady = self._steady_before.get(id(bundle))
        if (
            steady is not None
            and steady.bundle is bundle
            and steady.first == first_array
            and next(iter(steady.things)) == first
            and self._number.keys().isdisjoint(steady.numbers)
            and self._array_number.keys().isdisjoint(steady.arrays)
        ):
            self._things += steady.things.values()
            self._number.update(steady.numbers)
            self._found += steady.layouts
            self._array_number.update(steady.arrays)
            self._steady[id(bundle)] = steady
            return steady.node
        node = self._pool(bundle, None) if type(bundle) is Pool else self._fields(bundle, None)
        if self._unsteady == unsteady:
            things, layouts = dict(enumerate(self._things[first:], first)), self._found[first_array:]
            numbers = {id(thing): number for number, thing in things.items()}
            arrays = {id(layout.array): number for number, layout in enumerate(layouts, first_array)}
            self._steady[id(bundle)] = _Steady(bundle, node, things, numbers, first_array, layouts, arrays)
        return node

    def _pool(self, bundle: Pool, lengths: Mapping[str, int] | None) -> Any:
        pool = carried(bundle)
        in_use = None if lengths is None else lengths.get("items")
        items = self._array(pool.items, in_use, (pool.written, CHUNK))
        return _POOL, self._meet(bundle), items, self._array(pool.written, 0)

    def _fields(self, bundle: Any, lengths: Mapping[str, int] | None) -> Any:
        kind: Any = type(bundle)
        values: list[Any] = []
        for value, field in zip(bundle, fields_of(kind), strict=True):
            if field.axis is None:
                values.append(self._value(value, lengths))
            else:
                in_use = 0 if field.is_marks else lengths.get(field.axis) if lengths is not None else None
                marks = None if field.marks < 0 else (bundle[field.marks], field.rows_per_mark)
                values.append((_ARRAY, self._array(value, in_use, marks)))
        return _BUNDLE, self._meet(bundle), _name_of(kind), tuple(values)

    def _array(
        self, array: NDArray[Any], in_use: int | None = None, marks: tuple[NDArray[np.bool_], int] | None = None
    ) -> int:
        number = self._array_number.get(id(array))
        if number is not None:
            self._unsteady += 1
            return number
        if array.ndim == 0:
            raise _Unheld(array)
        rows = len(array) if in_use is None else in_use
        number = self._array_number[id(array)] = len(self._found)
        if marks is not None and self._keeper is not None and array.size > 0:
            self._unsteady += 1
            self._marked[number] = Marked(array, marks[0], marks[1] or len(array), rows)
            rows = 0
        layout = self._layouts.get(id(array))
        if layout is None or layout.array is not array or layout.rows != rows:
            if array.flags.c_contiguous:
                layout = Layout(array, rows)
            else:
                self._unsteady += 1
                layout = Layout(array.copy(), rows)
        self._found.append(layout)
        return number


# --- and back -------------------------------------------------------------------------------------------------------


class _Recall:
    """One way back."""

    def __init__(self, captured: Captured, trusted: tuple[str, ...], keeper: Keeper) -> None:
        self._captured = captured
        self._captured = captured
        self._source = Source(captured.block)
        self._keeper = keeper
        self._trusted = trusted
        self._steps: list[Step] = []
        self._things: dict[int, Any] = {}           # objects and bundles, by number
        self._arrays: dict[int, NDArray[Any]] = {}
        self._taken: set[int] = set()               # ids of the arrays that are written over
        self._written: dict[int, bool] = {}         # by number of marks: whether the keeper does not know their arrays

    def run(self, root: object) -> list[Step]:
        if self._value(self._captured.tree, root) is not root:
            raise SnapshotError(f"the snapshot is not that of a {type(root).__name__}")
        return self._steps + [(_fill, (self._arrays[number], value)) for number, value in self._written.items()]

    def _value(self, node: Any, there: Any, lengths: Mapping[str, int] | None = None) -> Any:
        """What a node stands for; `there` is what stands in its place now."""
        if not isinstance(node, (tuple, list)):
            return node
        tag = node[0]
        if tag == _ARRAY:
            return self._array(node[1], there)
        if tag == _OBJECT:
            return self._object(node, there)
        if tag == _BUNDLE:
            return self._bundle(node, there, lengths)
        if tag == _AGAIN:
            return self._things[node[1]]
        if tag == _POOL:
            return self._pool(node, there, lengths)
        if tag == _DICT:
            keys, values = (self._value(part, None) for part in node[1:])
            return dict(zip(keys, values, strict=True))
        if tag in _PLAIN_SERIES:
            return _PLAIN_SERIES[tag](node[1])
        if tag in _SERIES:
            return self._series(_SERIES[tag], node[1], there)
        if tag == _FEW:
            few = self._value(node[1], None)
            return [few[k] for k in node[2]]
        if tag == _FLOAT:
            return float.fromhex(node[1])
        if tag == _BYTES:
            return bytes.fromhex(node[1])
        raise ValueError(f"{tag!r} stands for nothing")

    def _series(self, kind: type[Any], nodes: tuple[Any, ...], there: Any) -> Any:
        """A list or the like. Bundles in it are written over; objects are not, which others may hold as values."""
        is_fit = type(there) is kind and kind in (list, tuple) and len(there) == len(nodes)
        before = [one if isinstance(one, tuple) else None for one in there] if is_fit else [None] * len(nodes)
        return kind(self._value(node, one) for node, one in zip(nodes, before, strict=True))

    def _object(self, node: Any, there: Any) -> Any:
        _, number, name, held = node
        kind: Any = type(there)
        if _name_of(kind) != name:
            kind = self._class_of(name)
            there = object.__new__(kind)
        self._things[number] = there
        now = vars(there)
        for attribute, one in held.items():
            before = now.get(attribute)
            value = self._value(one, before)
            if value is not before or attribute not in now:
                self._steps.append((dict.__setitem__, (now, attribute, value)))
        left_out = _left_out(kind)
        for attribute, before in now.items():
            if attribute not in held and attribute not in left_out and not callable(before):
                self._steps.append((dict.pop, (now, attribute, None)))
        return there

    def _bundle(self, node: Any, there: Any, lengths: Mapping[str, int] | None) -> Any:
        steady = self._keeper.steady.get(id(there))
        if (
            steady is not None
            and steady.bundle is there
            and steady.node is node
            and self._taken.isdisjoint(steady.arrays)
        ):
            self._take(steady)
            return there
        _, number, name, nodes = node
        kind: Any = type(there)
        if _name_of(kind) != name:
            kind, there = self._class_of(name), None
            if not issubclass(kind, tuple):
                raise TypeError(f"{name} is no bundle")
        elif hasattr(kind, "lengths_in_use"):
            lengths = there.lengths_in_use()
        before = [None] * len(nodes) if there is None else there
        values = []
        for one, there_now, field in zip(nodes, before, fields_of(kind), strict=True):
            if field.axis is None:
                values.append(self._value(one, there_now, lengths))
                continue
            marks = None
            if field.marks >= 0:
                marks = self._marks(nodes[field.marks][1], before[field.marks], field.rows_per_mark)
            in_use = 0 if field.is_marks else lengths.get(field.axis) if lengths else None
            values.append(self._array(one[1], there_now, in_use=in_use, fill=field.fill, marks=marks))
        is_same = there is not None and all(a is b for a, b in zip(values, there, strict=True))
        bundle = self._things[number] = there if is_same else tuple.__new__(kind, values)
        return bundle

    def _take(self, steady: _Steady) -> None:
        """Write over a bundle that is the same as when the snapshot was taken."""
        self._things.update(steady.things)
        self._taken.update(steady.arrays)
        stored: Any = self._captured.arrays         # none of these has marks
        for number, layout in enumerate(steady.layouts, steady.first):
            self._arrays[number] = layout.array
            self._steps += self._source.steps_into(layout, stored[number])

    def _pool(self, node: Any, there: Any, lengths: Mapping[str, int] | None) -> Pool:
        """A pool of which all items are in one array."""
        _, number, array, written = node
        before = carried(there) if isinstance(there, Pool) else make_pool(0)
        marks = self._marks(written, before.written, CHUNK)
        items = self._array(array, before.items, in_use=lengths.get("items") if lengths else None, marks=marks)
        is_same = items is before.items and self._arrays[written] is before.written
        pool = self._things[number] = before if is_same else before._replace(items=items, written=self._arrays[written])
        return pool

    def _marks(self, number: int, there: Any, rows_per_mark: int) -> tuple[int, int]:
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
            is_ours = isinstance(stored, Kept) and stored.shelf.owner is self._keeper.sign
            self._written[marks[0]] = self._written.get(marks[0], False) or not is_ours
        if number in self._arrays:
            return self._arrays[number]
        target, layout = self._target(stored, there)
        unused = len(target) if fill else 0                 # of a new array
        last = unused if target is not there else len(target) if in_use is None else in_use
        self._arrays[number] = target
        self._taken.add(id(target))
        if stored.rows < last:
            self._steps.append((_fill, (target[stored.rows : last], fill)))
        if not isinstance(stored, Kept):
            if layout is None or layout.rows != stored.rows:
                layout = Layout(target, stored.rows)
            self._steps += self._source.steps_into(layout, stored)
        elif marks is not None:
            written = self._arrays[marks[0]]
            self._steps.append((self._keeper.bring_back, (target, written, marks[1] or len(target), stored)))
        else:
            raise ValueError(f"array {number} has no marks")
        return target

    def _target(self, stored: Stored | Kept, there: Any) -> tuple[NDArray[Any], Layout | None]:
        """The array to write over: the one that is there, if it is like the one to come; and its layout if known."""
        if isinstance(there, np.ndarray) and id(there) not in self._taken and there.flags.writeable:
            layout = self._keeper.layouts.get(id(there))
            if layout is not None and layout.array is there:
                if layout.shape == stored.shape and layout.dtype == stored.dtype:
                    return there, layout
            elif there.shape == stored.shape and there.flags.c_contiguous and code_of(there.dtype) == stored.dtype:
                return there, None
        return zeros(stored.shape, dtype_of(stored.dtype)), None

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


@functools.cache
def _name_of(kind: Any) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


@functools.cache
def _left_out(kind: Any) -> frozenset[str]:
    """The attributes that a class and its bases name in `uncaptured`."""
    return frozenset(name for base in kind.__mro__ for name in vars(base).get("uncaptured", ()))
