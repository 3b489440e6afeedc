# mypy: disallow-untyped-calls=False
"""Capture: the state of an object and of all that it holds, as numbers and one block of bytes.

`capture` walks from an object through its attributes, and writes down what it finds as a tree of plain values; most of
the walk is remembered from the capture before (outline.py). The arrays go into one block: those of a pool, or of any
bundle that says so in `lengths_in_use`, only as far as they are used, and long ones packed (storing.py). Of arrays with
marks, only what was written since the last capture is copied, if there is a keeper (keeping.py); the marks themselves
are not captured. recalling.py leads back.

No code comes out of a capture: a class is known by its name, and must be one that is loaded already, from the modules
that the caller trusts. Functions, and the attributes that a class names in `uncaptured`, are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wend.errors import SnapshotError
from wend.kernel.arrays import zeros
from wend.kernel.keeping import Keeper, Kept
from wend.kernel.outline import (
    AGAIN,
    ARRAY,
    BYTES,
    DICT,
    FEW,
    INNER,
    PLAIN,
    TAG_OF,
    Findings,
    Outline,
    Part,
    Sized,
    Sparse,
    Unheld,
    is_bundle,
    is_object,
    left_out,
    name_of,
)
from wend.kernel.packing import pick_rows, words_of
from wend.kernel.storing import Block, Layout, Source, Stored, check_stored, dtype_of, store


class Captured(NamedTuple):
    """The state of an object."""

    tree: Any                               # outline; plain values and the rest, by object; and arrays by rows
    arrays: Sequence[Stored | Kept]
    block: Block
    sign: object = None                     # of the outline

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take, what they share with other captures included."""
        return self.block.nbytes + sum(stored.nbytes for stored in self.arrays if isinstance(stored, Kept))


def capture(root: object, keeper: Keeper | None = None) -> Captured:
    """The state of an object, and of all that it holds. With its keeper it shares arrays with captures before it."""
    outline = Outline(root, set(), is_sharing=False) if keeper is None else keeper.outlines.of(root)
    walk = _Later(outline)
    plain = [part.plain_values() for part in outline.parts]
    later = [walk.attributes(part) if part.later else {} for part in outline.parts]
    rows = [walk.rows(sparse, is_told=keeper is not None) for sparse in walk.sparse]
    tree = (outline.tree, plain, later, rows)
    stored, block = store(walk.layouts)
    if keeper is None:
        return Captured(tree, stored, block)
    kept = keeper.keep(walk.marked.values())
    shared = dict(zip(walk.marked, kept, strict=True))
    return Captured(tree, [shared.get(k, one) for k, one in enumerate(stored)], block, outline.sign)


def in_one_block(captured: Captured) -> Captured:
    """The same with all arrays in its block."""
    source = Source(captured.block)
    layouts: list[Layout] = []
    for stored in captured.arrays:
        if isinstance(stored, Kept):
            layouts.append(Layout(stored.content(), stored.rows, shape=stored.shape))
        else:
            rows = zeros((stored.rows, *stored.shape[1:]), dtype_of(stored.dtype))
            layouts.append(Layout(rows, stored.rows, shape=stored.shape, is_packed=stored.words > 0))
            source.write(layouts[-1:], [stored])
    for step, given in source.steps:
        step(*given)
    return Captured(captured.tree, *store(layouts))


def check(captured: Captured) -> None:
    """Raise a ValueError if an array does not lie in the block: kernels do not look where they read."""
    for stored in captured.arrays:
        if isinstance(stored, Stored):
            check_stored(stored, captured.block)


class _Later(Findings):
    """The walk through all that is not in an outline."""

    def attributes(self, part: Part) -> dict[str, Any]:
        """What stands for some attributes of an object."""
        now = vars(part.thing)
        return {name: self._held(part.path, name, now[name]) for name in part.later}

    def _held(self, path: str, name: str, value: Any) -> Any:
        try:
            return self._value(value)
        except Unheld as unheld:
            where = ".".join((path, name, *reversed(unheld.path)))
            raise SnapshotError(
                f"{where} is a {unheld.kind.__name__}, which a snapshot cannot hold: keep state in numbers, texts, "
                f"arrays, lists and dicts, or name the attribute in `uncaptured`"
            ) from None

    def field(self, value: Any, sized: Sized | None, lengths: Any) -> Any:
        """What stands for a value in a bundle: here it may be anything."""
        return self.bundle(value, sized, lengths) if is_bundle(value) else self._value(value)

    def _value(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is np.ndarray:
            return ARRAY, self.array(value)
        if kind in TAG_OF:
            return self._series(value)
        if kind is dict:
            return DICT, self._series(list(value)), self._series(list(value.values()))
        if kind is float:
            return super().field(value, None, None)
        if kind is bytes:
            return BYTES, value.hex()
        if is_bundle(value):
            return self.bundle(value)
        if callable(value) or not is_object(value):
            raise Unheld(value)
        number = self.number.get(id(value))
        return self._object(value) if number is None else (AGAIN, number)

    def _series(self, values: Any) -> Any:
        tag = TAG_OF[type(values)]
        if PLAIN.issuperset(map(type, values)):
            return tag.upper(), tuple(values)
        few = {id(value): value for value in values}
        if type(values) is list and 4 * len(few) <= len(values):        # the order of a group, for each of its agents
            place = {key: k for k, key in enumerate(few)}
            return FEW, self._series(list(few.values())), tuple(place[id(value)] for value in values)
        return tag, tuple(self._value(value) for value in values)

    def _object(self, thing: Any) -> Any:
        kind: Any = type(thing)
        number, held = self.meet(thing), {}
        for name, value in vars(thing).items():
            if name in left_out(kind) or callable(value):
                continue
            try:
                held[name] = self._value(value)
            except Unheld as unheld:
                unheld.path.append(name)
                raise
        return INNER, number, name_of(kind), held

    def rows(self, sparse: Sparse, *, is_told: bool) -> tuple[int, int]:
        """The numbers of two arrays: which rows of another hold something, and these rows.

        Without being told which rows these may be, it looks at all of them.
        """
        array, flags = sparse
        words = words_of(array)
        numbers = np.flatnonzero(flags if is_told else words.any(axis=1)).astype(np.int32)
        content = np.empty((numbers.size, *array.shape[1:]), array.dtype)
        count = int(pick_rows(words, flags, numbers, words_of(content)))
        return self._unpacked(numbers[:count]), self._unpacked(content[:count])

    def _unpacked(self, array: Any) -> int:
        """The number of a new array, which is stored as it is."""
        self.layouts.append(Layout(array, len(array), is_packed=False))
        return len(self.layouts) - 1
