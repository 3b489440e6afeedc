# mypy: disallow-untyped-calls=False
"""Capture: the state of an object and of all that it holds, as numbers and one block of bytes, and back again.

`capture` walks from an object through its attributes, and writes down what it finds as a tree of plain values. The
arrays go into one block: those of a pool, or of any bundle that says so in `lengths_in_use`, only as far as they are
used, and long ones packed (packing.py).

`recall` leads an object of the same making back to what was captured. It changes nothing yet: it answers with the steps
that do, each of which can be made twice without harm. What is there already is written over, so that those who share an
array go on sharing it; what has another shape by now is made anew.

No code comes out of a capture: a class is known by its name, and must be one that is loaded already, from the modules
that the caller trusts. Functions, and the attributes that a class names in `uncaptured`, are left as they are.
"""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import SnapshotError
from wend.kernel.arrays import first_axes, zeros
from wend.kernel.packing import LINE, pack, packed_size, unpack
from wend.kernel.pools import Pool, items_of, make_pool

_LINE_BYTES = 8 * LINE
_PADDING = [bytes(-size % 8) for size in range(8)]
_PACKED_FROM = 4096     # bytes; below that, to look for empty lines takes longer than to copy them

# The first item of what stands in the tree for a value that is not plain.
_ARRAY, _POOL, _BUNDLE, _OBJECT, _AGAIN, _FLOAT, _BYTES, _DICT, _FEW = "a", "p", "t", "o", "r", "x", "b", "d", "m"
_SERIES: dict[str, type[Any]] = {"l": list, "u": tuple, "s": set, "f": frozenset, "q": deque}
_PLAIN_SERIES = {tag.upper(): kind for tag, kind in _SERIES.items()}       # of plain values alone
_TAG_OF = {kind: tag for tag, kind in _SERIES.items()}
_PLAIN = frozenset((type(None), bool, int, str))

Block = NDArray[np.uint64]
Step = tuple[Callable[..., Any], tuple[Any, ...]]


class Stored(NamedTuple):
    """Where an array lies in the block."""

    dtype: str
    shape: tuple[int, ...]
    rows: int               # so many of its first rows were in use
    begin: int              # word of the block where the packed lines begin
    words: int              # that they take
    empty: int              # the word, as an int64, that the lines that were left out consist of
    rest: int               # byte of the block where what is not packed begins


class Captured(NamedTuple):
    """The state of an object."""

    tree: Any
    arrays: list[Stored]
    block: Block


def capture(root: object) -> Captured:
    """The state of an object, and of all that it holds."""
    return _Capture().run(root)


def recall(root: object, captured: Captured, trusted: tuple[str, ...]) -> list[Step]:
    """The steps that lead an object back to a state; `trusted` are the packages that its classes come from."""
    try:
        return _Recall(captured, trusted).run(root)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise SnapshotError(f"the snapshot is damaged ({type(error).__name__}: {error})") from error


def check(captured: Captured) -> None:
    """Raise a ValueError if an array does not lie in the block: kernels do not look where they read."""
    for stored in captured.arrays:
        rows, row = stored.rows, _dtype_of(stored.dtype).itemsize * math.prod(stored.shape[1:])
        if not 0 <= rows <= stored.shape[0] or min(stored.shape) < 0 or min(stored.begin, stored.rest) < 0:
            raise ValueError(f"an array of the shape {stored.shape}")
        size = rows * row
        if stored.words:
            bits = -(-(size // _LINE_BYTES) // 64)
            kept = int.from_bytes(captured.block[stored.begin : stored.begin + bits].tobytes()).bit_count()
            if bits + LINE * kept != stored.words:
                raise ValueError(f"an array of {kept} lines")
            size %= _LINE_BYTES
        if max(8 * (stored.begin + stored.words), stored.rest + size) > captured.block.nbytes:
            raise ValueError("an array that does not end")


# --- there ----------------------------------------------------------------------------------------------------------


class _Unheld(Exception):
    """Something that cannot be captured, and how one gets there."""

    def __init__(self, value: object) -> None:
        self.kind = type(value)
        self.path: list[str] = []


class _Found(NamedTuple):
    """An array that is to be stored."""

    rows: NDArray[Any]          # those of its rows that are in use
    shape: tuple[int, ...]      # of the whole array
    packed_bytes: int


class _Spare(threading.local):
    words: Block = np.empty(0, np.uint64)


_spare = _Spare()


class _Capture:
    """One walk."""

    def __init__(self) -> None:
        self._number: dict[int, int] = {}       # of objects and bundles that were met, by id
        self._array_number: dict[int, int] = {}
        self._found: list[_Found] = []

    def run(self, root: object) -> Captured:
        try:
            tree = self._value(root)
        except _Unheld as unheld:
            path = ".".join((type(root).__name__.lower(), *reversed(unheld.path)))
            raise SnapshotError(
                f"{path} is a {unheld.kind.__name__}, which a snapshot cannot hold: keep state in numbers, texts, "
                f"arrays, lists and dicts, or name the attribute in `uncaptured`"
            ) from None
        return Captured(tree, *self._store())

    def _value(self, value: Any, lengths: Mapping[str, int] | None = None) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is np.ndarray:
            return _ARRAY, self._array(value)
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
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._bundle(value, lengths)
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
        number = self._number[id(thing)] = len(self._number)
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

    def _bundle(self, bundle: Any, lengths: Mapping[str, int] | None) -> Any:
        kind: Any = type(bundle)
        lengths = bundle.lengths_in_use() if hasattr(kind, "lengths_in_use") else lengths
        if kind is Pool:
            size = bundle.items.size
            items = items_of(bundle, size if lengths is None else lengths.get("items", size))
            self._found.append(_Found(items, (size,), 0))
            node: tuple[Any, ...] = (_POOL, len(self._number), len(self._found) - 1)
        else:
            values = []
            for value, (axis, _) in zip(bundle, first_axes(kind), strict=True):
                if lengths is not None and axis is not None and axis in lengths:
                    values.append((_ARRAY, self._array(value, lengths[axis])))
                else:
                    values.append(self._value(value, lengths))
            node = (_BUNDLE, len(self._number), _name_of(kind), tuple(values))
        self._number[id(bundle)] = len(self._number)
        return node

    def _array(self, array: NDArray[Any], in_use: int | None = None) -> int:
        number = self._array_number.get(id(array))
        if number is None:
            if array.ndim == 0:
                raise _Unheld(array)
            number = self._array_number[id(array)] = len(self._found)
            rows = array if in_use is None else array[:in_use]
            rows = rows if rows.flags.c_contiguous else rows.copy()
            size = rows.nbytes
            self._found.append(_Found(rows, array.shape, size - size % _LINE_BYTES if size >= _PACKED_FROM else 0))
        return number

    def _store(self) -> tuple[list[Stored], Block]:
        """Put all arrays into one block: what is packed, then short arrays, then long ones."""
        found = self._found
        packed, at = _workspace(sum(packed_size(one.packed_bytes // 8) for one in found if one.packed_bytes)), 0
        lines: list[tuple[int, int, int]] = []      # by array: as in Stored
        rests: list[NDArray[Any]] = []
        for rows, _, packed_bytes in found:
            if packed_bytes:
                flat = rows.reshape(-1).view(np.uint8)
                words = flat[:packed_bytes].view(np.uint64)
                end = int(pack(words, words[-1], packed, at))
                lines.append((at, end - at, int(words[-1].view(np.int64))))
                rests.append(flat[packed_bytes:])
                at = end
            else:
                lines.append((at, 0, 0))
                rests.append(rows)
        small: list[Any] = []
        begins, large, size = [0] * len(found), [], 8 * at
        for k, rest in enumerate(rests):
            if rest.nbytes >= _PACKED_FROM:
                large.append(k)
            elif rest.nbytes:
                begins[k] = size
                small += (rest, _PADDING[rest.nbytes % 8])
                size += -(-rest.nbytes // 8) * 8
        block = np.empty(size // 8 + sum(-(-rests[k].nbytes // 8) for k in large), np.uint64)
        block[:at] = packed[:at]
        block[at : size // 8] = np.frombuffer(b"".join(small), np.uint64)
        for k in large:
            begins[k], rest = size, rests[k]
            size += -(-rest.nbytes // 8) * 8
            block[size // 8 - 1] = 0
            np.copyto(np.ndarray(rest.shape, rest.dtype, block, begins[k]), rest)
        return [
            Stored(_code_of(one.rows.dtype), one.shape, len(one.rows), *where, begin)
            for one, where, begin in zip(found, lines, begins, strict=True)
        ], block


def _workspace(words: int) -> Block:
    """Space to pack so many words: each thread has its own, which is used again and again."""
    if words > _spare.words.size:
        _spare.words = np.empty(words, np.uint64)
    return _spare.words


# --- and back -------------------------------------------------------------------------------------------------------


class _Recall:
    """One way back."""

    def __init__(self, captured: Captured, trusted: tuple[str, ...]) -> None:
        self._captured = captured
        self._trusted = trusted
        self._steps: list[Step] = []
        self._things: dict[int, Any] = {}           # objects and bundles, by number
        self._arrays: dict[int, NDArray[Any]] = {}
        self._taken: set[int] = set()               # ids of the arrays that are written over

    def run(self, root: object) -> list[Step]:
        if self._value(self._captured.tree, root) is not root:
            raise SnapshotError(f"the snapshot is not that of a {type(root).__name__}")
        return self._steps

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
        for field, one, (axis, fill) in zip(nodes, before, first_axes(kind), strict=True):
            if axis is None:
                values.append(self._value(field, one, lengths))
            else:
                values.append(self._array(field[1], one, in_use=lengths.get(axis) if lengths else None, fill=fill))
        is_same = there is not None and all(a is b for a, b in zip(values, there, strict=True))
        bundle = self._things[number] = there if is_same else tuple.__new__(kind, values)
        return bundle

    def _pool(self, node: Any, there: Any, lengths: Mapping[str, int] | None) -> Pool:
        """A pool of which all items are in one array."""
        _, number, array = node
        before = there if isinstance(there, Pool) else None
        in_use = lengths.get("items") if lengths else None
        items = self._array(array, None if before is None else before.items, in_use=in_use)
        pool = before if before is not None and before.older.size == 0 else make_pool(0)
        pool = self._things[number] = pool if items is pool.items else pool._replace(items=items)
        return pool

    def _array(self, number: int, there: Any, *, in_use: int | None = None, fill: int = 0) -> NDArray[Any]:
        """An array, written over the one that is there if that has the same shape; so many rows of it are in use."""
        if number in self._arrays:
            return self._arrays[number]
        stored = self._captured.arrays[number]
        dtype, shape = _dtype_of(stored.dtype), tuple(stored.shape)
        is_fit = isinstance(there, np.ndarray) and there.shape == shape and there.dtype == dtype
        target: NDArray[Any]
        if is_fit and there.flags.c_contiguous and there.flags.writeable and id(there) not in self._taken:
            target = there
            last = len(there) if in_use is None else in_use
        else:
            target = zeros(shape, dtype)
            last = len(target) if fill else 0
        self._arrays[number] = target
        self._taken.add(id(target))
        part = target if stored.rows == shape[0] else target[: stored.rows]
        if stored.rows < last:
            self._steps.append((_fill, (target[stored.rows : last], fill)))
        if stored.words:
            size = part.nbytes - part.nbytes % _LINE_BYTES
            flat = part.reshape(-1).view(np.uint8)
            empty = np.int64(stored.empty).view(np.uint64)
            self._steps.append((unpack, (self._captured.block, stored.begin, empty, flat[:size].view(np.uint64))))
            part = flat[size:]
        if part.nbytes:
            source = np.ndarray(part.shape, part.dtype, self._captured.block, stored.rest)
            self._steps.append((np.copyto, (part, source)))
        return target

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


@functools.cache
def _code_of(dtype: np.dtype[Any]) -> str:
    """The name of a kind of number, or of a record of int64."""
    if dtype.names is not None:
        return " ".join(("record", *dtype.names))
    if dtype.kind not in "biuf":
        raise SnapshotError(f"an array of {dtype} is none that a snapshot can hold")
    return dtype.str


@functools.cache
def _dtype_of(code: str) -> np.dtype[Any]:
    """What `_code_of` named."""
    name, *fields = code.split(" ")
    if name == "record":
        return np.dtype((np.record, [(field, np.int64) for field in fields]))
    dtype: np.dtype[Any] = np.dtype(name)
    if dtype.kind not in "biuf":
        raise ValueError(f"{code!r} names no kind of number")
    return dtype
